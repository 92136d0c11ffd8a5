package sandbox

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// aside is what an answer has beside its text.
type aside struct {
	Calls    []supplier.ToolCall `json:"calls,omitempty"`
	Thoughts string              `json:"thoughts,omitempty"`
	Pages    []supplier.Citation `json:"pages,omitempty"`
}

// besides calls the tools that an ask is about, thinks as much as it was asked to and finds a page.
func besides(params parameters, ask string) aside {
	return aside{Calls: callsFor(params, ask), Thoughts: thoughts(params.Reasoning, ask), Pages: pagesFor(params.WebSearch, ask)}
}

// callsFor returns a call of each tool that the ask has a word of the name of, or of the one that was chosen.
func callsFor(params parameters, ask string) []supplier.ToolCall {
	var meant []catalog.Tool
	for _, t := range params.Tools {
		if t.Name == params.ToolChoice || params.ToolChoice != catalog.ToolsNone && mentions(ask, t.Name) {
			meant = append(meant, t)
		}
	}
	switch {
	case params.ToolChoice == catalog.ToolsRequired && len(meant) == 0 && len(params.Tools) > 0:
		meant = params.Tools[:1]
	case !slices.Contains([]string{"", catalog.ToolsAuto, catalog.ToolsNone, catalog.ToolsRequired}, params.ToolChoice):
		meant = slices.DeleteFunc(meant, func(t catalog.Tool) bool { return t.Name != params.ToolChoice })
	}
	if p := params.ParallelToolCalls; p != nil && !*p && len(meant) > 1 {
		meant = meant[:1]
	}
	var calls []supplier.ToolCall
	for _, t := range meant {
		calls = append(calls, supplier.ToolCall{Name: t.Name, Arguments: argumentsFor(t, ask)})
	}
	return calls
}

// mentions reports whether a text has a word of a tool's name, such as the weather of get_weather.
func mentions(text, name string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), notWord)
	for _, part := range strings.FieldsFunc(strings.ToLower(name), notWord) {
		if !slices.Contains([]string{"get", "set", "the", "of", "and", "to", "a"}, part) && slices.Contains(words, part) {
			return true
		}
	}
	return false
}

// argumentsFor returns arguments that fit a tool, made of the ask.
func argumentsFor(t catalog.Tool, ask string) string {
	if shape, err := catalog.NewShape(t.Schema()); err == nil {
		if sample, _, err := shape.Sample(ask, []string{ask}); err == nil {
			return string(sample)
		}
	}
	return "{}"
}

// thoughts are about an ask, a sentence longer for each step of effort.
func thoughts(effort, ask string) string {
	steps := slices.Index([]string{"low", "medium", "high"}, effort) + 1
	all := []string{
		"They ask something of " + counted(len(strings.Fields(ask)), "word") + ".",
		"It seems to be about " + subject(ask) + ".",
		"The sandbox knows no more, so it says what it has.",
	}
	return strings.Join(all[:steps], " ")
}

// subject names what an ask is about.
func subject(ask string) string { return cmp.Or(strings.Join(topics(ask), ", "), "little") }

// pagesFor returns a page about the ask, as a search of the web finds one.
func pagesFor(search bool, ask string) []supplier.Citation {
	if !search {
		return nil
	}
	about := subject(ask)
	return []supplier.Citation{{URL: "https://example.com/search?" + url.Values{"q": {about}}.Encode(), Title: "Pages about " + about}}
}

// results says what tools have answered since the last question; "" if none has.
func results(talk []upstream.ChatMessage) string {
	names := map[string]string{}
	for _, m := range talk {
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Name
		}
	}
	var said []string
	for _, m := range talk {
		switch m.Role {
		case "tool":
			said = append(said, fmt.Sprintf("%s says: %s", names[m.ToolCallID], strings.TrimSpace(m.Content.Words())))
		case "user":
			said = nil
		}
	}
	return strings.Join(said, "\n")
}
