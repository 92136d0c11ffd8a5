package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/jsonread"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// refuses says why no server of this format can honour a request, for the router and the operator.
func refuses(r supplier.Request) string {
	if why := honours.Refuses(r); why != "" {
		return why
	}
	return modelRefuses(r.Model, r.Parameters)
}

// honours lists the members that have a counterpart.
var honours = upstream.Honours{
	catalog.TextChat: {
		Input:      []string{"prompt", "messages", "system"},
		Parameters: chatMembers,
	},
	catalog.TextEmbed:     {Input: []string{"texts"}, Parameters: []string{"dimensions"}},
	catalog.TextModerate:  {Input: []string{"texts"}},
	catalog.ImageGenerate: {Input: []string{"prompt"}, Parameters: append(imageMembers, "background")},
	catalog.ImageEdit: {
		Input: []string{"prompt", "images", "mask", "authorization"}, Parameters: append(imageMembers, "input_fidelity"),
	},
	catalog.AudioSpeech: {Input: []string{"text", "instructions"}, Parameters: []string{"voice", "format", "speed"}},
	catalog.AudioTranscribe: {
		Input:      []string{"audio", "hints"},
		Parameters: []string{"language", "translate_to", "speakers", "timestamps", "format"},
	},
}

var imageMembers = slices.Clip([]string{"n", "aspect_ratio", "size", "format", "quality", "seed"})

// modelRefuses knows the models that would refuse or ignore a parameter of the format.
func modelRefuses(model string, given json.RawMessage) string {
	oneLength := family(model) == "text-embedding-ada-002"
	if why := effortRefused(model, given); why != "" || !oneLength && !fixedSampling(model) {
		return why
	}
	parameters := upstream.Members(given)
	if _, ok := parameters["dimensions"]; ok && oneLength {
		return "the model has vectors of one length only"
	}
	for _, name := range []string{"temperature", "top_p"} {
		if v, ok := parameters[name]; ok && !upstream.IsNumber(v, 1) {
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

// effortRefused knows the models that don't reason, and those that always do.
func effortRefused(model string, parameters json.RawMessage) string {
	in := jsonread.New(parameters)
	for m := in.Among(catalog.Reasoning); m.Next(); {
		switch none := string(in.Value()) == `"none"`; {
		case none && fixedSampling(model):
			return "the model always reasons"
		case !none && thoughtless(model):
			return "the model doesn't reason"
		}
	}
	return ""
}

// thoughtless reports whether model is one of the format's author's that don't reason.
func thoughtless(model string) bool {
	name := family(model)
	for _, f := range []string{"gpt-3.5", "gpt-4", "chatgpt-4", "gpt-5-chat"} {
		if strings.HasPrefix(name, f) {
			return true
		}
	}
	return false
}

// reasons reports whether model is one of the format's author's that reason unless they are asked not to.
func reasons(model string) bool { return ownModel(model) && !thoughtless(model) }

// ownModel reports whether model is one of the format's author's.
func ownModel(model string) bool {
	return thoughtless(model) || strings.HasPrefix(family(model), "gpt-5") || fixedSampling(model)
}

// family strips the maker's name, with which aggregators begin a model's.
func family(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }
