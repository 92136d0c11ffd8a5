package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/catalog/fastlane"
	"unitask/internal/fault"
)

const (
	maxNesting = 1_000   // how deep a body is read; a hard bound beside Limits.Depth
	maxTokens  = 1 << 15 // names and values of one body, so that a hostile one can't multiply in memory
	maxRows    = 20      // details rows of one error
)

var errTrailing = errors.New("data after the value")

// Decode reads a creation body strictly. Problems are INVALID_REQUEST and are reported in this
// order: syntax (UTF-8 and lone surrogates included), duplicate members, depth, top-level members with the metadata's,
// numbers. Reading stops at too many names and values, so that refusing such a body is cheap. Input
// and Parameters of the result don't share memory with body.
func Decode(body []byte, lim Limits) (Request, *fault.Error) {
	if r, ok := decodeFast(body, lim); ok {
		return r, nil
	}
	return decodeGeneral(body, lim)
}

func decodeFast(body []byte, lim Limits) (Request, bool) {
	fast, ok := fastlane.Decode(body, lim.Depth, maxTokens)
	if ok && fast.Parameters == nil {
		fast.Parameters = []byte("{}")
	}
	r := Request{Capability: Name(fast.Capability), Input: fast.Input, Parameters: fast.Parameters, Base64: fast.Base64}
	if fast.Metadata != nil {
		var problems []fault.Detail
		if r.Metadata, problems = metadataOf(fast.Metadata); len(problems) > 0 {
			return Request{}, false
		}
	}
	return r, ok
}

// decodeGeneral is Decode without the fast lane.
func decodeGeneral(body []byte, lim Limits) (Request, *fault.Error) {
	d := decoders.Get().(*jsontext.Decoder)
	if len(body) <= maxPooled {
		defer decoders.Put(d)
	}
	s := scanBody(d, body, lim)
	if errors.Is(s.err, jsontext.ErrDuplicateName) {
		rest := scanBody(d, body, lim, jsontext.AllowDuplicateNames(true))
		if rest.err == nil {
			return Request{}, fault.Invalid(pointerField(errorPointer(s.err)), "is given more than once")
		}
		s = rest // broken syntax behind the duplicate goes first
	}
	if f := s.fault(); f != nil {
		return Request{}, f
	}
	return s.request()
}

// CheckJSON finds what Decode refuses in any body, whatever its members are: syntax, duplicate members, depth, numbers
// and too many names and values.
func CheckJSON(body []byte, lim Limits) *fault.Error {
	d := decoders.Get().(*jsontext.Decoder)
	if len(body) <= maxPooled {
		defer decoders.Put(d)
	}
	s := scanBody(d, body, lim)
	if errors.Is(s.err, jsontext.ErrDuplicateName) {
		return fault.Invalid(pointerField(errorPointer(s.err)), "is given more than once")
	}
	if f := s.soundness(); f != nil {
		return f
	}
	if len(s.numbers) > 0 {
		return invalidRows(s.numbers)
	}
	return nil
}

// scan is one pass over a body: it stops at the first syntax error, and collects all other problems.
type scan struct {
	dec     *jsontext.Decoder
	body    []byte
	err     error
	limit   int // of nesting
	tooDeep string
	tokens  int
	numbers []fault.Detail
	top     topLevel
}

// decoders is the pool of decoders. Each refers to the body that it read last, so that those of large bodies stay out.
var decoders = sync.Pool{New: func() any { return jsontext.NewDecoder(bytes.NewBuffer(nil)) }}

const maxPooled = 64 << 10 // bytes of a body

func scanBody(d *jsontext.Decoder, body []byte, lim Limits, opts ...jsontext.Options) *scan {
	d.Reset(bytes.NewBuffer(body), opts...)
	s := &scan{dec: d, body: body, limit: lim.Depth}
	if s.limit <= 0 || s.limit > maxNesting {
		s.limit = maxNesting
	}
	s.err = s.run()
	return s
}

func (s *scan) run() error {
	for {
		tok, err := s.dec.ReadToken()
		if err != nil {
			return err
		}
		s.take(tok)
		depth := s.dec.StackDepth()
		if s.tokens > maxTokens || depth > maxNesting {
			return nil
		}
		if depth == 0 {
			break
		}
	}
	switch _, err := s.dec.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return errTrailing
	}
}

func (s *scan) take(tok jsontext.Token) {
	s.tokens++
	depth := s.dec.StackDepth()
	switch tok.Kind() {
	case '{', '[':
		if depth > s.limit && s.tooDeep == "" {
			s.tooDeep = pointerField(s.dec.StackPointer())
		}
	case '0':
		if problem := numberProblem(tok.String()); problem != "" && len(s.numbers) < maxRows {
			s.numbers = append(s.numbers, fault.Detail{Field: pointerField(s.dec.StackPointer()), Message: problem})
		}
	}
	switch depth {
	case 0:
		s.top.object = tok.Kind() == '}'
	case 1:
		s.takeMember(tok)
	}
}

// takeMember records a name, or the end of a value, of the top level.
func (s *scan) takeMember(tok jsontext.Token) {
	switch parent, n := s.dec.StackIndex(1); {
	case parent != '{' || n == 0:
	case n%2 == 1:
		s.top.last, s.top.start = tok.String(), s.dec.InputOffset()
	default:
		s.top.value(tok, s.body, s.dec.InputOffset())
	}
}

func (s *scan) fault() *fault.Error {
	if f := s.soundness(); f != nil {
		return f
	}
	if rows := s.top.rows(); len(rows) > 0 {
		return invalidRows(rows)
	}
	if len(s.numbers) > 0 {
		return invalidRows(s.numbers)
	}
	return nil
}

// soundness returns what is wrong with the body as JSON.
func (s *scan) soundness() *fault.Error {
	switch {
	case s.err != nil:
		return fault.Invalid(bodyField, s.syntaxProblem())
	case s.tooDeep != "":
		return fault.Invalid(s.tooDeep, fmt.Sprintf("is nested too deeply; at most %d levels are allowed", s.limit))
	case s.tokens > maxTokens:
		return fault.Invalid(bodyField, fmt.Sprintf("has too many values; at most %d names and values are allowed", maxTokens))
	}
	return nil
}

// syntaxProblem returns the position of the syntax error, without a byte of the body.
func (s *scan) syntaxProblem() string {
	switch {
	case !utf8.Valid(s.body):
		return "is not valid UTF-8"
	case errors.Is(s.err, io.ErrUnexpectedEOF):
		return "is not valid JSON: it ends too early"
	case errors.Is(s.err, io.EOF):
		return "is empty; a JSON object is needed"
	case errors.Is(s.err, errTrailing):
		return "is not valid JSON: more data follows the object"
	}
	at := s.dec.InputOffset()
	if e, ok := errors.AsType[*jsontext.SyntacticError](s.err); ok {
		at = e.ByteOffset
	}
	before := s.body[:min(at, int64(len(s.body)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("is not valid JSON (line %d, column %d)", line, column)
}

func (s *scan) request() (Request, *fault.Error) {
	r := Request{Capability: Name(s.top.capability)}
	var err error
	if r.Input, err = canonical(s.top.input); err != nil {
		return Request{}, fault.From(err)
	}
	if r.Parameters, err = canonical(s.top.parameters); err != nil {
		return Request{}, fault.From(err)
	}
	if s.top.metadata != nil {
		r.Metadata, _ = metadataOf(s.top.metadata) // rows has looked at it
	}
	return r, nil
}

// canonical returns raw in the form of RFC 8785; an absent value is the empty object.
func canonical(raw []byte) (json.RawMessage, error) {
	if raw == nil {
		return json.RawMessage("{}"), nil
	}
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return json.RawMessage(v), nil
}

func errorPointer(err error) jsontext.Pointer {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return e.JSONPointer
	}
	return ""
}
