// Package inbound reads the JSON of requests at the doors: objects member by member, each by a rule of the door, with
// all that is wrong noted by the path of the member.
//
// Invariants: a member without a rule is noted, never passed over; null counts as absent; paths are dotted, as in
// messages.0.content, unless they are asked for in brackets, and say at most 64 bytes of a caller's name again.
package inbound

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/jsonread"
	"unitask/internal/jsonwrite"
)

// Rule decides about a member's value, which isn't null: the problem, "" if it is taken.
type Rule func(value []byte) (problem string)

// Rules are the members that an object may have.
type Rules map[string]Rule

// Refused returns the rule of members that ask for an answer which the service can't give.
func Refused(problem string) Rule { return func([]byte) string { return problem } }

// Only returns the rule of members that are taken with these values alone, in canonical JSON.
func Only(values ...string) Rule {
	return func(value []byte) string {
		plain := jsontext.Value(append([]byte(nil), value...))
		if plain.Canonicalize() == nil {
			for _, v := range values {
				if string(plain) == v {
					return ""
				}
			}
		}
		return "can't be honoured here; only " + strings.Join(values, " or ") + " is taken"
	}
}

// Body is a request's body that is read. The zero value has no problem.
type Body struct {
	Brackets bool // paths are written messages[0].content

	problems []fault.Detail
}

// Object returns the members of a body that is a JSON object; an INVALID_REQUEST for any other.
func (b *Body) Object(body []byte, rules Rules) (map[string][]byte, error) {
	if refused := catalog.CheckJSON(body, catalog.Limits{}); refused != nil {
		return nil, refused
	}
	in := jsonread.Sound(body)
	if in.Peek() != '{' {
		return nil, fault.Invalid("body", "must be a JSON object")
	}
	return b.Members(body, "", rules), nil
}

// mostProblems is the most rows of one error.
const mostProblems = 20

// Row notes the problem of a member.
func (b *Body) Row(field, problem string) {
	if len(b.problems) < mostProblems {
		b.problems = append(b.problems, fault.Detail{Field: field, Message: problem})
	}
}

// Err returns the error of all problems that were noted; nil without one.
func (b *Body) Err() error {
	if len(b.problems) == 0 {
		return nil
	}
	return Invalid(b.problems)
}

// Members returns the members of an object, those that are null left out, and notes those that break a rule; nil if the
// value is no object.
func (b *Body) Members(object []byte, at string, rules Rules) map[string][]byte {
	in := jsonread.Sound(object)
	if in.Peek() != '{' {
		b.Row(at, "must be an object")
		return nil
	}
	all := map[string][]byte{}
	in.Open('{')
	for in.More('}') {
		name := string(in.Name())
		value := in.Value()
		if len(value) == 0 || value[0] == 'n' {
			continue
		}
		rule, known := rules[name]
		if !known {
			b.Row(Under(at, name), "is not known here")
		} else if problem := rule(value); problem != "" {
			b.Row(Under(at, name), problem)
		} else {
			all[name] = value
		}
	}
	return all
}

// List calls each with the elements of a list and their paths, and notes a value that is none.
func (b *Body) List(list []byte, at string, each func(i int, value []byte, at string)) {
	if !Elements(list, func(i int, value []byte) { each(i, value, b.Element(at, i)) }) {
		b.Row(at, "must be a list")
	}
}

// Element returns the path of an element of the list at a path.
func (b *Body) Element(at string, i int) string {
	if b.Brackets {
		return at + "[" + strconv.Itoa(i) + "]"
	}
	return Under(at, strconv.Itoa(i))
}

// Elements calls each with the elements of a list; false if the value is no list.
func Elements(list []byte, each func(i int, value []byte)) bool {
	in := jsonread.Sound(list)
	if in.Peek() != '[' {
		return false
	}
	in.Open('[')
	for i := 0; in.More(']'); i++ {
		each(i, in.Value())
	}
	return true
}

// Text returns the text of a required member that is a string, and notes it otherwise.
func (b *Body) Text(values map[string][]byte, at, name string) []byte {
	value, ok := values[name]
	if !ok {
		b.Row(Under(at, name), "is required")
		return nil
	}
	said, ok := TextOf(value)
	if !ok {
		b.Row(Under(at, name), "must be a string")
	}
	return said
}

// Flag returns a member that is true or false; false without it.
func (b *Body) Flag(values map[string][]byte, at, name string) bool {
	switch string(values[name]) {
	case "true":
		return true
	case "false", "":
	default:
		b.Row(Under(at, name), "must be true or false")
	}
	return false
}

// Kind returns the member of an object that decides which others it may have; "" if it has none, which is noted unless
// the member may be absent.
func (b *Body) Kind(object []byte, at, name string, absent bool) (kind string, ok bool) {
	in := jsonread.Sound(object)
	if in.Peek() != '{' {
		b.Row(at, "must be an object")
		return "", false
	}
	values := map[string][]byte{}
	in.Open('{')
	for in.More('}') {
		if string(in.Name()) == name {
			values[name] = in.Value()
		} else {
			in.Skip()
		}
	}
	if value := values[name]; absent && (value == nil || string(value) == "null") {
		return "", true
	}
	said := b.Text(values, at, name)
	return string(said), said != nil
}

// TextOf returns the text of a JSON string, which shares memory with it unless it has escapes.
func TextOf(value []byte) (said []byte, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return nil, false
	}
	in := jsonread.Sound(value)
	_, said = in.Text()
	return said, true
}

// Copy writes a member under a name of the service's if the request has it.
func Copy(w *jsonwrite.Writer, values map[string][]byte, name, as string) {
	if value, ok := values[name]; ok {
		w.Name(as)
		w.JSON(value)
	}
}

// Under returns the path of a member of the value at a path.
func Under(at, name string) string {
	const most = 64 // bytes of a name that is said again
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	if at == "" {
		return name
	}
	return at + "." + name
}

// Invalid returns an INVALID_REQUEST of the rows, whose message tells the first three.
func Invalid(rows []fault.Detail) *fault.Error {
	const most = 3
	var said []string
	for _, d := range rows[:min(most, len(rows))] {
		said = append(said, d.Field+" "+d.Message)
	}
	message := strings.Join(said, "; ")
	if more := len(rows) - most; more > 0 {
		message += "; and " + strconv.Itoa(more) + " more"
	}
	return fault.New(fault.InvalidRequest, message).WithDetails(rows...)
}
