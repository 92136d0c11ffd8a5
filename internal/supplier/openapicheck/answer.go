package openapicheck

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Answer validates a successful answer to an operation by the document: JSON whole, each of an event stream's events
// on its own. Answers of bytes are as they are.
func (d *Document) Answer(name string, status int, contentType string, body []byte) error {
	i := slices.IndexFunc(d.operations, func(o *operation) bool { return o.name == name })
	if i < 0 {
		return fmt.Errorf("the document has no operation %s", name)
	}
	answers, ok := d.operations[i].answers[strconv.Itoa(status)]
	if !ok {
		return fmt.Errorf("%s: no answer of status %d", name, status)
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("%s: an answer of type %q", name, contentType)
	}
	p, known := answers[media]
	switch {
	case !known && (media == jsonType || media == eventType):
		return fmt.Errorf("%s: no answer of type %s", name, media)
	case media == jsonType:
		err = p.json("the answer", body)
	case media == eventType:
		err = p.events(body)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (p *location) json(what string, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return p.check(what, value)
}

// events checks the data of each event but for the mark that some formats end with.
func (p *location) events(stream []byte) error {
	var problems []error
	n := 0
	for line := range strings.Lines(string(stream)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if data = strings.TrimSpace(data); ok && data != "[DONE]" {
			n++
			problems = append(problems, p.json("event "+strconv.Itoa(n), []byte(data)))
		}
	}
	if n == 0 {
		return errors.New("the stream has no events")
	}
	return errors.Join(problems...)
}

// check holds a value against the schema. The error names each member that is at fault.
func (p *location) check(what string, value any) error {
	err := p.schema.Validate(value)
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	all := faults(invalid)
	// A failed schema lists no members, and so all of them seem unlisted: other faults, and deeper ones, are the
	// cause.
	unlisted := 0
	for _, f := range all {
		unlisted = max(unlisted, f.unlisted)
		if f.unlisted == 0 {
			unlisted = 0
			break
		}
	}
	var texts []string
	for _, f := range all {
		if f.unlisted == unlisted && !slices.Contains(texts, f.text) {
			texts = append(texts, f.text)
		}
	}
	return fmt.Errorf("%s: %s", what, strings.Join(texts, "; "))
}

type fault struct {
	text     string
	unlisted int  // of a member that no schema lists, how deep it is; 0: another fault
	other    bool // a word that is another's: a type that names another branch
}

// distance returns how far off a branch is: one of another name is no mistaken one.
func distance(all []fault) int {
	const foreign = 1000
	n := len(all)
	for _, f := range all {
		if f.other {
			n += foreign
		}
	}
	return n
}

// faults returns those at which a validation ended; of a choice, those of the branch that came closest.
func faults(e *jsonschema.ValidationError) []fault {
	var all []fault
	switch e.ErrorKind.(type) {
	case *kind.FalseSchema:
		return []fault{{text: "at '/" + strings.Join(e.InstanceLocation, "/") + "': the document has no such member", unlisted: len(e.InstanceLocation)}}
	case *kind.Const, *kind.Enum:
		return []fault{{text: e.Error(), other: true}}
	case *kind.AnyOf:
		for _, cause := range e.Causes {
			if of := faults(cause); all == nil || distance(of) < distance(all) {
				all = of
			}
		}
	default:
		for _, cause := range e.Causes {
			all = append(all, faults(cause)...)
		}
	}
	if all == nil {
		return []fault{{text: e.Error()}}
	}
	return all
}
