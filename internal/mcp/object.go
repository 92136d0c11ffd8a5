package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

var errNoObject = errors.New("it is no JSON object")

// readObject reads exactly one object; a name given twice is an error.
func readObject(raw []byte) (object, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if d.PeekKind() != '{' {
		if _, err := d.ReadValue(); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, errNoObject
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var o object
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = value.Clone()
		o = append(o, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more follows the object: %w", errNoObject)
	}
	return o, nil
}

func (o object) get(name string) jsontext.Value {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// with returns the object with a member replaced in its place, or added at the end.
func (o object) with(name string, value jsontext.Value) object {
	for i := range o {
		if o[i].name == name {
			o[i].value = value
			return o
		}
	}
	return append(o, member{name, value})
}

func (o object) value() jsontext.Value {
	out := jsontext.Value("{")
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, m.name) // fails for invalid UTF-8 alone, which no reader returned
		out = append(append(out, ':'), m.value...)
	}
	return append(out, '}')
}
