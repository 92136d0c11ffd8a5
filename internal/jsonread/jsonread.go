// Package jsonread reads JSON from its beginning to its end where it stands, without reflection; nothing is
// copied but what escapes in a string say. It takes any JSON, not the canonical alone as package jsonscan does. It is for
// the few values that every task is read from; all else is a decoder's.
//
// Invariants: what is passed over is JSON in valid UTF-8, no deeper than elsewhere. A Reader that fails stays so, and
// gives nothing more. Whether a member is given twice is for its caller to know, or for Members.
package jsonread

// deepest is how deep arrays and objects may lie in one another, as with jsontext.
const deepest = 10_000

// Reader goes over one value. One goroutine uses it.
type Reader struct {
	in    []byte
	at    int
	depth int
	comma bool // is due before what comes next
	bad   bool
}

// New returns a Reader of b, which must stay as it is meanwhile.
func New(b []byte) Reader { return Reader{in: b} }

// Fail ends the reading: what comes isn't what the caller can take.
func (r *Reader) Fail() { *r = Reader{bad: true} }

// Done reports whether the value was read to its end, and nothing follows it.
func (r *Reader) Done() bool { return !r.bad && r.Peek() == 0 && r.at == len(r.in) && r.depth == 0 }

// Peek returns the byte that the next value begins with; 0: there is none.
func (r *Reader) Peek() byte {
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

// Name passes over the name of a member and returns it.
func (r *Reader) Name() []byte {
	_, name := r.Text()
	r.colon()
	return name
}

func (r *Reader) colon() {
	if r.Peek() != ':' {
		r.Fail()
		return
	}
	r.at++
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
			r.quoted()
			r.colon()
		}
	case '[':
		for r.Open(c); r.More(']'); r.Skip() {
		}
	case '"':
		r.quoted()
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	default:
		r.pass(number(r.in[r.at:]))
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

// number returns the length of the number that b begins with; 0: it is none.
func number(b []byte) int {
	n := 0
	if n < len(b) && b[n] == '-' {
		n++
	}
	whole := digits(b[n:])
	if whole == 0 || whole > 1 && b[n] == '0' {
		return 0
	}
	n += whole
	if n < len(b) && b[n] == '.' {
		part := digits(b[n+1:])
		if part == 0 {
			return 0
		}
		n += 1 + part
	}
	if n == len(b) || b[n] != 'e' && b[n] != 'E' {
		return n
	}
	n++
	if n < len(b) && (b[n] == '+' || b[n] == '-') {
		n++
	}
	exponent := digits(b[n:])
	if exponent == 0 {
		return 0
	}
	return n + exponent
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}
