package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// honours lists the members that have a counterpart, or can do without.
var honours = upstream.Honours{catalog.TextChat: {
	Input:      []string{"prompt", "messages", "system"},
	Parameters: []string{"max_output_tokens", "temperature", "top_p", "stop", "seed", catalog.OutputSchema},
}}

// refuses says why a request can't be honoured, for the router and the operator.
func refuses(r supplier.Request) string {
	if why := honours.Refuses(r); why != "" {
		return why
	}
	if endsWithAssistant(r.Input) {
		return "the conversation ends with the assistant's words, which the format would have the answer go on with"
	}
	if slices.Contains(upstream.PartTypes(r.Input), upstream.PartAudio) {
		return "the format takes no recordings"
	}
	p := upstream.Members(r.Parameters)
	temperature, topP := unlessDefault(p["temperature"]), unlessDefault(p["top_p"])
	var t float64
	switch {
	case json.Unmarshal(temperature, &t) == nil && t > 1:
		return "the format takes no temperature above 1"
	case temperature != nil && topP != nil:
		return "the models take temperature or top_p, not both"
	case temperature != nil && fixedSampling(r.Model), topP != nil && fixedSampling(r.Model):
		return "the model takes no temperature and no top_p"
	case blankStop(p["stop"]):
		return "the format takes no stop sequence of white space alone"
	}
	return ""
}

func endsWithAssistant(input json.RawMessage) bool {
	var in struct {
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	if upstream.Decode(input, &in) != nil || len(in.Messages) == 0 {
		return false
	}
	return in.Messages[len(in.Messages)-1].Role == "assistant"
}

// fixedSampling reports whether model is of a family that samples in one way only.
func fixedSampling(model string) bool {
	for _, family := range []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5"} {
		if model == family || strings.HasPrefix(model, family+"-") {
			return true
		}
	}
	return false
}

func blankStop(stop json.RawMessage) bool {
	var sequences []string
	if upstream.Decode(stop, &sequences) != nil {
		return false
	}
	for _, s := range sequences {
		if strings.TrimSpace(s) == "" {
			return true
		}
	}
	return false
}
