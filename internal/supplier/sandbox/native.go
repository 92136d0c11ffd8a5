package sandbox

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"unitask/internal/supplier"
)

// natives is which of the sandbox's own capabilities stands in for others of its family; for the rest
// text does.
var natives = map[string]string{"image": "image.generate", "video": "video.generate", "audio": "audio.speech"}

// native returns the request as one of a capability that the sandbox has: those that a directory adds get their
// family's result, of the input's text and with default parameters.
func native(r supplier.Request) supplier.Request {
	if _, ok := services[r.Capability]; ok {
		return r
	}
	family, _, _ := strings.Cut(r.Capability, ".")
	text, _ := json.Marshal(anyText(r.Input)) // a string always has a form
	r.Capability = cmp.Or(natives[family], "text.chat")
	r.Input, r.Parameters = json.RawMessage(`{"prompt":`+string(text)+`}`), json.RawMessage(`{}`)
	if r.Capability == "audio.speech" {
		r.Input = json.RawMessage(`{"text":` + string(text) + `}`)
	}
	return r
}

// anyText returns the text of an unknown input: its prompt or text, else its longest text, else all of it.
func anyText(input json.RawMessage) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(input, &members) // validated already
	longest := ""
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var text string
		if json.Unmarshal(members[name], &text) != nil {
			continue
		}
		if (name == "prompt" || name == "text") && text != "" {
			return text
		}
		if len(text) > len(longest) {
			longest = text
		}
	}
	return cmp.Or(longest, string(input))
}
