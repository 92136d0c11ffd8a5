package openai

import (
	"bytes"
	"encoding/base64"
	"strings"

	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/door/inbound"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

// Link returns the address of a result file.
type Link func(task.Artifact) string

// Answer is the answer to a call of media: its pieces, one after the other.
type Answer struct {
	ContentType string
	Pieces      []Piece
}

// Piece is a text, or the bytes of a result file.
type Piece struct {
	Text   []byte
	File   *task.Artifact // nil: Text is the piece
	Base64 bool           // File's bytes are written in base64
}

// Size returns how many bytes the piece is.
func (p Piece) Size() int64 {
	switch {
	case p.File == nil:
		return int64(len(p.Text))
	case p.Base64:
		return (p.File.Bytes + 2) / 3 * 4
	default:
		return p.File.Bytes
	}
}

const (
	typeJSON  = "application/json; charset=utf-8"
	typePlain = "text/plain; charset=utf-8"
)

// HasAnswer reports whether Answer has the answer to the call; else Write has it.
func (c *Call) HasAnswer() bool { return c.answer != nil }

// Answer returns the answer that a task which succeeded is.
func (c *Call) Answer(t *task.Task, link Link) (Answer, error) { return c.answer(c, t, link) }

// filesOf returns the files of a task's result whose types begin alike, in their order.
func filesOf(t *task.Task, kind string) (all []task.Artifact) {
	for _, a := range t.Output.Artifacts() {
		if strings.HasPrefix(a.ContentType, kind) {
			all = append(all, a)
		}
	}
	return all
}

// inJSON is an answer of one text in JSON.
func inJSON(w *jsonwrite.Writer) (Answer, error) {
	w.Raw('\n')
	raw, err := w.Bytes()
	return Answer{typeJSON, []Piece{{Text: raw}}}, err
}

// creation returns the body of a task's creation of about size bytes.
func creation(model string, size int, input, parameters func(w *jsonwrite.Writer)) []byte {
	w := jsonwrite.New(size + len(model) + 1<<9)
	w.Begin('{')
	w.Name(catalog.GroupInput)
	w.Begin('{')
	input(w)
	w.End('}')
	w.Name(catalog.GroupParameters)
	w.Begin('{')
	parameters(w)
	w.End('}')
	w.Name(memberCapability)
	w.String(model)
	w.End('}')
	whole, _ := w.Bytes() // it has no number, which alone can fail
	return whole
}

// model returns the model that a request names; without one the capability itself.
func (r *request) model(base catalog.Name) string {
	if _, ok := r.values[fieldModel]; !ok {
		return string(base)
	}
	return string(r.Text(r.values, "", fieldModel))
}

// unless writes a member under a name of the service's, unless it has one of the values, in JSON, that say no more than
// its absence.
func unless(w *jsonwrite.Writer, values map[string][]byte, name, as string, absent ...string) {
	for _, value := range absent {
		if string(values[name]) == value {
			return
		}
	}
	inbound.Copy(w, values, name, as)
}

// upload writes a media value of a form's file. Its type is what its bytes prove, else what the caller says.
func (r *request) upload(w *jsonwrite.Writer, kind string, p part, at string) {
	said := p.kind
	if proven := artifact.Sniff(p.data); proven != "" {
		said = proven
	} else if !strings.HasPrefix(said, kind+"/") {
		r.Row(at, "is of no known type")
	}
	if len(p.data) == 0 {
		r.Row(at, "must not be empty")
	}
	w.Begin('{')
	w.Name("data")
	w.Text(func(to []byte) ([]byte, error) { return base64.StdEncoding.AppendEncode(to, p.data), nil })
	w.Name("content_type")
	w.String(said)
	w.End('}')
}

// uploaded returns about how many bytes the files take in a creation.
func (r *request) uploaded() int {
	const around = 64 // bytes of a media value beside its data
	n := 0
	for _, all := range r.files {
		for _, p := range all {
			n += base64.StdEncoding.EncodedLen(len(p.data)) + around
		}
	}
	for _, value := range r.values {
		n += len(value)
	}
	return n
}

// quoted reports whether a value is the text.
func quoted(value []byte, text string) bool {
	return len(value) == len(text)+2 && bytes.Equal(value[1:len(value)-1], []byte(text))
}
