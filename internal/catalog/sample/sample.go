// Package sample makes JSON values of the form that a JSON Schema gives, the same one for the same source.
//
// It follows the common keywords of draft 2020-12 and doesn't validate: its callers do, and try another Options if a
// value doesn't fit. It refers to no document but the schema's own.
package sample

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

// Options choose among the values of a schema.
type Options struct {
	Source string   // decides everything that is left to choose
	Texts  []string // for free strings, in turn
	Sparse bool     // only required members, and no more items than needed
	Branch int      // which branch of each anyOf and oneOf, from 0
}

// The bounds of a value.
const (
	deep     = 6  // from this depth on values are sparse
	deepest  = 32 // schemas within schemas
	mostMade = 10_000
)

// The reasons of schemas without a value.
var (
	errImpossible = errors.New("no value is allowed")
	errLarge      = errors.New("it is too large, or contains itself")
)

// Value returns a value for a schema, which is decoded JSON.
func Value(schema any, o Options) (any, error) {
	if len(o.Texts) == 0 {
		o.Texts = []string{"sample"}
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(o.Source)) // never fails
	m := maker{Options: o, root: schema, seed: sum.Sum64()}
	return m.value(schema, 0)
}

// maker makes one value.
type maker struct {
	Options
	root  any
	seed  uint64
	texts int // free strings so far
	files int // artifacts so far
	made  int // schemas so far

	padded int // characters that strings were padded with
}

// next returns a number below n, by splitmix64.
func (m *maker) next(n uint64) uint64 {
	m.seed += 0x9e3779b97f4a7c15
	z := m.seed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) % max(n, 1)
}

// text returns the next free string. Further rounds through the texts are numbered.
func (m *maker) text() string {
	at := m.texts
	m.texts++
	text := cut(m.Texts[at%len(m.Texts)], mostText)
	if round := at / len(m.Texts); round > 0 {
		text += fmt.Sprintf(" %d", round+1)
	}
	return text
}

// step counts a schema that is looked at.
func (m *maker) step(depth int) error {
	if m.made++; depth > deepest || m.made > mostMade {
		return errLarge
	}
	return nil
}

func (m *maker) value(schema any, depth int) (any, error) {
	if err := m.step(depth); err != nil {
		return nil, err
	}
	s, ok := schema.(map[string]any)
	switch {
	case schema == false:
		return nil, errImpossible
	case !ok:
		return m.text(), nil
	case s["$ref"] == artifactRef:
		m.files++
		return Artifact(m.files - 1), nil
	}
	s, err := m.flat(s, depth)
	if err != nil {
		return nil, err
	}
	if v, has := s["const"]; has {
		return v, nil
	}
	if all, has := s["enum"].([]any); has {
		if len(all) == 0 {
			return nil, errImpossible
		}
		return all[m.next(uint64(len(all)))], nil
	}
	switch typeOf(s) {
	case "object":
		return m.object(s, depth)
	case "array":
		return m.array(s, depth)
	case "number", "integer":
		return m.number(s, typeOf(s) == "integer")
	case "boolean":
		return m.next(2) == 1, nil
	case "null":
		return nil, nil
	default:
		return m.string(s)
	}
}

// typeOf returns the type of a schema's values: the first of several that isn't null, or the one that its keywords are
// about.
func typeOf(s map[string]any) string {
	for _, name := range listOf(s["type"]) {
		if name, ok := name.(string); ok && name != "null" {
			return name
		}
	}
	if s["type"] != nil {
		return "null"
	}
	for _, about := range []struct {
		name     string
		keywords []string
	}{
		{"object", []string{"properties", "required", "additionalProperties"}},
		{"array", []string{"items", "prefixItems", "minItems", "contains"}},
		{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
	} {
		if slices.ContainsFunc(about.keywords, func(k string) bool { return s[k] != nil }) {
			return about.name
		}
	}
	return "string"
}

func (m *maker) object(s map[string]any, depth int) (any, error) {
	properties, _ := s["properties"].(map[string]any)
	required := listOf(s["required"])
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		needed := slices.Contains(required, any(name))
		if !needed && (m.Sparse || depth >= deep) {
			continue
		}
		v, err := m.value(properties[name], depth+1)
		switch {
		case err == nil:
			out[name] = v
		case needed:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range required {
		name, _ := name.(string)
		if _, has := properties[name]; has {
			continue
		}
		other, listed := s["additionalProperties"]
		if !listed {
			other = true
		}
		v, err := m.value(other, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func (m *maker) array(s map[string]any, depth int) (any, error) {
	least, wanted, most := 0, 1, mostMade
	if m.Sparse || depth >= deep {
		wanted = 0
	}
	if n, ok := s["minItems"].(float64); ok {
		least = int(min(n, mostMade))
	}
	if n, ok := s["maxItems"].(float64); ok {
		most = int(min(n, mostMade))
	}
	first := listOf(s["prefixItems"])
	items, has := s["items"]
	if !has {
		items = true
	}
	if contains, has := s["contains"]; has && len(first) == 0 {
		first, least = []any{map[string]any{"allOf": []any{items, contains}}}, max(least, 1)
	}
	out := []any{}
	for len(out) < min(max(least, wanted, len(first)), most) {
		of := items
		if len(out) < len(first) {
			of = first[len(out)]
		}
		v, err := m.value(of, depth+1)
		switch {
		case err == nil:
			out = append(out, v)
		case len(out) < least:
			return nil, fmt.Errorf("item %d: %w", len(out), err)
		default:
			return out, nil
		}
	}
	return out, nil
}

func listOf(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}
