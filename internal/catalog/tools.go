package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/fault"
	"unitask/internal/jsonread"
)

// The parameters by which a caller offers tools, of its own and of the supplier's, and asks for thoughts.
const (
	Tools         = "tools"
	ToolChoice    = "tool_choice"
	ParallelCalls = "parallel_tool_calls"
	Reasoning     = "reasoning"
	WebSearch     = "web_search"
)

// OutputCalls is the member of an output, and of a message, that holds tool calls.
const OutputCalls = "tool_calls"

// The values of ToolChoice that are no tool's name.
const (
	ToolsAuto     = "auto"
	ToolsNone     = "none"
	ToolsRequired = "required"
)

// toolsAnnotation is the member of a parameter's schema which says that its value is a list of tools, whose names
// differ and whose parameters are JSON Schemas of objects that refer to no other schema.
const toolsAnnotation = "x-tools"

// Tool is a function that a caller offers to a model.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema; nil for no arguments
	Strict      bool            `json:"strict"`     // no call of it that doesn't fit is an answer; Parameters is a strict schema
}

// noArguments is the schema of a tool that has none.
const noArguments = `{"additionalProperties":false,"properties":{},"type":"object"}`

// Schema returns the JSON Schema of the tool's arguments.
func (t Tool) Schema() json.RawMessage {
	if len(t.Parameters) == 0 {
		return json.RawMessage(noArguments)
	}
	return t.Parameters
}

// ToolsOf returns the tools that validated parameters offer; nil for none.
func ToolsOf(parameters json.RawMessage) []Tool {
	var tools []Tool
	in := jsonread.New(parameters)
	for m := in.Among(Tools); m.Next(); {
		if err := jsonv2.Unmarshal(in.Value(), &tools); err != nil {
			return nil
		}
	}
	return tools
}

// Arguments reads a model's call of one of the tools. It returns the arguments as JSON: the object that the text is,
// without white space between its parts. A text that is no object, or one that callers can't read (a member twice, a
// number that is too large), is returned as a string. fits is false if there is no such tool, or the object isn't one of
// its arguments.
func Arguments(tools []Tool, name, text string) (arguments json.RawMessage, fits bool) {
	value := jsontext.Value(text)
	if strings.TrimSpace(text) == "" {
		value = jsontext.Value("{}") // some models call a tool without arguments so
	}
	value = append(jsontext.Value(nil), value...)
	var object map[string]any
	if jsonv2.Unmarshal(value, &object) != nil || object == nil || value.Compact() != nil {
		quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
		if err != nil {
			quoted = []byte(`""`) // a valid text can always be quoted
		}
		return json.RawMessage(quoted), false
	}
	for _, t := range tools {
		if t.Name != name {
			continue
		}
		schema, err := compileSchema("tool", t.Schema())
		if err != nil {
			return json.RawMessage(value), false
		}
		rows, err := schema.generalViolations("arguments", json.RawMessage(value))
		return json.RawMessage(value), err == nil && len(rows) == 0
	}
	return json.RawMessage(value), false
}

// toolRows returns what is wrong with a list of tools and the choice among them, in parameters that are valid
// otherwise.
func toolRows(name string, parameters json.RawMessage) (rows []fault.Detail) {
	row := func(problem string, at ...string) {
		rows = append(rows, fault.Detail{Field: fieldPath(append([]string{GroupParameters}, at...)...), Message: problem})
	}
	var tools []Tool
	choice := ""
	in := jsonread.New(parameters)
	for m := in.Among(name, ToolChoice); m.Next(); {
		value := in.Value()
		if m.Name == ToolChoice {
			_ = json.Unmarshal(value, &choice) // its schema says that it is a string
		} else if jsonv2.Unmarshal(value, &tools) != nil {
			row("must be a list of tools", name)
		}
	}
	names := map[string]bool{ToolsAuto: true, ToolsNone: true, ToolsRequired: true}
	for i, t := range tools {
		at := []string{name, strconv.Itoa(i)}
		switch {
		case names[t.Name] && i > 0 && !isChoice(t.Name):
			row("is the name of another tool", append(at, "name")...)
		case isChoice(t.Name):
			row("can't be "+t.Name+", which tool_choice has another meaning for", append(at, "name")...)
		}
		names[t.Name] = true
		at = append(at, GroupParameters)
		switch {
		case len(t.Parameters) == 0:
		case t.Strict:
			rows = append(rows, rowsOfSchema(at, t.Parameters, "a strict tool's arguments are an object", (*strictness).check)...)
		default:
			rows = append(rows, rowsOfSchema(at, t.Parameters, "arguments are an object", (*strictness).loose)...)
		}
	}
	if choice != "" && !names[choice] {
		row("must be auto, none, required or the name of a tool", ToolChoice)
	}
	return rows
}

// IsStrict reports whether there is a strict tool of the name.
func IsStrict(tools []Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t Tool) bool { return t.Strict && t.Name == name })
}

func isChoice(name string) bool {
	return name == ToolsAuto || name == ToolsNone || name == ToolsRequired
}

// maxLooseDepth bounds the nesting of values in a schema that needn't be strict: two for each schema.
const maxLooseDepth = 2 * maxSchemaDepth

// loose looks for references to other documents at any depth, in a schema whose keywords aren't bounded.
func (s *strictness) loose(v any, at []string, depth int) {
	if depth > maxLooseDepth {
		s.row(at, fmt.Sprintf("is nested more than %d deep", maxLooseDepth))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, within := v[name], append(slices.Clip(at), name)
			if ref, isText := inner.(string); isText && isReference(name) {
				s.looseReference(ref, within)
			}
			s.loose(inner, within, depth+1)
		}
	case []any:
		for i, inner := range v {
			s.loose(inner, append(slices.Clip(at), strconv.Itoa(i)), depth+1)
		}
	}
}

func (s *strictness) looseReference(ref string, at []string) {
	name, defined := strings.CutPrefix(ref, definitionPrefix)
	definitions, _ := s.root["$defs"].(map[string]any)
	switch {
	case !strings.HasPrefix(ref, "#"):
		s.row(at, "must be a place in this schema, which begins with #: no other schema is fetched")
	case defined && !strings.Contains(name, "/") && definitions[name] == nil:
		s.row(at, "has no such definition")
	}
}

func isReference(keyword string) bool { return keyword == "$ref" || keyword == "$dynamicRef" }
