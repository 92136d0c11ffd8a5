package unitask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

var errInput = errors.New("the input isn't what its media were found in")

// creation is a request's body in the other gateway's format, which is ours.
type creation struct {
	Capability string          `json:"capability"`
	Input      any             `json:"input"`
	Parameters json.RawMessage `json:"parameters"`
}

// newCreation puts the bytes of the media and the declared authorization into the input.
func newCreation(r supplier.Request) (creation, error) {
	input, err := decodeInput(r.Input)
	if err != nil {
		return creation{}, err
	}
	setStates(input, r.States)
	for pointer, m := range r.Media {
		data, err := upstream.ReadMedia(m)
		if err != nil {
			return creation{}, err
		}
		value := map[string]any{"content_type": m.ContentType, "data": base64.StdEncoding.EncodeToString(data)}
		if !replace(input, strings.Split(pointer, "/")[1:], value) {
			return creation{}, errInput
		}
	}
	if a := r.Authorization; a != nil {
		declared := map[string]any{"person": a.Person}
		if a.Statement != "" {
			declared["statement"] = a.Statement
		}
		input[catalog.Authorization] = declared
	}
	return creation{r.Model, input, r.Parameters}, nil
}

// setStates puts the other gateway's states in the places of ours.
func setStates(input map[string]any, states map[int]json.RawMessage) {
	messages, _ := input["messages"].([]any)
	for i, one := range messages {
		m, _ := one.(map[string]any)
		delete(m, "state")
		var state string
		if json.Unmarshal(states[i], &state) == nil && state != "" {
			m["state"] = state
		}
	}
}

// decodeInput keeps numbers as they are written.
func decodeInput(raw json.RawMessage) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var input map[string]any
	if d.Decode(&input) != nil || input == nil {
		return nil, errors.New("the input is no object")
	}
	return input, nil
}

// replace puts value in the place of the one that the parts of a JSON pointer lead to; false without one. The
// pointers that the gateway makes need no unescaping.
func replace(in any, parts []string, value any) bool {
	switch in := in.(type) {
	case map[string]any:
		inner, ok := in[parts[0]]
		if ok && len(parts) == 1 {
			in[parts[0]] = value
			return true
		}
		return ok && replace(inner, parts[1:], value)
	case []any:
		i, err := strconv.Atoi(parts[0])
		if err != nil || i < 0 || i >= len(in) {
			return false
		}
		if len(parts) == 1 {
			in[i] = value
			return true
		}
		return replace(in[i], parts[1:], value)
	default:
		return false
	}
}
