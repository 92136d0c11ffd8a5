package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier/upstream"
)

// The search of the format's author. Its newer versions run code on what they find, which not all models and servers do.
const (
	searchType  = "web_search_20250305"
	searchName  = "web_search"
	maxSearches = 5
)

// tool is a tool that the caller offers, or the format's own search.
type tool struct {
	Type        string          `json:"type,omitzero"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	InputSchema json.RawMessage `json:"input_schema,omitzero"`
	MaxUses     int             `json:"max_uses,omitzero"`
}

type toolChoice struct {
	Type  string `json:"type"`
	Name  string `json:"name,omitzero"`
	Alone bool   `json:"disable_parallel_tool_use,omitzero"`
}

// The types of a toolChoice.
const (
	choiceAuto = "auto"
	choiceAny  = "any"
	choiceNone = "none"
	choiceTool = "tool"
)

// offer adds the tools. The format wants the tools of past calls named, so a conversation that has some goes with
// these, if it offers none, and the model is told not to call them.
func (c *chatRequest) offer(p upstream.ChatParameters, talk []upstream.ChatMessage) {
	for _, t := range p.Tools {
		c.Tools = append(c.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema()})
	}
	if c.searches = p.WebSearch; p.WebSearch {
		c.Tools = append(c.Tools, tool{Type: searchType, Name: searchName, MaxUses: maxSearches})
	}
	if len(p.Tools) > 0 {
		c.ToolChoice = choose(p)
		return
	}
	if c.Tools != nil {
		return
	}
	for _, m := range talk {
		for _, call := range m.ToolCalls {
			if !slices.ContainsFunc(c.Tools, func(t tool) bool { return t.Name == call.Name }) {
				c.Tools = append(c.Tools, tool{Name: call.Name, InputSchema: catalog.Tool{}.Schema()})
				c.ToolChoice = &toolChoice{Type: choiceNone}
			}
		}
	}
}

// choose returns the choice among tools; nil for the format's default.
func choose(p upstream.ChatParameters) *toolChoice {
	alone := p.ParallelToolCalls != nil && !*p.ParallelToolCalls
	switch p.ToolChoice {
	case catalog.ToolsNone:
		return &toolChoice{Type: choiceNone} // has no calls that could be parallel
	case catalog.ToolsRequired:
		return &toolChoice{Type: choiceAny, Alone: alone}
	case "", catalog.ToolsAuto:
		if p.ToolChoice == "" && !alone {
			return nil
		}
		return &toolChoice{Type: choiceAuto, Alone: alone}
	default:
		return &toolChoice{Type: choiceTool, Name: p.ToolChoice, Alone: alone}
	}
}

// result returns the result of a call. A blank one has no content: the format takes no blank text.
func (c *chatRequest) result(m upstream.ChatMessage) sentBlock {
	b := sentBlock{Type: blockResult, ToolUseID: m.ToolCallID}
	var parts []sentBlock
	for _, p := range m.Content.Parts {
		c.said += len(p.Text)
		parts = append(parts, sentBlock{Type: blockText, Text: p.Text})
	}
	switch text := m.Content.Text; {
	case parts != nil:
		b.Content = parts
	case strings.TrimSpace(text) != "":
		c.said += len(text)
		b.Content = text
	}
	return b
}

// turn returns the blocks of an assistant's message with calls. What the model needs to see again stands where it
// stood: before the text and the calls, or at its place among them.
func (c *chatRequest) turn(m upstream.ChatMessage, kept []place) (blocks []any) {
	said := []string{m.Content.Text}
	for _, p := range m.Content.Parts {
		said = append(said, p.Text)
	}
	if slices.ContainsFunc(kept, func(p place) bool { return p.Type == blockText }) {
		said = cut(strings.Join(said, ""), kept)
	}
	calls := m.ToolCalls
	say := func() {
		if text := said[0]; strings.TrimSpace(text) != "" {
			c.said += len(text)
			blocks = append(blocks, sentBlock{Type: blockText, Text: text})
		}
		said = said[1:]
	}
	call := func() {
		one := calls[0]
		input := one.Object()
		c.said += len(one.Name) + len(input)
		blocks = append(blocks, sentBlock{Type: blockCall, ID: one.ID, Name: one.Name, Input: input})
		calls = calls[1:]
	}
	for _, p := range kept {
		switch {
		case p.Type == blockText && len(said) > 0:
			say()
		case p.Type == blockCall && len(calls) > 0:
			call()
		case isKept(p.Type):
			blocks = append(blocks, p.raw)
		}
	}
	for len(said) > 0 {
		say()
	}
	for len(calls) > 0 {
		call()
	}
	return blocks
}
