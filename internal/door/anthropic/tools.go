package anthropic

import (
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
)

// tools writes the tools that a model may use, and which of them it must.
func (r *request) tools(w *jsonwrite.Writer) {
	own, search := []map[string][]byte{}, false
	if value, ok := r.values["tools"]; ok {
		r.List(value, "tools", func(_ int, tool []byte, at string) {
			kind, ok := r.Kind(tool, at, "type", true)
			switch {
			case !ok:
			case isSearch(kind):
				search = true
				r.Members(tool, at, toolMembers(true))
			case kind == "" || kind == "custom":
				own = append(own, r.Members(tool, at, toolMembers(false)))
				r.paths.tools = append(r.paths.tools, at)
			default:
				r.Row(inbound.Under(at, "type"), "can't be "+inbound.Under("", kind)+" here; only custom tools and web_search are taken")
			}
		})
	}
	if search {
		w.Name("web_search")
		w.Bool(true)
	}
	if len(own) > 0 {
		w.Name(catalog.Tools)
		w.Begin('[')
		for i, tool := range own {
			w.Begin('{')
			inbound.Copy(w, tool, "name", "name")
			inbound.Copy(w, tool, "description", "description")
			inbound.CopyParameters(w, tool, "input_schema")
			if r.Flag(tool, r.paths.tools[i], "strict") {
				w.Name("strict")
				w.Bool(true)
			}
			w.End('}')
		}
		w.End(']')
	}
	r.choice(w, len(own) > 0, search)
}

// choice writes which tools the model calls.
func (r *request) choice(w *jsonwrite.Writer, offered, search bool) {
	const at, alone = "tool_choice", "disable_parallel_tool_use"
	value, ok := r.values[at]
	if !ok {
		return
	}
	kind, ok := r.Kind(value, at, "type", false)
	if !ok {
		return
	}
	rules := inbound.Rules{"type": taken}
	if kind != "none" {
		rules[alone] = taken
	}
	if kind == "tool" {
		rules["name"] = taken
	}
	given, choice := r.Members(value, at, rules), ""
	switch kind {
	case "auto":
		choice = catalog.ToolsAuto
	case "any":
		choice = catalog.ToolsRequired
	case "none":
		choice = catalog.ToolsNone
	case "tool":
		choice = string(r.Text(given, at, "name"))
		switch choice {
		case catalog.ToolsAuto, catalog.ToolsNone, catalog.ToolsRequired:
			r.Row(inbound.Under(at, "name"), "is no tool's name here")
		}
	default:
		r.Row(inbound.Under(at, "type"), "must be auto, any, tool or none")
	}
	switch {
	case search && kind != "auto":
		r.Row(at, "can only be auto beside web_search")
	case !offered && (kind == "auto" || kind == "none"):
		return // a model without tools does so anyhow
	}
	w.Name(catalog.ToolChoice)
	w.String(choice)
	if value := given[alone]; value != nil {
		w.Name(catalog.ParallelCalls)
		w.Bool(!r.Flag(given, at, alone))
	}
}
