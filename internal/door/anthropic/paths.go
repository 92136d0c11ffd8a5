package anthropic

import (
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/fault"
)

// paths says of which members of the request a task's are.
type paths struct {
	messages          []origin
	tools             []string
	schema, reasoning string
}

// origin is where a message of a task comes from.
type origin struct {
	at, content  string
	parts, calls []string
	state        string
	result       bool // at is a block with the result of a call
}

// Explain returns an error of the gateway's about the call in terms of the caller's request.
func (c *Call) Explain(err error) *fault.Error {
	e := fault.From(err)
	if len(e.Details) == 0 {
		return e
	}
	if e.Code == fault.InvalidRequest && e.Details[0].Field == "capability" {
		return UnknownModel(c.Model)
	}
	rows := make([]fault.Detail, len(e.Details))
	for i, d := range e.Details {
		rows[i] = fault.Detail{Field: c.paths.of(d.Field), Message: d.Message}
	}
	translated := *e
	translated.Details = rows
	if e.Code == fault.InvalidRequest && e.Message == e.Details[0].Field+" "+e.Details[0].Message {
		translated.Message = inbound.Invalid(rows).Message
	}
	return &translated
}

// of returns the path of a field of a task's creation, such as input.messages.0.content, in the caller's request.
func (p *paths) of(field string) string {
	words := strings.Split(field, ".")
	if len(words) < 2 {
		return field
	}
	group, name, rest := words[0], words[1], words[2:]
	switch {
	case group == catalog.GroupInput && name == "messages":
		return p.message(rest)
	case group == catalog.GroupParameters:
		return p.parameter(name, rest)
	case group == catalog.GroupInput:
		return strings.Join(words[1:], ".")
	}
	return field
}

// at returns the element of a list that a path's first word is the index of; false if there is none.
func at[E any](list []E, path []string) (one E, rest []string, ok bool) {
	if len(path) == 0 {
		return one, nil, false
	}
	i, err := strconv.Atoi(path[0])
	if err != nil || i < 0 || i >= len(list) {
		return one, nil, false
	}
	return list[i], path[1:], true
}

func (p *paths) message(path []string) string {
	from, rest, ok := at(p.messages, path)
	if !ok {
		return "messages"
	}
	if len(rest) == 0 {
		return from.at
	}
	switch rest[0] {
	case "content":
		part, below, ok := at(from.parts, rest[1:])
		if !ok {
			return from.content
		}
		if len(below) > 0 && below[0] != "text" && below[0] != "type" {
			return inbound.Under(part, "source")
		}
		return strings.Join(append([]string{part}, below...), ".")
	case catalog.OutputCalls:
		call, below, ok := at(from.calls, rest[1:])
		if !ok {
			return from.content
		}
		if len(below) > 0 && below[0] == "arguments" {
			below[0] = "input"
		}
		return strings.Join(append([]string{call}, below...), ".")
	case "tool_call_id":
		return inbound.Under(from.at, "tool_use_id")
	case "state":
		return from.state
	case "role":
		if from.result {
			return from.at
		}
	}
	return strings.Join(append([]string{from.at}, rest...), ".")
}

func (p *paths) parameter(name string, rest []string) string {
	switch name {
	case "max_output_tokens":
		name = "max_tokens"
	case "stop":
		name = "stop_sequences"
	case "output_schema":
		name = p.schema
	case catalog.Reasoning:
		name = p.reasoning
	case catalog.ToolChoice:
		name = "tool_choice.name"
	case catalog.ParallelCalls:
		name = "tool_choice.disable_parallel_tool_use"
	case "web_search":
		name = "tools"
	case catalog.Tools:
		tool, below, ok := at(p.tools, rest)
		if !ok {
			break
		}
		if name, rest = tool, below; len(rest) > 0 && rest[0] == "parameters" {
			rest[0] = "input_schema"
		}
	}
	return strings.Join(append([]string{name}, rest...), ".")
}
