package form

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"unitask/internal/catalog"
)

// files ends the wire name of the files that go along with a prompt or the last of an entry's messages.
const files = "files"

// Attaches returns the wire name of the files that go along with the last message of an entry; "" if its messages have
// no parts.
func (e Entry) Attaches() string {
	if name, kinds := PartKinds([]catalog.Field{e.Field}); name != "" && kinds != nil {
		return e.Wire() + "." + files
	}
	return ""
}

// Beside returns the entry of the files that go along with a prompt or the last message; false for a capability whose
// messages have no parts. Its value is no member of a request: Attach puts it into one.
func Beside(fields []catalog.Field) (Entry, bool) {
	messages, kinds := PartKinds(fields)
	if kinds == nil {
		return Entry{}, false
	}
	return Entry{
		Field: catalog.Field{
			Name: files, Group: catalog.GroupInput, Type: "object", Media: true, Array: true,
			Description: "Files to answer about: " + AnyOf(kinds) + ". They go along with the prompt, or with the last of the messages.",
		},
		Path: []string{messages, files}, Within: true, Kind: List, Kinds: kinds,
	}, true
}

// AnyOf lists words as a sentence does.
func AnyOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Attached tells which parts of a request files have become.
type Attached struct {
	messages string // wire names
	made     string // what the message is made of, the prompt or the files; "" if it was there
	content  string // of the message that has the files
	first    int    // the index of the first file among its parts
}

// Attach puts media into the request, as parts: after the prompt, which becomes a message, or at the end of the last
// message. Without both they are a message of their own.
func (v Values) Attach(messages, prompt string, parts []any) (Attached, error) {
	if v[catalog.GroupInput] == nil {
		v[catalog.GroupInput] = map[string]any{}
	}
	input := v[catalog.GroupInput]
	at := Attached{messages: catalog.GroupInput + "." + messages}
	var all []any
	switch there := input[messages].(type) {
	case nil:
		at.made = at.messages + "." + files
		all = []any{map[string]any{"role": "user"}}
		if text := input[prompt]; text != nil {
			at.made = catalog.GroupInput + "." + prompt
			all = []any{map[string]any{"role": "user", "content": text}}
			delete(input, prompt)
		}
	case []any:
		all = there
	case json.RawMessage:
		if json.Unmarshal(there, &all) != nil || len(all) == 0 {
			return at, errNoMessage
		}
		var exact []json.RawMessage // numbers as they are written
		_ = json.Unmarshal(there, &exact)
		for i := range exact {
			all[i] = exact[i]
		}
	}
	last, ok := members(all[len(all)-1])
	if !ok {
		return at, errNoMessage
	}
	content := contentParts(last["content"])
	at.content, at.first = at.messages+"."+strconv.Itoa(len(all)-1)+".content", len(content)
	last["content"] = append(content, parts...)
	all[len(all)-1] = last
	input[messages] = all
	return at, nil
}

var errNoMessage = errors.New("must end with a message for the files to go along with")

// members returns the members of an object.
func members(value any) (map[string]any, bool) {
	raw, ok := value.(json.RawMessage)
	if !ok {
		object, ok := value.(map[string]any)
		return object, ok
	}
	var exact map[string]json.RawMessage
	if json.Unmarshal(raw, &exact) != nil || exact == nil {
		return nil, false
	}
	object := map[string]any{}
	for name, member := range exact {
		object[name] = member
	}
	return object, true
}

// contentParts returns a message's content as parts.
func contentParts(content any) []any {
	var there []json.RawMessage
	raw, ok := content.(json.RawMessage)
	switch {
	case content == nil || ok && string(raw) == "null":
		return nil
	case ok && json.Unmarshal(raw, &there) == nil:
		parts := make([]any, len(there))
		for i := range there {
			parts[i] = there[i]
		}
		return parts
	}
	if parts, ok := content.([]any); ok {
		return parts
	}
	return []any{textPart(content)}
}

// Entered returns the name by which a form knows what a detail's field is about.
func (a Attached) Entered(field string) string {
	if a.content == "" || field != a.messages && !strings.HasPrefix(field, a.messages+".") {
		return field
	}
	if rest, ok := strings.CutPrefix(field, a.content+"."); ok {
		index, below, _ := strings.Cut(rest, ".")
		if n, err := strconv.Atoi(index); err == nil && n >= a.first {
			return strings.TrimSuffix(a.messages+"."+files+"."+strconv.Itoa(n-a.first)+"."+below, ".")
		}
	}
	if a.made != "" {
		return a.made
	}
	return field
}
