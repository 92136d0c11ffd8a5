package openai

import (
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/jsonwrite"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// asksObject reports whether a chat has to ask for an object in words too: the format's author makes JSON of any form
// only of messages that name it.
func asksObject(r supplier.Request, p parameters) bool {
	return catalog.IsAnyObject(p.schema) && !namesJSON(r)
}

// namesJSON reports whether the system or a user speaks of JSON.
func namesJSON(r supplier.Request) bool {
	var in upstream.ChatInput
	if upstream.Decode(r.Input, &in) != nil {
		return false
	}
	talk, all := in.Talk()
	for _, m := range talk {
		if m.Role == "user" {
			all += "\n" + m.Content.Words()
		}
	}
	return strings.Contains(strings.ToLower(all), "json")
}

// withObject returns the text of the system that also asks for an object, in JSON.
func withObject(system []byte) []byte {
	w := jsonwrite.New(len(system) + len(upstream.AskObject) + 8)
	w.String(upstream.WithObject(string(system)))
	text, _ := w.Bytes() // it has no number, which alone can fail
	return text
}
