package modelmap

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// Rules are the part of a map that makes the model's input: the place and the conversion of each member of a request.
type Rules struct {
	Input map[string]mapping         `json:"input"` // by the neutral pointer
	Fixed map[string]json.RawMessage `json:"fixed"` // by the pointer into the model's input
}

// Check returns the first fault of the rules.
func (m Rules) Check() error {
	for _, from := range slices.Sorted(maps.Keys(m.Input)) {
		if _, _, ok := member(from); !ok {
			return fmt.Errorf("input %s: must be /input/NAME or /parameters/NAME", from)
		}
		for _, r := range m.Input[from] {
			if err := r.check(); err != nil {
				return fmt.Errorf("input %s: %w", from, err)
			}
		}
	}
	for _, to := range slices.Sorted(maps.Keys(m.Fixed)) {
		if !settable(to) {
			return fmt.Errorf("fixed %s: must be a pointer such as /name", to)
		}
	}
	return nil
}

// Body returns the model's input for the request. With dry, media aren't read and stand as nil. The error names the
// member that the model can't honour.
func (m Rules) Body(r supplier.Request, dry bool) (map[string]any, error) {
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
