package openai

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
)

// shape is how a member of a form is read; the zero shape is a text.
type shape int

const (
	aText  shape = iota
	aValue       // a number, true or false
	texts        // each in a part of its own
	aFile
	files
	anObject // in JSON, or its texts in parts such as authorization[person]
)

// many reports whether a member may have several parts.
func (s shape) many() bool { return s == texts || s == files || s == anObject }

// takes reports whether a part's name may end with the brackets.
func (s shape) takes(brackets string) bool {
	switch s {
	case texts, files:
		return brackets == "" || brackets == "[]"
	case anObject:
		return brackets == "" || len(brackets) > 2 && strings.IndexByte(brackets, ']') == len(brackets)-1
	default:
		return brackets == ""
	}
}

// form is the parts of a form by their members.
type form struct {
	*request
	rules  inbound.Rules
	shapes map[string]shape
	names  []string // of members with texts, as they come
	texts  map[string][]part
}

// readForm is read for a form.
func readForm(body []byte, boundary string, rules inbound.Rules, shapes map[string]shape, translate func(*request) Call) (Call, error) {
	defer bulk.Turn(len(body))()
	parts, problem := parted(body, boundary)
	if problem != "" {
		return Call{}, fault.Invalid("body", problem)
	}
	r := &request{Body: inbound.Body{Brackets: true}, values: map[string][]byte{}, files: map[string][]part{}}
	f := form{request: r, rules: rules, shapes: shapes, texts: map[string][]part{}}
	for _, p := range parts {
		f.add(p)
	}
	for _, name := range f.names {
		value := f.value(name, f.texts[name])
		if value == nil {
			continue
		}
		if problem := rules[name](value); problem != "" {
			r.Row(name, problem)
		} else {
			r.values[name] = value
		}
	}
	c := translate(r)
	if err := r.Err(); err != nil {
		return Call{}, err
	}
	return c, nil
}

// add puts a part among the files or the texts of its member.
func (f *form) add(p part) {
	name := p.name
	if i := strings.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	brackets, shape := p.name[len(name):], f.shapes[name]
	switch {
	case f.rules[name] == nil || !shape.takes(brackets):
		f.Row(inbound.Under("", p.name), "is not known here")
	case !shape.many() && len(f.files[name])+len(f.texts[name]) > 0:
		f.Row(name, "is given more than once")
	case shape == aFile || shape == files:
		f.files[name] = append(f.files[name], p)
	case p.file:
		f.Row(name, "must be a text, not a file")
	case !utf8.Valid(p.data):
		f.Row(name, "must be valid UTF-8")
	default:
		if !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
		p.name = strings.Trim(brackets, "[]")
		f.texts[name] = append(f.texts[name], p)
	}
}

// value returns the value of a member in JSON; nil if it has none.
func (f *form) value(name string, all []part) []byte {
	w := jsonwrite.New(len(all[0].data) + 2)
	switch f.shapes[name] {
	case texts:
		w.Begin('[')
		for _, p := range all {
			w.String(string(p.data))
		}
		w.End(']')
	case anObject:
		return f.object(name, all)
	case aValue:
		if value := jsontext.Value(all[0].data); value.IsValid() && strings.ContainsRune("-0123456789tf", rune(value[0])) {
			w.JSON(value)
			break
		}
		fallthrough
	default:
		w.String(string(all[0].data))
	}
	value, _ := w.Bytes()
	return value
}

// object returns a member that is one part of JSON, or the texts of its own members.
func (f *form) object(name string, all []part) []byte {
	if len(all) == 1 && all[0].name == "" {
		if catalog.CheckJSON(all[0].data, catalog.Limits{}) != nil || bytes.TrimLeft(all[0].data, " \t\r\n")[0] != '{' {
			f.Row(name, "must be an object in JSON")
			return nil
		}
		return all[0].data
	}
	given := map[string]bool{}
	w := jsonwrite.New(1 << 8)
	w.Begin('{')
	for _, p := range all {
		switch {
		case p.name == "":
			f.Row(name, "must be one object in JSON")
			return nil
		case given[p.name]:
			f.Row(inbound.Under(name, p.name), "is given more than once")
			return nil
		}
		given[p.name] = true
		w.Key(p.name)
		w.String(string(p.data))
	}
	w.End('}')
	value, _ := w.Bytes()
	return value
}
