package httpmap

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"path"
	"strings"

	"unitask/internal/bulk"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/jq"
	"unitask/internal/supplier/upstream"
)

var (
	errNoJSON = errors.New("the answer isn't JSON")
	errBytes  = errors.New("the answer isn't of the type that the map says")
	errLacks  = errors.New("the answer lacks a member of the output")
	errOutput = errors.New("the program of the output gives no object with files as it should have them")
)

// source is an answer as programs read it.
type source struct {
	answer     upstream.Answer
	value      any
	parameters any
}

// read decodes an answer of success, or returns the error that it hides.
func (p *plan) read(answer upstream.Answer, parameters any) (source, error) {
	s := source{answer: answer, parameters: parameters}
	var err error
	if s.value, err = decode(answer.Body); err != nil {
		return s, upstream.Unusable(answer.Status, errNoJSON)
	}
	if body, is := s.value.(map[string]any); is && (body["error"] != nil || body["object"] == "error") {
		return s, p.format.Problem(answer, upstream.Envelope{Object: "error"}, nil)
	}
	return s, nil
}

func decode(body []byte) (any, error) {
	defer bulk.Turn(len(body))()
	return jq.Decode(body)
}

// run runs a program on the answer.
func (s source) run(ctx context.Context, program *jq.Program) (any, error) {
	defer bulk.Turn(len(s.answer.Body))()
	headers := map[string]any{}
	if program.Uses(theHeaders) {
		for name := range program.Names() {
			if value := s.answer.Header.Get(name); value != "" {
				headers[name] = value
			}
		}
	}
	return program.Run(ctx, s.value, s.answer.Status, headers, s.parameters)
}

// finish makes the result of the answer that holds it.
func (p *plan) finish(ctx context.Context, answer upstream.Answer, parameters any) (supplier.Outcome, error) {
	var s source
	var own *supplier.File
	var err error
	if p.answer == "" {
		s, err = p.read(answer, parameters)
	} else {
		own, s, err = p.readBytes(answer, parameters)
	}
	if err != nil {
		return supplier.Outcome{}, err
	}
	return p.result(ctx, s, own)
}

// result makes the result of an answer that was read. own is the file that the answer itself is.
func (p *plan) result(ctx context.Context, s source, own *supplier.File) (supplier.Outcome, error) {
	v, err := s.run(ctx, p.output)
	if err != nil {
		return supplier.Outcome{}, ended(s.answer, err)
	}
	f := files{own: own}
	v, ok := f.take(v)
	object, is := v.(map[string]any)
	if !ok || !is || len(object) == 0 {
		return supplier.Outcome{}, upstream.Unusable(s.answer.Status, errOutput)
	}
	for _, member := range object {
		if member == nil { // as jq reads a member that the answer doesn't have
			return supplier.Outcome{}, upstream.Unusable(s.answer.Status, errLacks)
		}
	}
	data, err := jq.Encode(object)
	if err != nil {
		return supplier.Outcome{}, upstream.Unusable(s.answer.Status, errOutput)
	}
	return supplier.Outcome{Result: &supplier.Result{Files: f.all, Data: json.RawMessage(data), Usage: p.measure(ctx, s)}}, nil
}

// readBytes takes an answer of bytes, if it says that it is of the map's type.
func (p *plan) readBytes(answer upstream.Answer, parameters any) (*supplier.File, source, error) {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if fits, err := path.Match(p.answer, kind); err == nil && fits && len(answer.Body) > 0 {
		own := &supplier.File{ContentType: kind, Data: answer.Body}
		return own, source{answer: answer, value: map[string]any{fileAddress: itself, mediaType: kind}, parameters: parameters}, nil
	}
	if _, err := p.read(answer, parameters); err != nil {
		return nil, source{}, err
	}
	return nil, source{}, upstream.Unusable(answer.Status, errBytes)
}

// ended is the end of a program on an answer of success. A code of the program's own is definite, but for a timeout.
func ended(answer upstream.Answer, err error) error {
	own, is := errors.AsType[*jq.Error](err)
	if !is {
		return upstream.Unusable(answer.Status, err)
	}
	code, sent := fault.Code(own.Text), supplier.Refused
	if code == fault.ProviderTimeout {
		sent = supplier.Unknown
	}
	e := upstream.Failure(sent, code, errors.New("the map says so of the answer"))
	e.Status = answer.Status
	e.Request = code == fault.ContentPolicyViolation || code == fault.InvalidRequest
	return e
}

// judge gives an error that matches a rule of the map the rule's code.
func (p *plan) judge(a upstream.Answer, e *supplier.Error) {
	r, found := p.ruleFor(a)
	if !found {
		return
	}
	if a.OK() && r.Code != fault.ProviderTimeout {
		e.Sent = supplier.Refused
	}
	e.Fault, e.Operator = upstream.Failure(e.Sent, r.Code, nil).Fault, r.Operator
	e.Request = !r.Operator && (e.Request || r.Code == fault.ContentPolicyViolation || r.Code == fault.InvalidRequest)
}

// ruleFor returns the first rule that matches an answer.
func (p *plan) ruleFor(a upstream.Answer) (rule, bool) {
	for _, r := range p.errors {
		if (r.Status == 0 || r.Status == a.Status) && (r.match == nil || r.match.Match(a.Body[:min(len(a.Body), matched)])) {
			return r, true
		}
	}
	return rule{}, false
}

// matched is how many bytes of an answer rules look at.
const matched = 64 << 10

// The members of a file in an output, and the address of the answer itself.
const (
	fileAddress  = "file"
	itself       = "answer:"
	mostFiles    = 256
	mostSeconds  = 1e6
	mostSide     = 1 << 20 // pixels
	artifactName = "artifact"
)

// files are those of one output.
type files struct {
	own *supplier.File
	all []supplier.File
}

// take returns v with a reference in the place of each file; false if a file, or a reference that isn't ours, is wrong.
func (f *files) take(v any) (any, bool) {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var ok bool
			if out[i], ok = f.take(e); !ok {
				return nil, false
			}
		}
		return out, true
	case map[string]any:
		if _, is := v[fileAddress]; is {
			return f.file(v)
		}
		if _, is := v[artifactName]; is && len(v) == 1 {
			return nil, false // it would pass for a file of ours
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			var ok bool
			if out[name], ok = f.take(e); !ok {
				return nil, false
			}
		}
		return out, true
	default:
		return v, true
	}
}

// file takes one file: {"file": address, …}.
func (f *files) file(v map[string]any) (any, bool) {
	address, _ := v[fileAddress].(string)
	var one supplier.File
	ok := false
	if address == itself && f.own != nil {
		one, ok = *f.own, true
	} else if !strings.HasPrefix(address, itself) {
		one, ok = upstream.File(address)
	}
	for name, member := range v {
		n, _ := jq.Number(member)
		text, _ := member.(string)
		switch name {
		case fileAddress:
		case mediaType:
			if one.ContentType == "" {
				one.ContentType = text
			}
		case "width":
			one.Width = int(within(n, mostSide))
		case "height":
			one.Height = int(within(n, mostSide))
		case "duration_seconds":
			one.Duration = within(n, mostSeconds)
		default:
			return nil, false
		}
	}
	if !ok || len(f.all) == mostFiles {
		return nil, false
	}
	f.all = append(f.all, one)
	return map[string]any{artifactName: len(f.all) - 1}, true
}

// within returns n, 0 if it is out of range.
func within(n, most float64) float64 {
	if n >= 0 && n <= most {
		return n
	}
	return 0
}
