package openai

import (
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
)

const typeFunction = "function"

// tools writes the functions that a model may call, and which of them it must.
func (r *request) tools(w *jsonwrite.Writer) {
	value, offered := r.values["tools"]
	if offered {
		w.Name(catalog.Tools)
		w.Begin('[')
		r.List(value, "tools", func(_ int, tool []byte, at string) { r.tool(w, tool, at) })
		w.End(']')
	}
	choice := r.choice()
	if !offered && (choice == catalog.ToolsNone || choice == catalog.ToolsAuto) {
		return // what a model without tools does anyhow
	}
	if choice != "" {
		w.Name(catalog.ToolChoice)
		w.String(choice)
	}
}

func (r *request) tool(w *jsonwrite.Writer, tool []byte, at string) {
	function := r.function(tool, at, toolMembers, functionMembers)
	w.Begin('{')
	inbound.Copy(w, function, "name", "name")
	inbound.Copy(w, function, "description", "description")
	inbound.CopyParameters(w, function, "parameters")
	r.strict(w, function, inbound.Under(at, typeFunction))
	w.End('}')
}

// strict writes whether a function's calls must fit it, if they must, and reports it.
func (r *request) strict(w *jsonwrite.Writer, function map[string][]byte, at string) bool {
	must := r.Flag(function, at, "strict")
	if must {
		w.Name("strict")
		w.Bool(true)
	}
	return must
}

// function returns the members of the function within a tool, a call or a choice.
func (r *request) function(value []byte, at string, around, within inbound.Rules) map[string][]byte {
	kind, ok := r.Kind(value, at, "type", false)
	if !ok {
		return nil
	}
	if kind != typeFunction {
		r.Row(inbound.Under(at, "type"), "must be "+typeFunction)
		return nil
	}
	given := r.Members(value, at, around)
	function, ok := given[typeFunction]
	if !ok {
		r.Row(inbound.Under(at, typeFunction), "is required")
		return nil
	}
	return r.Members(function, inbound.Under(at, typeFunction), within)
}

// choice returns which tools a model calls, in the service's terms; "" if the request leaves it open.
func (r *request) choice() string {
	const at = "tool_choice"
	value, ok := r.values[at]
	if !ok {
		return ""
	}
	if word, isText := inbound.TextOf(value); isText {
		return r.choiceWord(string(word))
	}
	chosen := r.function(value, at, choiceMembers, chosenMembers)
	if chosen == nil {
		return ""
	}
	return r.chosenName(chosen, inbound.Under(at, typeFunction))
}

// choiceWord returns a choice that isn't a function.
func (r *request) choiceWord(word string) string {
	switch word {
	case catalog.ToolsAuto, catalog.ToolsNone, catalog.ToolsRequired:
		return word
	}
	r.Row("tool_choice", "must be auto, none, required or a function")
	return ""
}

// chosenName returns the name of the function that must be called.
func (r *request) chosenName(chosen map[string][]byte, at string) string {
	name := string(r.Text(chosen, at, "name"))
	switch name {
	case catalog.ToolsAuto, catalog.ToolsNone, catalog.ToolsRequired:
		r.Row(inbound.Under(at, "name"), "is no tool's name here")
	}
	return name
}

// calls writes the tool calls of an assistant's message. Arguments that are an object become one.
func (r *request) calls(w *jsonwrite.Writer, calls []byte, at string) {
	w.Begin('[')
	r.List(calls, at, func(_ int, call []byte, at string) {
		given := r.Members(call, at, callMembers)
		function := r.function(call, at, callMembers, calledMembers)
		if function == nil {
			return
		}
		w.Begin('{')
		inbound.Copy(w, given, "id", "id")
		inbound.Copy(w, function, "name", "name")
		if said := r.Text(function, inbound.Under(at, typeFunction), "arguments"); said != nil {
			arguments, _ := catalog.Arguments(nil, "", string(said))
			w.Name("arguments")
			w.JSON(arguments)
		}
		w.End('}')
	})
	w.End(']')
}
