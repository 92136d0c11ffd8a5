package jq

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/itchyny/gojq"
)

// values is the most values of a decoded text, each of which takes tens of bytes.
const values = 1 << 20

var (
	errNoJSON = errors.New("it is no JSON")
	errMany   = errors.New("it has more than a million values")
)

// Decode reads one JSON value, as programs work on it. It is lenient: a member may be there twice, a text needn't be
// UTF-8. Numbers that are no int64 become float64.
func Decode(text []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	r := reader{d: d, left: values}
	v, err := r.value(Depth)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNoJSON
	}
	return v, nil
}

type reader struct {
	d    *jsontext.Decoder
	left int
}

func (r *reader) value(depth int) (any, error) {
	token, err := r.d.ReadToken()
	if err != nil {
		return nil, errNoJSON
	}
	if r.left--; r.left < 0 {
		return nil, errMany
	}
	switch token.Kind() {
	case '{', '[':
		if depth == 0 {
			return nil, errDepth
		}
		if token.Kind() == '[' {
			return r.list(depth)
		}
		return r.object(depth)
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String())
	case 't', 'f':
		return token.Bool(), nil
	default:
		return nil, nil //nolint:nilnil // JSON's null
	}
}

func (r *reader) list(depth int) (any, error) {
	all := []any{}
	for r.d.PeekKind() != ']' {
		v, err := r.value(depth - 1)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	_, _ = r.d.ReadToken() // the bracket that was seen
	return all, nil
}

func (r *reader) object(depth int) (any, error) {
	all := map[string]any{}
	for r.d.PeekKind() != '}' {
		name, err := r.d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return nil, errNoJSON
		}
		member := name.String() // before the token's bytes are gone
		v, err := r.value(depth - 1)
		if err != nil {
			return nil, err
		}
		all[member] = v
	}
	_, _ = r.d.ReadToken() // the bracket that was seen
	return all, nil
}

func number(text string) (any, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errNumber
	}
	return f, nil
}

// Encode writes a result of a program, or a value as Decode makes it, as JSON: members sorted by name.
func Encode(v any) ([]byte, error) {
	return gojq.Marshal(v)
}
