package jsonread

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Spelling is how a string is written.
type Spelling struct {
	ASCII     bool // is all of it, as it stands
	Canonical bool // are its escapes, all of them of two characters
	spare     int  // bytes of its escapes beyond one for each
}

// Escaped reports whether something in it is.
func (s Spelling) Escaped() bool { return s.spare > 0 }

// Runes returns how many code points raw, a string of this spelling, stands for.
func (s Spelling) Runes(raw []byte) int {
	n := len(raw) - len(`""`) - s.spare
	if !s.ASCII {
		n -= following(raw)
	}
	return n
}

// says returns the value of raw, a string of this spelling.
func (s Spelling) says(raw []byte) []byte {
	switch {
	case raw == nil:
		return nil
	case s.Escaped():
		says, _ := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw) // it was found good
		return says
	default:
		return raw[1 : len(raw)-1]
	}
}

// Text reads a string and returns it as it stands, in its quotes, and its value.
func (r *Reader) Text() (raw, says []byte) {
	raw, how := r.Quoted()
	return raw, how.says(raw)
}

// Quoted passes over a string and returns it as it stands, in its quotes, and how it is written; nil: it is none.
func (r *Reader) Quoted() (raw []byte, how Spelling) {
	if r.Peek() != '"' {
		r.Fail()
		return nil, how
	}
	rest := r.in[r.at:]
	n, how := quoted(rest)
	r.pass(n)
	if n == 0 {
		return nil, how
	}
	return rest[:n], how
}

// stretch is how many bytes of a string are read before other goroutines have a turn: megabytes take milliseconds.
const stretch = 64 << 10

// quoted returns the length of the string that b begins with; 0: it is none.
func quoted(b []byte) (n int, how Spelling) {
	how = Spelling{ASCII: true, Canonical: true}
	end := min(len(b), stretch)
	for n = 1; ; {
		if n >= end && end < len(b) {
			runtime.Gosched()
			end = min(len(b), n+stretch)
		}
		plain, ascii := plainText(b[n:end])
		n, how.ASCII = n+plain, how.ASCII && ascii
		if n == end && end < len(b) {
			continue
		}
		if n == len(b) || b[n] < ' ' {
			return 0, Spelling{}
		}
		if b[n] == '"' {
			break
		}
		sized := escape(b[n:])
		if sized == 0 {
			return 0, Spelling{}
		}
		how.Canonical = how.Canonical && sized == 2 && b[n+1] != '/'
		n, how.spare = n+sized, how.spare+sized-1
	}
	if n++; !how.ASCII && !utf8.Valid(b[:n]) {
		return 0, Spelling{}
	}
	return n, how
}

// Eight bytes of one, and of the highest bit alone.
const each, high = 0x0101010101010101, 0x8080808080808080

// plainText returns how many bytes come before the first quote, backslash or control character, and whether
// they are ASCII.
func plainText(b []byte) (n int, ascii bool) {
	var all uint64
	for ; len(b)-n >= 8; n += 8 {
		v := binary.LittleEndian.Uint64(b[n:])
		quote, back := v^(each*'"'), v^(each*'\\')
		// The highest bit of a byte that is one of these, and maybe of some after it.
		if found := ((v-each*' ')&^v | (quote-each)&^quote | (back-each)&^back) & high; found != 0 {
			all |= v & (found ^ (found - 1)) // up to that bit, which the byte itself hasn't set
			return n + bits.TrailingZeros64(found)/8, all&high == 0
		}
		all |= v
	}
	for ; n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\'; n++ {
		all |= uint64(b[n])
	}
	return n, all&high == 0
}

// escape returns the length of the escape that b begins with, of both halves of one beyond 16 bits; 0: it is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	}
	switch first := unit(b); {
	case first < 0:
		return 0
	case !utf16.IsSurrogate(first):
		return 6
	case utf16.DecodeRune(first, unit(b[6:])) != utf8.RuneError:
		return 12
	default:
		return 0
	}
}

// unit returns the 16 bits that an escape stands for; -1: it is no such escape.
func unit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// following returns how many bytes of valid UTF-8 aren't a code point's first.
func following(b []byte) (n int) {
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		n += bits.OnesCount64(v &^ (v << 1) & high) // the highest bit is set, the one below isn't
	}
	for _, c := range b {
		if !utf8.RuneStart(c) {
			n++
		}
	}
	return n
}
