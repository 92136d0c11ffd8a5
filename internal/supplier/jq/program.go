package jq

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/itchyny/gojq"
)

// programBytes is the most bytes of a program's text.
const programBytes = 16 << 10

// Program is a compiled program. It is immutable and safe for concurrent use.
type Program struct {
	code   *gojq.Code
	used   map[string]bool // names of members, texts and variables
	whole  map[string]bool // names of members that it takes as they are
	errors []string        // that it may end with
}

// Error is the end of a run by the program's own error, whose text stands in the program.
type Error struct{ Text string }

// Error implements error.
func (e *Error) Error() string { return e.Text }

var (
	errNone    = errors.New("the program gives no result")
	errSeveral = errors.New("the program gives more than one result")
)

// Compile checks and compiles a program that may use the variables, which are named as in "$status".
func Compile(text string, variables ...string) (*Program, error) {
	if len(text) > programBytes {
		return nil, fmt.Errorf("is longer than %d bytes", programBytes)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("is no jq program: %w", err)
	}
	r := rewriter{known: map[string]bool{}, used: map[string]bool{}, whole: map[string]bool{}}
	for _, name := range variables {
		r.known[name] = true
	}
	if query = r.query(query); r.err != nil {
		return nil, r.err
	}
	code, err := gojq.Compile(query,
		gojq.WithVariables(append([]string{meterName}, variables...)), gojq.WithFunction(accountName, accountArguments, accountArguments, account))
	if err != nil {
		return nil, fmt.Errorf("is no jq program: %w", err)
	}
	return &Program{code, r.used, r.whole, r.errors}, nil
}

// Uses reports whether the program names a member, a text or, as "$name", a variable.
func (p *Program) Uses(name string) bool { return p.used[name] }

// Names returns the names that the program uses, in no order.
func (p *Program) Names() iter.Seq[string] { return maps.Keys(p.used) }

// Whole reports whether the program takes a member of this name as it is, with all that it holds.
func (p *Program) Whole(name string) bool { return p.whole[name] }

// Errors returns the texts of the errors that the program may end with, sorted.
func (p *Program) Errors() []string {
	return slices.Compact(slices.Sorted(slices.Values(p.errors)))
}

// Run returns the program's one result on input, a value as Decode makes it, with the values of its variables in
// order. Neither changes. The error is an *Error, or says in fixed words how the run went wrong.
func (p *Program) Run(ctx context.Context, input any, values ...any) (result any, err error) {
	m := newMeter(ctx)
	defer func() {
		if recover() != nil { // of gojq's own faults no caller is told
			result, err = nil, errors.New("the program broke the interpreter")
		}
	}()
	results := p.code.RunWithContext(m, input, append([]any{m}, values...)...)
	result, more := results.Next()
	if err := p.failure(m, result); err != nil {
		return nil, err
	}
	if !more {
		return nil, errNone
	}
	if err := m.deep(result, 1, 0); err != nil {
		return nil, err
	}
	second, more := results.Next()
	if err := p.failure(m, second); err != nil {
		return nil, err
	}
	if more {
		return nil, errSeveral
	}
	return result, nil
}

// failure returns the error that stands in the place of a result; nil if the result is none.
func (p *Program) failure(m *meter, result any) error {
	err, failed := result.(error)
	if m.why != nil {
		return m.why
	}
	if !failed {
		return nil
	}
	if own, ok := errors.AsType[gojq.ValueError](err); ok {
		if text, ok := own.Value().(string); ok && slices.Contains(p.errors, text) {
			return &Error{text}
		}
	}
	for _, known := range []error{errNumber, errKey, errDepth, errForeign} {
		if errors.Is(err, known) {
			return known
		}
	}
	return fmt.Errorf("the program failed (%T)", err) // its text would quote values
}
