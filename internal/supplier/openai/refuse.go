package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
)

// refuses says why a request can't be honoured, for the router and the operator.
func refuses(r supplier.Request) string {
	known, ok := honours[catalog.Name(r.Capability)]
	if !ok {
		return "the capability is none of this kind's"
	}
	if name := unknown(r.Input, known.input); name != "" {
		return "input " + name + " has no counterpart in this format"
	}
	if name := unknown(r.Parameters, known.parameters); name != "" {
		return "parameter " + name + " has no counterpart in this format"
	}
	return modelRefuses(r.Model, r.Parameters)
}

// honours lists the members that have a counterpart.
var honours = map[catalog.Name]struct{ input, parameters []string }{
	chat: {
		input:      []string{"prompt", "messages", "system"},
		parameters: []string{"max_output_tokens", "temperature", "top_p", "stop", "seed"},
	},
	embed: {input: []string{"texts"}, parameters: []string{"dimensions"}},
}

// modelRefuses knows the models that would refuse or ignore a parameter of the format.
func modelRefuses(model string, given json.RawMessage) string {
	oneLength := family(model) == "text-embedding-ada-002"
	if !oneLength && !fixedSampling(model) {
		return ""
	}
	parameters := members(given)
	if _, ok := parameters["dimensions"]; ok && oneLength {
		return "the model has vectors of one length only"
	}
	for _, name := range []string{"temperature", "top_p"} {
		if v, ok := parameters[name]; ok && !isOne(v) {
			return "the model takes no " + name + " but 1"
		}
	}
	if _, ok := parameters["stop"]; ok {
		return "the model takes no stop sequences"
	}
	return ""
}

// fixedSampling reports whether model is one of the reasoning models that sample in one way only.
func fixedSampling(model string) bool {
	name := family(model)
	if strings.HasPrefix(name, "gpt-5-chat") {
		return false
	}
	for _, f := range []string{"o1", "o3", "o4", "gpt-5"} {
		if name == f || strings.HasPrefix(name, f+"-") {
			return true
		}
	}
	return false
}

// family strips the maker's name, with which aggregators begin a model's.
func family(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

func isOne(v json.RawMessage) bool {
	var f float64
	return json.Unmarshal(v, &f) == nil && f == 1
}

// members returns the members of an object; none of anything else.
func members(object json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if decode(object, &m) != nil {
		return nil
	}
	return m
}

// unknown returns the first member of a canonical object that known lacks. Values are passed over
// where they stand: a prompt may be long, and every route asks.
func unknown(object json.RawMessage, known []string) string {
	d := jsontext.NewDecoder(bytes.NewBuffer(object))
	for first := true; ; first = false {
		name, err := d.ReadToken()
		switch {
		case err != nil || name.Kind() == '}':
			return ""
		case first:
			continue // the brace
		case !slices.Contains(known, name.String()):
			return name.String()
		}
		if d.SkipValue() != nil {
			return ""
		}
	}
}
