package openai

import (
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
)

// The types of tools that aren't functions.
const (
	typeSearch        = "web_search"
	typeSearchPreview = "web_search_preview"
)

// responseTools writes the functions that a model may call, whether it searches the web, and which of them it must call.
func (r *request) responseTools(w *jsonwrite.Writer, made *response) {
	searches := false
	functions, told := jsonwrite.New(1<<8), jsonwrite.New(1<<8)
	if value, ok := r.values["tools"]; ok {
		told.Begin('[')
		functions.Begin('[')
		r.List(value, "tools", func(i int, tool []byte, at string) {
			switch kind, ok := r.Kind(tool, at, "type", false); {
			case !ok:
			case kind == typeFunction:
				made.tools = append(made.tools, i)
				r.responseTool(functions, told, tool, at)
			case kind == typeSearch || kind == typeSearchPreview:
				searches = true
				r.Members(tool, at, searchMembers)
				told.JSON(tool)
			default:
				r.Row(inbound.Under(at, "type"), "must be function, web_search or web_search_preview")
			}
		})
		functions.End(']')
		told.End(']')
		made.asked["tools"], _ = told.Bytes() // without numbers of this package's
	}
	r.offer(w, functions, len(made.tools) > 0, searches)
}

// offer writes the tools, with which of them the model must call.
func (r *request) offer(w, functions *jsonwrite.Writer, offered, searches bool) {
	choice := r.responseChoice()
	if offered {
		w.Name(catalog.Tools)
		all, _ := functions.Bytes()
		w.JSON(all)
		if choice != "" {
			w.Name(catalog.ToolChoice)
			w.String(choice)
		}
		inbound.Copy(w, r.values, "parallel_tool_calls", catalog.ParallelCalls)
	} else {
		r.Flag(r.values, "", "parallel_tool_calls")
	}
	switch {
	case choice == catalog.ToolsNone: // of no kind
	case choice != "" && choice != catalog.ToolsAuto && searches:
		r.Row("tool_choice", "must be auto or none beside web_search")
	case choice != "" && choice != catalog.ToolsAuto && !offered:
		r.Row("tool_choice", "names a tool that isn't offered")
	case searches:
		w.Name(catalog.WebSearch)
		w.Bool(true)
	}
}

// responseTool writes a function, and as an answer tells it.
func (r *request) responseTool(w, told *jsonwrite.Writer, tool []byte, at string) {
	given := r.Members(tool, at, responseToolMembers)
	w.Begin('{')
	told.Begin('{')
	named(told, "type", typeFunction)
	inbound.Copy(w, given, "name", "name")
	inbound.Copy(w, given, "description", "description")
	inbound.CopyParameters(w, given, "parameters")
	for _, name := range []string{"name", "description", "parameters"} {
		inbound.Copy(told, given, name, name)
	}
	if _, ok := given["parameters"]; !ok {
		told.Name("parameters")
		told.Null()
	}
	must := r.strict(w, given, at)
	told.Name("strict")
	told.Bool(must)
	told.End('}')
	w.End('}')
}

// responseChoice returns which tools a model calls, in the service's terms; "" if the request leaves it open.
func (r *request) responseChoice() string {
	const at = "tool_choice"
	value, ok := r.values[at]
	if !ok {
		return ""
	}
	if word, isText := inbound.TextOf(value); isText {
		return r.choiceWord(string(word))
	}
	switch kind, ok := r.Kind(value, at, "type", false); {
	case !ok:
		return ""
	case kind != typeFunction:
		r.Row(inbound.Under(at, "type"), "must be "+typeFunction)
		return ""
	}
	return r.chosenName(r.Members(value, at, responseChoiceMembers), at)
}
