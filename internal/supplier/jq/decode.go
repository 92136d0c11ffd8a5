package jq

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

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
func Decode(text []byte) (any, error) { return DecodeWithout(text) }

// DecodeWithout is Decode without the values at some JSON pointers, which stand as nil: media, whose bytes are kept
// elsewhere and would take megabytes.
func DecodeWithout(text []byte, pointers ...string) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	r := reader{d: d, left: values, without: pointers}
	v, err := r.value("", Depth)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNoJSON
	}
	return v, nil
}

type reader struct {
	d       *jsontext.Decoder
	left    int
	without []string
}

// value reads the value at a pointer.
func (r *reader) value(at string, depth int) (any, error) {
	if slices.Contains(r.without, at) {
		if r.d.SkipValue() != nil {
			return nil, errNoJSON
		}
		return nil, nil //nolint:nilnil // JSON's null
	}
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
			return r.list(at, depth)
		}
		return r.object(at, depth)
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

func (r *reader) list(at string, depth int) (any, error) {
	all := []any{}
	for r.d.PeekKind() != ']' {
		v, err := r.value(r.below(at, func() string { return strconv.Itoa(len(all)) }), depth-1)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	_, _ = r.d.ReadToken() // the bracket that was seen
	return all, nil
}

func (r *reader) object(at string, depth int) (any, error) {
	all := map[string]any{}
	for r.d.PeekKind() != '}' {
		name, err := r.d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return nil, errNoJSON
		}
		member := name.String() // before the token's bytes are gone
		v, err := r.value(r.below(at, func() string { return escape.Replace(member) }), depth-1)
		if err != nil {
			return nil, err
		}
		all[member] = v
	}
	_, _ = r.d.ReadToken() // the bracket that was seen
	return all, nil
}

// below is the pointer of a part of the value at another; only those that look for pointers need any.
func (r *reader) below(at string, token func() string) string {
	if len(r.without) == 0 {
		return ""
	}
	return at + "/" + token()
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

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

// Number returns a result that is a number; false for any other.
func Number(v any) (n float64, ok bool) { return gojq.ToFloat64(v) }

// Encode writes a result of a program, or a value as Decode makes it, as JSON: members sorted by name.
func Encode(v any) ([]byte, error) {
	return gojq.Marshal(v)
}
