package supplier

import (
	"encoding/json"
	"maps"
	"slices"
)

// Unhonoured returns the members of the request for which Refuses refuses it, as its caller names them
// ("parameters.n"), sorted; nil if it doesn't, or if no member is why. A member is among them if without it the
// request isn't refused, or is refused for something else.
func Unhonoured(k Kind, a Adapter, r Request) []string {
	var fields []string
	for why := Refuses(k, a, r); why != ""; why = Refuses(k, a, r) {
		found := without(&r.Parameters, func() bool { return Refuses(k, a, r) != why })
		for _, name := range found {
			fields = append(fields, "parameters."+name)
		}
		if found != nil {
			continue
		}
		if found = without(&r.Input, func() bool { return Refuses(k, a, r) != why }); found == nil {
			break
		}
		for _, name := range found {
			fields = append(fields, "input."+name)
		}
	}
	slices.Sort(fields)
	return fields
}

// without takes those members out of the object without each of which the rest differs, and returns their names; nil
// if there are none.
func without(object *json.RawMessage, differs func() bool) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(*object, &members) != nil {
		return nil
	}
	var found []string
	whole := *object
	for name := range members {
		rest := maps.Clone(members)
		delete(rest, name)
		if *object = encoded(rest); differs() {
			found = append(found, name)
		}
		*object = whole
	}
	if found != nil {
		maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return slices.Contains(found, name) })
		*object = encoded(members)
	}
	return found
}

// encoded writes members in the canonical order that adapters may rely on. Their values, which may be large, stay as
// they are: json.Marshal would read each of them through and write another spelling.
func encoded(members map[string]json.RawMessage) json.RawMessage {
	size := len("{}")
	for name, value := range members {
		size += len(name) + len(value) + len(`"":,`)
	}
	raw := append(make(json.RawMessage, 0, size), '{')
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			panic(err) // a text can always be encoded
		}
		raw = append(append(append(raw, quoted...), ':'), members[name]...)
	}
	return append(raw, '}')
}
