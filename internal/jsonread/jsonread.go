// Package jsonread reads JSON in place, in one pass and without reflection; only strings with escapes
// are copied. It takes any JSON, and reports whether strings and numbers are in canonical form
// (RFC 8785), for fast lanes that leave all others to a decoder. It serves the few values that every
// task is read from; a decoder reads all others.
//
// Invariants: each value read is JSON in valid UTF-8, no deeper than jsontext allows. A Reader that fails
// stays failed and returns no more values. A string or number reported as canonical is canonical; others
// may be too. Only Members detects duplicate members.
package jsonread

import "sort"

// maxNesting is how deep arrays and objects may be nested, as in jsontext.
const maxNesting = 10_000

// Reader reads one value. It is for one goroutine.
type Reader struct {
	in       []byte
	pos      int
	depth    int
	maxDepth int
	comma    bool // the next value or name needs one before it
	compact  bool
	sound    bool // its strings need no check
	failed   bool
	base64   [][]byte // strings in it that were read before (see Spelling.Base64)
}

// New returns a Reader of b, which must not change meanwhile.
func New(b []byte) Reader { return Reader{in: b, maxDepth: maxNesting} }

// Compact returns a Reader of b that fails at white space, as canonical form has none.
func Compact(b []byte) Reader { return Reader{in: b, maxDepth: maxNesting, compact: true} }

// Passing returns the Reader with strings of one piece of memory that were read before, in their order and without their
// quotes: the texts of Spelling.Base64. Where one of them stands in the Reader's own memory, it is passed over without a
// look at its bytes, which are megabytes of a picture; a copy elsewhere is read as ever.
func (r Reader) Passing(base64 [][]byte) Reader {
	ahead := sort.Search(len(base64), func(i int) bool { return cap(base64[i]) < cap(r.in) })
	r.base64 = base64[ahead:]
	return r
}

// Sound returns a Reader of b, which is known to be JSON in valid UTF-8, as a decoded request is: long strings are
// passed over without a look at each byte, and don't count as ASCII. It reads another b as New would, but takes strings
// that aren't sound.
func Sound(b []byte) Reader { return Reader{in: b, maxDepth: maxNesting, sound: true} }

// MaxDepth returns the Reader with another limit: it fails at an array or object in more than n-1 others.
func (r Reader) MaxDepth(n int) Reader {
	r.maxDepth = n
	return r
}

// Fail makes the Reader fail: the caller can't take the next value.
func (r *Reader) Fail() { *r = Reader{failed: true} }

// Done reports whether the value was read to the end of the input.
func (r *Reader) Done() bool { return !r.failed && r.Peek() == 0 && r.pos == len(r.in) && r.depth == 0 }

// Peek returns the first byte of the next token, or 0 at the end.
func (r *Reader) Peek() byte {
	if r.pos < len(r.in) && (r.in[r.pos] > ' ' || r.compact) {
		return r.in[r.pos]
	}
	return r.skipSpace()
}

func (r *Reader) skipSpace() byte {
	for ; r.pos < len(r.in); r.pos++ {
		switch c := r.in[r.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// Open reads the beginning of an object or an array: '{' or '['.
func (r *Reader) Open(bracket byte) {
	if r.Peek() != bracket || r.depth == r.maxDepth {
		r.Fail()
		return
	}
	r.pos++
	r.depth++
	r.comma = false
}

// More reports whether another member or element follows. If not, it reads the bracket, '}' or ']'.
func (r *Reader) More(bracket byte) bool {
	c := r.Peek()
	switch {
	case r.comma && c == ',':
		r.pos++
		r.comma = false
		if r.Peek() == bracket {
			r.Fail()
		}
	case c == bracket:
		r.pos++
		r.depth--
		r.comma = true
		return false
	case r.comma:
		r.Fail()
	}
	return !r.failed
}

// Name reads the name of a member.
func (r *Reader) Name() []byte {
	raw, spelling := r.NameQuoted()
	return spelling.Unquote(raw)
}

// NameQuoted reads the name of a member and returns it as Quoted does.
func (r *Reader) NameQuoted() (raw []byte, spelling Spelling) {
	raw, spelling = r.Quoted()
	if r.Peek() != ':' {
		r.Fail()
		return nil, spelling
	}
	r.pos++
	return raw, spelling
}

// Value reads a value and returns it unchanged.
func (r *Reader) Value() []byte {
	r.Peek()
	from, in := r.pos, r.in
	if r.Skip(); r.failed {
		return nil
	}
	return in[from:r.pos]
}

// Pos returns how many bytes were read.
func (r *Reader) Pos() int { return r.pos }

// Skip reads a value.
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
		n, _ := number(r.in[r.pos:])
		r.advance(n)
	}
}

func (r *Reader) literal(text string) {
	if rest := r.in[r.pos:]; len(rest) < len(text) || string(rest[:len(text)]) != text {
		r.Fail()
		return
	}
	r.advance(len(text))
}

// advance ends a value of n bytes; 0 is a failure.
func (r *Reader) advance(n int) {
	if n == 0 {
		r.Fail()
		return
	}
	r.pos += n
	r.comma = true
}
