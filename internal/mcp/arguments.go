package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// The members of a capability tool's arguments.
const (
	argInput      = catalog.GroupInput
	argParameters = catalog.GroupParameters
	argKey        = "idempotency_key"
)

// order is the request of a call.
type order struct {
	body []byte // the JSON of an api.CreateRequest
	key  string
}

// read checks arguments by the capability's own schemas, as the service will. All it finds wrong is
// INVALID_REQUEST. metadata goes along with the request.
func (t *tool) read(arguments []byte, metadata task.Metadata) (order, error) {
	given, err := readArguments(arguments, argInput, argParameters, argKey)
	if err != nil {
		return order{}, err
	}
	o := order{key: client.NewIdempotencyKey()}
	if raw := given.get(argKey); raw != nil {
		if o.key, err = readKey(raw); err != nil {
			return order{}, err
		}
	}
	name, err := json.Marshal(t.entry.Name)
	if err != nil {
		return order{}, err
	}
	body := object{{"capability", name}}
	for _, group := range []string{argInput, argParameters} {
		if raw := given.get(group); raw != nil {
			body = append(body, member{group, raw})
		}
	}
	if len(metadata) > 0 {
		raw, err := json.Marshal(metadata)
		if err != nil {
			return order{}, err
		}
		body = append(body, member{"metadata", raw})
	}
	o.body = body.value()
	r, f := catalog.Decode(o.body, catalog.Limits{})
	if f == nil && t.check != nil {
		f = t.check.Validate(r)
	}
	if f != nil {
		return order{}, f
	}
	return o, nil
}

// readArguments reads the arguments of any tool; absent ones are an empty object.
func readArguments(raw []byte, known ...string) (object, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	given, err := readObject(raw)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return nil, fault.Invalid("arguments", "have a member more than once")
	case err != nil:
		return nil, fault.Invalid("arguments", "must be one JSON object")
	}
	var rows []fault.Detail
	for _, m := range given {
		if !slices.Contains(known, m.name) {
			rows = append(rows, fault.Detail{Field: m.name, Message: "is no member of the arguments; they are " + strings.Join(known, ", ")})
		}
	}
	if len(rows) > 0 {
		return nil, fault.Invalid(rows[0].Field, rows[0].Message).WithDetails(rows[1:]...)
	}
	return given, nil
}

func readKey(raw jsontext.Value) (string, error) {
	var key string
	err := json.Unmarshal(raw, &key)
	if n := utf8.RuneCountInString(strings.TrimSpace(key)); err != nil || n < api.MinIdempotencyKey || n > api.MaxIdempotencyKey {
		return "", fault.Invalid(argKey, fmt.Sprintf("must be a text of %d to %d characters", api.MinIdempotencyKey, api.MaxIdempotencyKey))
	}
	return key, nil
}
