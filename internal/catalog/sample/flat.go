package sample

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// flat returns a schema without references, allOf and choices: their keywords stand beside its own.
func (m *maker) flat(s map[string]any, depth int) (map[string]any, error) {
	if err := m.step(depth); err != nil {
		return nil, err
	}
	var parts []any
	own := maps.Clone(s)
	for _, keyword := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		delete(own, keyword)
	}
	if ref, ok := s["$ref"].(string); ok {
		parts = append(parts, lookup(m.root, ref))
	}
	parts = append(parts, listOf(s["allOf"])...)
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches := listOf(s[keyword]); len(branches) > 0 {
			parts = append(parts, branches[m.Branch%len(branches)])
		}
	}
	for _, part := range parts {
		switch p := part.(type) {
		case map[string]any:
			p, err := m.flat(p, depth+1)
			if err != nil {
				return nil, err
			}
			own = combined(p, own)
		case bool:
			if !p {
				return nil, errImpossible
			}
		default:
			return nil, errors.New("a part of it can't be found")
		}
	}
	return own, nil
}

// lookup returns the part of a document that a local reference names; nil without one.
func lookup(root any, ref string) any {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	at := root
	for _, token := range strings.Split(pointer, "/")[1:] {
		object, _ := at.(map[string]any)
		at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
	}
	return at
}

// combined returns a schema with the keywords of both; of the same keyword the stricter value.
func combined(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for keyword, v := range b {
		old, both := a[keyword]
		if !both || reflect.DeepEqual(old, v) {
			out[keyword] = v
			continue
		}
		out[keyword] = stricter(keyword, old, v)
	}
	return out
}

func stricter(keyword string, a, b any) any {
	low, isNumber := a.(float64)
	high, areNumbers := b.(float64)
	areNumbers = areNumbers && isNumber
	switch {
	case areNumbers && (strings.HasPrefix(keyword, "max") || keyword == "exclusiveMaximum"):
		return min(low, high)
	case areNumbers && (strings.HasPrefix(keyword, "min") || keyword == "exclusiveMinimum"):
		return max(low, high)
	case keyword == "required":
		return slices.Concat(listOf(a), listOf(b))
	case keyword == "enum" || keyword == "type":
		return slices.DeleteFunc(slices.Clone(listOf(a)), func(v any) bool {
			return !slices.ContainsFunc(listOf(b), func(w any) bool {
				return reflect.DeepEqual(v, w) || keyword == "type" && v == "integer" && w == "number"
			})
		})
	case keyword == "items" || keyword == "additionalProperties" || keyword == "contains":
		return map[string]any{"allOf": []any{a, b}}
	case keyword == "properties":
		return combinedMembers(a, b)
	}
	return b
}

func combinedMembers(a, b any) any {
	one, _ := a.(map[string]any)
	other, _ := b.(map[string]any)
	out := maps.Clone(one)
	for name, v := range other {
		if old, both := one[name]; both {
			v = map[string]any{"allOf": []any{old, v}}
		}
		out[name] = v
	}
	return out
}
