// Package jsonread reads JSON from its beginning to its end in place, without reflection; only strings with escapes
// are copied. It takes any JSON, and says of strings and numbers whether they are written in canonical form (RFC
// 8785), for those who leave all else to a thorough way. It is for the few values that every task is read from; all
// else is a decoder's.
//
// Invariants: skipped values are JSON in valid UTF-8, no deeper than others. A Reader that fails stays so, and
// returns no more values. A value that is called canonical is; others may be canonical all the same. Whether a member
// is given twice is for its caller to know, or for Members.
package jsonread

// deepest is how deep arrays and objects may lie in one another, as with jsontext.
const deepest = 10_000

// Reader goes over one value. One goroutine uses it.
type Reader struct {
	in    []byte
	at    int
	depth int
	comma bool // is due before the next value
	tight bool // without white space
	bad   bool
}

// New returns a Reader of b, which must stay as it is meanwhile.
func New(b []byte) Reader { return Reader{in: b} }

// Tight returns a Reader of b that fails at white space, which canonical form doesn't have.
func Tight(b []byte) Reader { return Reader{in: b, tight: true} }

// Fail ends the reading: the next value isn't one that the caller can take.
func (r *Reader) Fail() { *r = Reader{bad: true} }

// Done reports whether the value was read to its end, and is the last.
func (r *Reader) Done() bool { return !r.bad && r.Peek() == 0 && r.at == len(r.in) && r.depth == 0 }

// Peek returns the byte that the next value begins with; 0: there is none.
func (r *Reader) Peek() byte {
	if r.at < len(r.in) && (r.in[r.at] > ' ' || r.tight) {
		return r.in[r.at]
	}
	return r.pastSpace()
}

func (r *Reader) pastSpace() byte {
	for ; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// Open enters an object or an array: '{' or '['.
func (r *Reader) Open(bracket byte) {
	if r.Peek() != bracket || r.depth == deepest {
		r.Fail()
		return
	}
	r.at++
	r.depth++
	r.comma = false
}

// More goes on to the next member or element; false: there is none, and bracket, '}' or ']', has been passed.
func (r *Reader) More(bracket byte) bool {
	c := r.Peek()
	switch {
	case r.comma && c == ',':
		r.at++
		r.comma = false
		if r.Peek() == bracket {
			r.Fail()
		}
	case c == bracket:
		r.at++
		r.depth--
		r.comma = true
		return false
	case r.comma:
		r.Fail()
	}
	return !r.bad
}

// Name reads the name of a member and returns it unescaped.
func (r *Reader) Name() []byte {
	raw, how := r.NameQuoted()
	return how.says(raw)
}

// NameQuoted passes over the name of a member and returns it as Quoted does.
func (r *Reader) NameQuoted() (raw []byte, how Spelling) {
	raw, how = r.Quoted()
	if r.Peek() != ':' {
		r.Fail()
		return nil, how
	}
	r.at++
	return raw, how
}

// Value passes over a value and returns it as it stands.
func (r *Reader) Value() []byte {
	r.Peek()
	from, in := r.at, r.in
	if r.Skip(); r.bad {
		return nil
	}
	return in[from:r.at]
}

// Skip passes over a value.
func (r *Reader) Skip() {
	switch c := r.Peek(); c {
	case '{':
		for r.Open(c); r.More('}'); r.Skip() {
			r.NameQuoted()
		}
	case '[':
		for r.Open(c); r.More(']'); r.Skip() {
		}
	case '"':
		r.Quoted()
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	default:
		n, _ := number(r.in[r.at:])
		r.pass(n)
	}
}

func (r *Reader) literal(word string) {
	if rest := r.in[r.at:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		r.Fail()
		return
	}
	r.pass(len(word))
}

// pass ends a value that is n bytes long; 0: it is none.
func (r *Reader) pass(n int) {
	if n == 0 {
		r.Fail()
		return
	}
	r.at += n
	r.comma = true
}
