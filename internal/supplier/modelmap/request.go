package modelmap

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var errNoMap = errors.New("the model has no map for the capability")

// Refuses says why the model can't honour the request; "" when it can.
func (m *Maps) Refuses(r supplier.Request) string {
	one := m.models[key{catalog.Name(r.Capability), r.Model}]
	if one == nil {
		return errNoMap.Error()
	}
	if _, err := one.body(r, true); err != nil {
		return err.Error()
	}
	return ""
}

// Input returns the model's name at the supplier and its input for the request, as JSON.
func (m *Maps) Input(r supplier.Request) (name string, input json.RawMessage, err error) {
	one := m.models[key{catalog.Name(r.Capability), r.Model}]
	if one == nil {
		return "", nil, errNoMap
	}
	body, err := one.body(r, false)
	if err != nil {
		return "", nil, err
	}
	input, err = jsonv2.Marshal(body, jsonv2.Deterministic(true))
	return one.Name, input, err
}

func (m *model) body(r supplier.Request, dry bool) (map[string]any, error) {
	body := map[string]any{}
	for _, to := range slices.Sorted(maps.Keys(m.Fixed)) {
		set(body, to, m.Fixed[to])
	}
	for _, part := range []struct {
		name    string
		members map[string]json.RawMessage
	}{{"input", upstream.Members(r.Input)}, {"parameters", upstream.Members(r.Parameters)}} {
		for _, name := range slices.Sorted(maps.Keys(part.members)) {
			rules, ok := m.Input["/"+part.name+"/"+name]
			if !ok && !free(part.name, name) {
				return nil, errors.New(part.name + "." + name + " has no counterpart in the model's map")
			}
			for _, rule := range rules {
				v, err := rule.convert(name, part.members[name], r.Media, dry)
				if err != nil && free(part.name, name) {
					continue
				}
				if err != nil {
					return nil, errors.New(part.name + "." + name + " " + err.Error())
				}
				if rule.To != "" {
					set(body, rule.To, v)
				}
			}
		}
	}
	return body, nil
}

// free reports whether a member needs no rule.
func free(part, name string) bool {
	return part == "parameters" && name == "seed" || part == "input" && name == "authorization"
}

// set puts v at the pointer, making objects on the way.
func set(body map[string]any, pointer string, v any) {
	path := strings.Split(pointer[1:], "/")
	for _, step := range path[:len(path)-1] {
		next, ok := body[step].(map[string]any)
		if !ok {
			next = map[string]any{}
			body[step] = next
		}
		body = next
	}
	body[path[len(path)-1]] = v
}
