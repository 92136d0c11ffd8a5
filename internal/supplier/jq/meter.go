package jq

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"time"
)

// The bounds of one run.
const (
	// Steps is the most instructions: a thousand results of a dozen members take fifty thousand. Two million take a
	// quarter of a second.
	Steps = 2 << 20
	// Bytes bounds the sizes of all operands of operations that make larger values of them, together: a body of a
	// media value of 10 MiB in base64, put together once, takes 14 MiB.
	Bytes = 64 << 20
	// Depth is the most levels of a value that is compared, encoded or returned.
	Depth = 100

	// runTime bounds a run on a machine that is too busy for its steps.
	runTime = 20 * time.Second
	// timeSteps is how many steps pass between two looks at the clock.
	timeSteps = 1 << 12
	// digits is the most digits of a number that is calculated with.
	digits = 64
)

// The ends of a run that has met a bound.
var (
	ErrSteps = errors.New("the program takes too many steps")
	ErrBytes = errors.New("the program makes values that are too large")
	ErrTime  = errors.New("the program takes too long")
)

var (
	errDepth   = errors.New("a value is nested too deep")
	errNumber  = errors.New("only numbers of at most 64 digits can be calculated with")
	errKey     = errors.New("an index must be a text or a number")
	errForeign = errors.New("a value is none of JSON")
)

// Sizes of values in memory.
const (
	elementSize = 16
	memberSize  = 48
	pieceSize   = 32 // an element on the way through an iteration or a split
)

// meter counts the steps and bytes of one run, and is its context. It is used by one goroutine.
type meter struct {
	context.Context // of the caller
	until           time.Time
	steps, bytes    int64
	why             error // the end of the run, once it is overdrawn
}

func newMeter(ctx context.Context) *meter {
	return &meter{Context: ctx, until: time.Now().Add(runTime)}
}

// overdrawn is the channel of a context that has ended.
var overdrawn = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done is called before each instruction.
func (m *meter) Done() <-chan struct{} {
	if m.steps++; m.steps > Steps {
		m.end(ErrSteps)
	}
	if m.steps%timeSteps == 0 {
		if m.Context.Err() != nil || time.Now().After(m.until) {
			m.end(ErrTime)
		}
	}
	if m.why != nil {
		return overdrawn
	}
	return nil
}

// Err returns the reason for the end.
func (m *meter) Err() error { return m.why }

func (m *meter) end(why error) {
	if m.why == nil {
		m.why = why
	}
}

// charge takes n bytes.
func (m *meter) charge(n int64) error {
	if m.bytes += n; m.bytes > Bytes {
		m.end(ErrBytes)
	}
	return m.why
}

// shallow is the size of a value without those that it holds.
func shallow(v any) int64 {
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case []any:
		return elementSize * int64(len(v))
	case map[string]any:
		return memberSize * int64(len(v))
	default:
		return 1
	}
}

// deep charges the size of a value as a tree, weight times: one that is shared counts each time.
func (m *meter) deep(v any, weight int64, depth int) error {
	if depth > Depth {
		return errDepth
	}
	n := int64(elementSize)
	switch v := v.(type) {
	case nil, bool, int, float64:
	case *big.Int, json.Number:
		if !calculable(v) {
			return errNumber
		}
	case string:
		n += encodedSize(v)
	case []any:
		if err := m.charge(weight * n); err != nil {
			return err
		}
		for _, e := range v {
			if err := m.deep(e, weight, depth+1); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for name, e := range v {
			if err := m.charge(weight * (memberSize + encodedSize(name))); err != nil {
				return err
			}
			if err := m.deep(e, weight, depth+1); err != nil {
				return err
			}
		}
	default:
		return errForeign
	}
	return m.charge(weight * n)
}

// encodedSize is the most bytes of a text in JSON.
func encodedSize(s string) int64 {
	n := int64(len(s))
	for _, b := range []byte(s) {
		if b < ' ' || b == '"' || b == '\\' || b == 0x7f {
			n += 5
		}
	}
	return n
}

// calculable reports whether v is a number that takes no long arithmetic.
func calculable(v any) bool {
	switch v := v.(type) {
	case int, float64:
		return true
	case *big.Int:
		return v.BitLen() <= digits*3
	case json.Number:
		return len(v) <= digits
	default:
		return false
	}
}

// The classes of charges.
const (
	ofShallow = iota // the value's own size
	ofDeep           // its size as a tree
	ofNumber         // it must be a number
	ofKey            // it must be a number, a text or null
	ofShort          // if a text, one no longer than a number
	ofEach           // its elements
	ofJoin           // as a tree, and a separator for each element
	ofSplit          // the pieces between the separators
)

// account is the function that stands in front of metered operations: it charges its input, by class and weight, to
// the meter, and returns it. literal is a separator.
func account(v any, args []any) any {
	m, known := args[0].(*meter)
	class, weight, literal := args[1].(int), args[2].(int), args[3].(string)
	if !known {
		return errForeign
	}
	if err := m.account(v, class, int64(weight), literal); err != nil {
		return err
	}
	return v
}

func (m *meter) account(v any, class int, weight int64, literal string) error {
	text, isText := v.(string)
	switch class {
	case ofDeep:
		return m.deep(v, weight, 0)
	case ofNumber:
		if !calculable(v) {
			return errNumber
		}
	case ofKey:
		if !calculable(v) && !isText && v != nil {
			return errKey
		}
	case ofShort:
		if len(text) > digits {
			return errNumber
		}
	case ofEach:
		return m.charge(pieceSize * (1 + shallow(v)/elementSize))
	case ofJoin:
		if err := m.charge(shallow(v) / elementSize * int64(len(literal))); err != nil {
			return err
		}
		return m.deep(v, weight, 0)
	case ofSplit:
		return m.charge(int64(len(text)) + pieceSize*int64(strings.Count(text, literal)+1))
	default:
		if isNumber(v) && !calculable(v) {
			return errNumber
		}
		return m.charge(weight * shallow(v))
	}
	return nil
}

func isNumber(v any) bool {
	switch v.(type) {
	case *big.Int, json.Number:
		return true
	default:
		return false
	}
}
