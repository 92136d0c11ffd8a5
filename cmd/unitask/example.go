package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"unitask/internal/api"
	"unitask/internal/blank"
	"unitask/internal/catalog"
)

// exampleCommand writes the entry's example as a command.
func exampleCommand(c api.Capability, fields []catalog.Field) (string, error) {
	var example api.CreateRequest
	if err := json.Unmarshal(c.Example, &example); err != nil {
		return "", err
	}
	words := []string{"unitask run " + string(c.Name)}
	primary, _ := blank.Primary(fields)
	for _, group := range []struct {
		name string
		raw  json.RawMessage
	}{{catalog.GroupInput, example.Input}, {catalog.GroupParameters, example.Parameters}} {
		var values map[string]any
		if len(group.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(group.raw, &values); err != nil {
			return "", err
		}
		for _, f := range fields {
			if v, ok := values[f.Name]; ok && f.Group == group.name {
				words = append(words, exampleWords(f, v, f.Name == primary.Name && group.name == catalog.GroupInput)...)
			}
		}
	}
	return strings.Join(words, " "), nil
}

// exampleWords writes one member: an object's members apart, a list's items one by one, and as JSON
// what has no other form.
func exampleWords(f catalog.Field, value any, isPrompt bool) []string {
	items, isList := value.([]any)
	members, isObject := value.(map[string]any)
	var words []string
	switch {
	case isObject && !f.Media:
		for _, m := range f.Members {
			if v, ok := members[m.Name]; ok {
				m.Name = f.Name + "." + m.Name
				words = append(words, exampleWords(m, v, false)...)
			}
		}
		return words
	case !isList:
		items = []any{value}
	}
	for _, item := range items {
		word, written := exampleValue(f, item)
		switch {
		case !written:
			raw, err := json.Marshal(value)
			if err != nil {
				return nil
			}
			return []string{shellWord(f.Name + ":=" + string(raw))}
		case isPrompt:
			words = append(words, shellWord(word))
		default:
			words = append(words, f.Name+"="+shellWord(word))
		}
	}
	return words
}

// exampleValue writes one value as a word; an object has none but media, which stands for a file.
func exampleValue(f catalog.Field, value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case map[string]any:
		contentType, _ := v["content_type"].(string)
		return "@FILE" + extension(contentType), f.Media
	case float64, bool:
		return fmt.Sprint(v), true
	default:
		return "", false
	}
}

// shellWord quotes a word only where a shell would take it apart.
func shellWord(word string) string {
	plain := func(r rune) bool { return strings.ContainsRune(`-_./:@=,+%`, r) }
	special := func(r rune) bool {
		return !plain(r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	if !strings.ContainsAny(word, "\"$`\\!") {
		return `"` + word + `"`
	}
	return quoted(word)
}

// shortExample is an example's JSON with long base64 cut out of sight.
func shortExample(raw json.RawMessage) (string, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", err
	}
	out, err := json.MarshalIndent(shortened(value), "", "  ")
	return printable(string(out)), err
}

func shortened(value any) any {
	const longest = 80
	switch v := value.(type) {
	case string:
		if len(v) > longest && !strings.Contains(v, " ") {
			return v[:longest/2] + "…"
		}
	case []any:
		for i := range v {
			v[i] = shortened(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = shortened(v[name])
		}
	}
	return value
}
