package upstream

import (
	"encoding/json"
	"slices"

	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/supplier"
)

// Honours lists the members that a format has a counterpart for, by capability.
type Honours map[catalog.Name]Honoured

// Honoured are the members of a request's input and parameters that have a counterpart.
type Honoured struct{ Input, Parameters []string }

// Refuses names the first thing in r that has no counterpart; "" if all of it has one.
func (h Honours) Refuses(r supplier.Request) string {
	known, ok := h[catalog.Name(r.Capability)]
	if !ok {
		return "the capability is none of this kind's"
	}
	defer bulk.Turn(len(r.Input))()
	if name := unknown(r.Input, known.Input, r.Base64); name != "" {
		return "input " + name + " has no counterpart in this format"
	}
	if name := unknown(r.Parameters, known.Parameters, nil); name != "" {
		return "parameter " + name + " has no counterpart in this format"
	}
	return ""
}

// Members returns the members of an object; no member of other capabilities.
func Members(object json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if Decode(object, &m) != nil {
		return nil
	}
	return m
}

// unknown returns the first member of a canonical object that known lacks. Values are skipped in place: a prompt may
// be long, and every route asks.
func unknown(object json.RawMessage, known []string, base64 [][]byte) string {
	in := jsonread.Sound(object).Passing(base64)
	for in.Open('{'); in.More('}'); in.Skip() {
		if name := in.Name(); !slices.Contains(known, string(name)) {
			return string(name)
		}
	}
	return ""
}
