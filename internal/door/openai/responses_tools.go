package openai

import (
	"strconv"

	"unitask/internal/catalog"
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
		isList := elements(value, func(i int, tool []byte) {
			at := "tools[" + strconv.Itoa(i) + "]"
			switch kind, ok := r.kind(tool, at, "type"); {
			case !ok:
			case kind == typeFunction:
				made.tools = append(made.tools, i)
				r.responseTool(functions, told, tool, at)
			case kind == typeSearch || kind == typeSearchPreview:
				searches = true
				r.members(tool, at, searchMembers)
				told.JSON(tool)
			default:
				r.row(under(at, "type"), "must be function, web_search or web_search_preview")
			}
		})
		functions.End(']')
		told.End(']')
		if !isList {
			r.row("tools", "must be a list")
		}
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
		copied(w, r.values, "parallel_tool_calls", catalog.ParallelCalls)
	} else {
		r.flag(r.values, "", "parallel_tool_calls")
	}
	switch {
	case choice == catalog.ToolsNone: // of no kind
	case choice != "" && choice != catalog.ToolsAuto && searches:
		r.row("tool_choice", "must be auto or none beside web_search")
	case choice != "" && choice != catalog.ToolsAuto && !offered:
		r.row("tool_choice", "names a tool that isn't offered")
	case searches:
		w.Name(catalog.WebSearch)
		w.Bool(true)
	}
}

// responseTool writes a function, and as an answer tells it.
func (r *request) responseTool(w, told *jsonwrite.Writer, tool []byte, at string) {
	given := r.members(tool, at, responseToolMembers)
	w.Begin('{')
	told.Begin('{')
	named(told, "type", typeFunction)
	for _, name := range []string{"name", "description", "parameters"} {
		copied(w, given, name, name)
		copied(told, given, name, name)
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
	if word, isText := textOf(value); isText {
		return r.choiceWord(string(word))
	}
	switch kind, ok := r.kind(value, at, "type"); {
	case !ok:
		return ""
	case kind != typeFunction:
		r.row(under(at, "type"), "must be "+typeFunction)
		return ""
	}
	return r.chosenName(r.members(value, at, responseChoiceMembers), at)
}
