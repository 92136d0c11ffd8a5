package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"unitask/internal/supplier/upstream"
)

// thinkingConfig says how much a model thinks. Its zero value leaves that to the model.
type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitzero"`
	ThinkingBudget  *int   `json:"thinkingBudget,omitzero"`
	ThinkingLevel   string `json:"thinkingLevel,omitzero"`
}

const noThoughts = "none"

// budgets are the tokens of a level, which Google's page on the compatibility with OpenAI states.
var budgets = map[string]int{"low": 1024, "medium": 8192, "high": 24576}

// newThinking returns what a request for so much thinking says to a model, nil for nothing, or why the model can't do
// that. most is the request's bound of all tokens of the output, "" without one: thoughts are among them, so that a
// budget is half of it at most, if the model can think with so little.
func newThinking(model, effort string, most json.RawMessage) (config *thinkingConfig, why string) {
	t := traitsOf(model)
	level := strings.ToUpper(effort)
	switch {
	case effort == "":
		return nil, ""
	case effort == noThoughts && !t.silent:
		return nil, "the model always thinks"
	case effort == noThoughts && t.most > 0:
		return &thinkingConfig{ThinkingBudget: new(0)}, ""
	case effort == noThoughts && len(t.levels) > 0:
		return &thinkingConfig{ThinkingLevel: levelMinimal}, ""
	case effort == noThoughts:
		return nil, ""
	case t.most > 0:
		return newBudget(t, budgets[effort], most)
	case len(t.levels) == 0:
		return nil, "the model doesn't think"
	case !slices.Contains(t.levels, level):
		return nil, "the model has no such level of thought; its levels: " + strings.ToLower(strings.Join(t.levels, ", "))
	}
	return &thinkingConfig{IncludeThoughts: true, ThinkingLevel: level}, ""
}

func newBudget(t traits, budget int, most json.RawMessage) (*thinkingConfig, string) {
	budget = min(budget, t.most)
	if len(most) > 0 {
		whole := int(upstream.Count(most))
		if whole <= t.least {
			return nil, fmt.Sprintf("the model thinks with at least %d of max_output_tokens", t.least)
		}
		budget = max(min(budget, whole/2), t.least)
	}
	return &thinkingConfig{IncludeThoughts: true, ThinkingBudget: &budget}, ""
}
