package anthropic

import (
	"encoding/json"
	"net/http"

	"unitask/internal/supplier/upstream"
)

// The values of the parameter reasoning.
const (
	reasoningNone   = "none"
	reasoningLow    = "low"
	reasoningMedium = "medium"
)

// leastThinking is the format's least budget of thoughts, in tokens. It is part of max_tokens, which must be more.
const leastThinking = 1024

// leastTopP is the least top_p that a model takes while it thinks.
const leastTopP = 0.95

// thinking says whether a model thinks, and how much.
type thinking struct {
	Type    string   `json:"type"`
	Budget  int64    `json:"budget_tokens,omitzero"`
	Display string   `json:"display,omitzero"`
	Binding *binding `json:"block_binding,omitempty"`
}

// The types of thinking.
const (
	thinkAdaptive = "adaptive"
	thinkEnabled  = "enabled"
	thinkDisabled = "disabled"
	thinkLeast    = "between_tools"
)

// binding has thoughts dropped that don't follow the same words as at first: a caller may change those between two
// requests. The format's published document doesn't have it; the author's pages do, as the beta below.
type binding struct {
	Mismatch string `json:"prefix_mismatch_behavior"`
}

const (
	betaHeader  = "Anthropic-Beta"
	bindingBeta = "thinking-binding-controls-2026-08-01"
)

// think asks for as much thought as the request does, unless what the model thought before its calls is forgotten: with
// a budget it can't think then. It reports whether the model may think, so that its earlier thoughts are of use.
func (c *chatRequest) think(g generation, reasoning string, forgotten bool) (may bool) {
	switch {
	case reasoning == "":
		return g.thinksUnasked() || !g.known()
	case reasoning == reasoningNone:
		c.Thinking = g.off()
		return false
	case g.adaptive():
		c.Thinking = &thinking{Type: thinkAdaptive, Display: "summarized"} // newer models would tell nothing
		c.output().Effort = reasoning
		return true
	case forgotten:
		return false
	}
	c.Thinking = &thinking{Type: thinkEnabled, Budget: budget(reasoning, c.MaxTokens)}
	return true
}

// off returns how the model is told not to think; nil if it doesn't by itself.
func (g generation) off() *thinking {
	switch {
	case g.family == "sonnet" && g.bindsThoughts():
		return &thinking{Type: thinkLeast} // such a model takes it in the place of disabled
	case g.known() && !g.thinksUnasked():
		return nil
	default:
		return &thinking{Type: thinkDisabled}
	}
}

// budget returns the tokens of thought: a share of all, and the least that the format takes.
func budget(reasoning string, maxTokens json.RawMessage) int64 {
	most := upstream.Count(maxTokens)
	switch reasoning {
	case reasoningLow:
		most /= 5
	case reasoningMedium:
		most /= 2
	default:
		most = most * 4 / 5
	}
	return max(most, leastThinking)
}

// forgotten reports whether the conversation is among calls of tools, and what the model thought before the first of
// them isn't known: another supplier made it, or the caller left its state out.
func forgotten(talk []upstream.ChatMessage, states map[int]json.RawMessage) bool {
	first := -1
	for i := len(talk) - 1; i >= 0; i-- {
		m := talk[i]
		if m.Role == roleAssistant && m.ToolCalls != nil {
			first = i
		} else if m.Role == roleAssistant || first >= 0 && m.Role != roleTool {
			break
		}
	}
	return first >= 0 && !beginsWithThought(states[talk[first].Number])
}

// forgive has the server drop thoughts that don't fit what stands before them, in the place of refusing the request.
func (c *chatRequest) forgive() {
	if c.Thinking == nil {
		c.Thinking = &thinking{Type: thinkAdaptive} // as such models think unasked
	}
	c.Thinking.Binding = &binding{Mismatch: "drop_block"}
}

// formatOf returns the format for a request: with the beta that it is part of, if any.
func (a *adapter) formatOf(c *chatRequest) upstream.Format {
	f := a.format
	if c.Thinking != nil && c.Thinking.Binding != nil {
		f.Header = http.Header{versionHeader: {version}, betaHeader: {bindingBeta}}
	}
	return f
}
