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
	return nativeAs(cmp.Or(natives[family], "text.chat"), r)
}

// nativeAs returns the request as one of text.chat or of a capability that makes a file.
func nativeAs(capability string, r supplier.Request) supplier.Request {
	text, _ := json.Marshal(anyText(r.Input)) // a string always has a form
	r.Capability = capability
	r.Input, r.Parameters = json.RawMessage(`{"prompt":`+string(text)+`}`), json.RawMessage(`{}`)
	if r.Capability == "audio.speech" {
		r.Input = json.RawMessage(`{"text":` + string(text) + `}`)
	}
	return r
}

// textsOf returns the strings of a value in canonical form, in its order, without the names of members and the bytes of
// media.
func textsOf(raw json.RawMessage) []string {
	var v any
	_ = json.Unmarshal(raw, &v) // validated already
	return appendTexts(nil, v)
}

func appendTexts(texts []string, v any) []string {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) != "" {
			texts = append(texts, v)
		}
	case []any:
		for _, item := range v {
			texts = appendTexts(texts, item)
		}
	case map[string]any:
		if _, media := v["content_type"]; media {
			return texts
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = appendTexts(texts, v[name])
		}
	}
	return texts
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
