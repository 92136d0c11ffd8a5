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
	Parameters: upstream.ChatMembers(),
}}

// refuses says why a request can't be honoured, for the router and the operator.
func refuses(r supplier.Request) string {
	if why := honours.Refuses(r); why != "" {
		return why
	}
	if endsWithAssistant(r.Input) {
		return "the conversation ends with the assistant's words, which the format would have the answer go on with"
	}
	if slices.Contains(upstream.PartTypes(r), upstream.PartAudio) {
		return "the format takes no recordings"
	}
	g, p := generationOf(r.Model), upstream.Members(r.Parameters)
	for _, why := range []string{refusesSampling(g, p), refusesReasoning(g, p), refusesTools(g, p, r.Parameters)} {
		if why != "" {
			return why
		}
	}
	if blankStop(p["stop"]) {
		return "the format takes no stop sequence of white space alone"
	}
	return ""
}

func refusesSampling(g generation, p map[string]json.RawMessage) string {
	temperature, topP := unlessDefault(p["temperature"]), unlessDefault(p["top_p"])
	var t float64
	switch {
	case json.Unmarshal(temperature, &t) == nil && t > 1:
		return "the format takes no temperature above 1"
	case temperature != nil && topP != nil:
		return "the models take temperature or top_p, not both"
	case (temperature != nil || topP != nil) && g.fixedSampling():
		return "the model takes no temperature and no top_p"
	}
	return ""
}

// refusesReasoning knows the models that don't reason, those that always do, and what they don't take meanwhile.
func refusesReasoning(g generation, p map[string]json.RawMessage) string {
	reasoning := text(p[catalog.Reasoning])
	if reasoning == "" || reasoning == reasoningNone {
		if reasoning != "" && g.alwaysReasons() {
			return "the model always reasons"
		}
		return ""
	}
	var topP float64
	most := p["max_output_tokens"]
	if most == nil {
		most = json.RawMessage(defaultMaxTokens)
	}
	switch {
	case !g.reasons():
		return "the model doesn't reason"
	case unlessDefault(p["temperature"]) != nil:
		return "the model takes no temperature while it reasons"
	case json.Unmarshal(p["top_p"], &topP) == nil && topP < leastTopP:
		return "the model takes no top_p below 0.95 while it reasons"
	case !g.adaptive() && upstream.Count(most) <= leastThinking:
		return "the model reasons with 1024 tokens at least, and max_output_tokens leaves none beyond them"
	case !g.adaptive() && forces(p[catalog.ToolChoice]):
		return "the model can't be made to call a tool while it reasons"
	}
	return ""
}

// refusesTools knows the choices and the tools that the format or the model doesn't take.
func refusesTools(g generation, p map[string]json.RawMessage, parameters json.RawMessage) string {
	choice := text(p[catalog.ToolChoice])
	search := string(p[catalog.WebSearch]) == "true"
	switch {
	case search && !g.searches():
		return "the model isn't known to search the web"
	case search && (choice == catalog.ToolsNone || choice == catalog.ToolsRequired):
		return "the format's search of the web is one of the tools that tool_choice is about"
	case forces(p[catalog.ToolChoice]) && g.forceless():
		return "the model can't be made to call a tool"
	case p[catalog.Tools] == nil:
		return ""
	}
	for _, t := range catalog.ToolsOf(parameters) {
		if search && t.Name == searchName {
			return "a tool has the name of the format's search of the web"
		}
		schema := upstream.Members(t.Schema())
		for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
			if schema[keyword] != nil {
				return "the format takes no " + keyword + " at the top of a tool's parameters"
			}
		}
	}
	return ""
}

// forces reports whether a choice among tools makes the model call one.
func forces(choice json.RawMessage) bool {
	name := text(choice)
	return name != "" && name != catalog.ToolsAuto && name != catalog.ToolsNone
}

// text returns a parameter that is a text; "" without one.
func text(parameter json.RawMessage) string {
	var s string
	if len(parameter) == 0 || upstream.Decode(parameter, &s) != nil {
		return ""
	}
	return s
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
	return in.Messages[len(in.Messages)-1].Role == roleAssistant
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
