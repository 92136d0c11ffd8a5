package openai

import (
	"strconv"
	"strings"

	"unitask/internal/catalog"
)

// renamed are the members of a task's creation whose names in the request differ, longest first.
var renamed = []struct{ from, to string }{
	{catalog.GroupParameters + ".output_schema", "response_format.json_schema.schema"},
	{catalog.GroupParameters + ".reasoning", "reasoning_effort"},
	{catalog.GroupParameters + ".encoding", "encoding_format"},
	{catalog.GroupInput + ".texts", "input"},
	{memberCapability, fieldModel},
}

// renaming is a member of a task's creation whose name in a call's request differs.
type renaming struct {
	from, to string
	each     bool   // to is a list, of whose elements the caller gives no members
	tail     string // of each element's path
}

// of returns the path in the request; rest is what follows from.
func (n renaming) of(rest string) string {
	if !n.each {
		return n.to
	}
	index, _, _ := strings.Cut(strings.TrimPrefix(rest, "."), ".")
	if index == "" {
		return n.to
	}
	return bracketed(n.to+"."+index) + n.tail
}

// param returns the path of a field of a task's creation, such as input.messages.0.content, in the caller's request:
// messages[0].content. A nil Call has none of its own.
func (c *Call) param(field string) string {
	if c == nil {
		return bracketed(field)
	}
	for _, name := range c.renamed {
		if rest, ok := within(field, name.from); ok {
			return name.of(rest)
		}
	}
	if c.response != nil {
		return c.response.param(field)
	}
	if rest, ok := within(field, catalog.GroupParameters+".max_output_tokens"); ok {
		return c.maxTokens + rest
	}
	if _, ok := within(field, catalog.GroupInput+".texts"); ok && c.oneText {
		return "input"
	}
	for _, name := range renamed {
		if rest, ok := within(field, name.from); ok {
			return bracketed(name.to + rest)
		}
	}
	for _, group := range []string{catalog.GroupInput, catalog.GroupParameters} {
		if below, ok := strings.CutPrefix(field, group+"."); ok {
			return bracketed(strings.Join(nested(c.counted(strings.Split(below, "."))), "."))
		}
	}
	return field
}

// counted returns the path of a message with its index in the request.
func (c *Call) counted(path []string) []string {
	if len(path) < 2 || path[0] != "messages" || len(c.silent) == 0 {
		return path
	}
	at, err := strconv.Atoi(path[1])
	if err != nil {
		return path
	}
	for _, before := range c.silent {
		if before <= at {
			at++
		}
	}
	path[1] = strconv.Itoa(at)
	return path
}

// within returns what follows a path's beginning, if it has it.
func within(field, from string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(field, from)
	return rest, ok && (rest == "" || rest[0] == '.')
}

// partNames are the members of a part of a message.
var partNames = map[string]string{"image": "image_url", "audio": "input_audio", "document": "file"}

// nested returns the path of a message's part, a tool call or a tool: messages.0.content.1.image.url is
// messages.0.content.1.image_url.url.
func nested(path []string) []string {
	switch {
	case len(path) > 2 && path[0] == "tools":
		return append([]string{path[0], path[1], typeFunction}, path[2:]...)
	case len(path) > 4 && path[0] == "messages" && path[2] == catalog.OutputCalls && path[4] != "id":
		return append(append([]string(nil), path[:4]...), append([]string{typeFunction}, path[4:]...)...)
	case len(path) > 4 && path[0] == "messages" && path[2] == "content" && partNames[path[4]] != "":
		path = append([]string(nil), path...)
		kind := path[4]
		path[4] = partNames[kind]
		if len(path) > 5 && kind != "image" {
			path[5] = map[string]string{
				"audio.data": "data", "audio.content_type": "format", "document.data": "file_data", "document.content_type": "file_data",
			}[kind+"."+path[5]]
		}
		if len(path) > 5 && kind == "image" {
			path[5] = "url"
		}
	}
	return path
}

// bracketed writes the indexes of a dotted path as OpenAI does: stop.0 is stop[0].
func bracketed(field string) string {
	var out strings.Builder
	for i, word := range strings.Split(field, ".") {
		switch {
		case i > 0 && word != "" && strings.Trim(word, "0123456789") == "":
			out.WriteString("[" + word + "]")
		case i > 0:
			out.WriteString("." + word)
		default:
			out.WriteString(word)
		}
	}
	return out.String()
}
