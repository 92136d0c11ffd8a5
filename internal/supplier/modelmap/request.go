package modelmap

import (
	"encoding/json"
	"errors"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
)

var errNoMap = errors.New("the model has no map for the capability")

// Refuses says why the model can't honour the request; "" when it can.
func (m *Maps) Refuses(r supplier.Request) string {
	one := m.models[key{catalog.Name(r.Capability), r.Model}]
	if one == nil {
		return errNoMap.Error()
	}
	if _, err := one.Body(r, true); err != nil {
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
	body, err := one.Body(r, false)
	if err != nil {
		return "", nil, err
	}
	input, err = jsonv2.Marshal(body, jsonv2.Deterministic(true))
	return one.Name, input, err
}
