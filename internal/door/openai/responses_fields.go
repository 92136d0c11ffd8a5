package openai

import (
	"strconv"
	"strings"

	"unitask/internal/catalog"
)

// responseNames are the members of a task's creation whose names in the request differ, longest first.
var responseNames = []struct{ from, to string }{
	{catalog.GroupParameters + ".output_schema", "text.format.schema"},
	{catalog.GroupParameters + ".reasoning", "reasoning.effort"},
	{catalog.GroupParameters + "." + catalog.WebSearch, "tools"},
	{catalog.GroupInput + ".system", "instructions"},
	{"capability", fieldModel},
}

// partPlaces are the members of a message's part in the request, by those of the task's.
var partPlaces = map[string]string{
	"audio": "input_audio", "audio.data": "input_audio.data", "audio.content_type": "input_audio.format", "document": "file_data",
	"document.data": "file_data", "document.content_type": "file_data", "document.url": "file_url",
}

// param returns the path of a field of a task's creation in the caller's request.
func (s *response) param(field string) string {
	for _, name := range responseNames {
		if rest, ok := within(field, name.from); ok {
			return bracketed(name.to + rest)
		}
	}
	if rest, ok := strings.CutPrefix(field, catalog.GroupParameters+"."+catalog.Tools+"."); ok {
		number, below, _ := strings.Cut(rest, ".")
		return bracketed(joined(catalog.Tools, numbered(number, s.tools), below))
	}
	if rest, ok := strings.CutPrefix(field, catalog.GroupInput+".messages."); ok {
		number, below, _ := strings.Cut(rest, ".")
		if i, err := strconv.Atoi(number); err == nil && i < len(s.messages) {
			return bracketed(s.messages[i].param(below))
		}
	}
	if _, ok := within(field, catalog.GroupInput); ok {
		return "input"
	}
	if rest, ok := strings.CutPrefix(field, catalog.GroupParameters+"."); ok {
		return bracketed(rest)
	}
	return bracketed(field)
}

// param returns the path of a member of a message.
func (p *place) param(below string) string {
	const input = "input"
	if p.whole {
		return input
	}
	at := joined(input, strconv.Itoa(p.content), "")
	name, rest, _ := strings.Cut(below, ".")
	switch name {
	case "content":
		number, part, _ := strings.Cut(rest, ".")
		if part = strings.TrimPrefix(part, "text."); strings.HasPrefix(part, "image") {
			part = "image_url"
		} else if to, ok := partPlaces[part]; ok {
			part = to
		}
		return joined(at, p.said, number, part)
	case catalog.OutputCalls:
		number, member, _ := strings.Cut(rest, ".")
		if member == "id" {
			member = "call_id"
		}
		return joined(input, numbered(number, p.calls), member)
	case "tool_call_id":
		return joined(at, "call_id")
	case memberState:
		return joined(input, strconv.Itoa(p.state), "encrypted_content")
	default:
		return joined(at, below)
	}
}

// numbered returns the place of the item of that number; the number itself if it has none.
func numbered(number string, places []int) string {
	if i, err := strconv.Atoi(number); err == nil && i < len(places) {
		return strconv.Itoa(places[i])
	}
	return number
}

// joined joins the steps of a path that aren't empty.
func joined(steps ...string) string {
	var all []string
	for _, s := range steps {
		if s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, ".")
}
