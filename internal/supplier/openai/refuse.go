package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
)

// refuses says why a request can't be honoured, for the router and the operator.
func refuses(r supplier.Request) string {
	input, parameters := members(r.Input), members(r.Parameters)
	var knownInput, knownParameters []string
	switch catalog.Name(r.Capability) {
	case chat:
		knownInput = []string{"prompt", "messages", "system"}
		knownParameters = []string{"max_output_tokens", "temperature", "top_p", "stop", "seed"}
	case embed:
		knownInput, knownParameters = []string{"texts"}, []string{"dimensions"}
	default:
		return "the capability is none of this kind's"
	}
	if name := unknown(input, knownInput); name != "" {
		return "input " + name + " has no counterpart in this format"
	}
	if name := unknown(parameters, knownParameters); name != "" {
		return "parameter " + name + " has no counterpart in this format"
	}
	return modelRefuses(r.Model, parameters)
}

// modelRefuses knows the models that would refuse or ignore a parameter of the format.
func modelRefuses(model string, parameters map[string]json.RawMessage) string {
	if _, ok := parameters["dimensions"]; ok && family(model) == "text-embedding-ada-002" {
		return "the model has vectors of one length only"
	}
	if !fixedSampling(model) {
		return ""
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

// unknown returns the first member, by name, that known lacks.
func unknown(members map[string]json.RawMessage, known []string) string {
	first := ""
	for name := range members {
		if !slices.Contains(known, name) && (first == "" || name < first) {
			first = name
		}
	}
	return first
}
