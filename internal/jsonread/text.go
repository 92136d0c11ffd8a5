package jsonread

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Text passes over a string and returns it as it stands, in its quotes, and what it says.
func (r *Reader) Text() (raw, says []byte) {
	raw, escaped := r.quoted()
	if raw == nil {
		return nil, nil
	}
	if says = raw[1 : len(raw)-1]; escaped {
		says, _ = jsontext.AppendUnquote(make([]byte, 0, len(says)), raw) // quoted has found it good
	}
	return raw, says
}

// quoted passes over a string and returns it as it stands; nil: it is none.
func (r *Reader) quoted() (raw []byte, escaped bool) {
	if r.Peek() != '"' {
		r.Fail()
		return nil, false
	}
	n, ascii := 1, true
	for rest := r.in[r.at:]; ; {
		plain, only := plainText(rest[n:])
		n, ascii = n+plain, ascii && only
		if n == len(rest) || rest[n] < ' ' {
			break
		}
		if rest[n] == '"' {
			raw = rest[:n+1]
			break
		}
		sized := escape(rest[n:])
		if sized == 0 {
			break
		}
		n, escaped = n+sized, true
	}
	if raw == nil || !ascii && !utf8.Valid(raw) {
		r.Fail()
		return nil, false
	}
	r.pass(len(raw))
	return raw, escaped
}

// plainText returns how many bytes come before the first quote, backslash or control character. only says
// that they are ASCII; it may be false for the sake of a byte that follows.
func plainText(b []byte) (n int, only bool) {
	const each, high = 0x0101010101010101, 0x8080808080808080
	var all uint64
	for ; len(b)-n >= 8; n += 8 {
		v := binary.LittleEndian.Uint64(b[n:])
		all |= v
		quote, back := v^(each*'"'), v^(each*'\\')
		// The highest bit of a byte that is one of these, and maybe of some after it.
		if found := ((v-each*' ')&^v | (quote-each)&^quote | (back-each)&^back) & high; found != 0 {
			return n + bits.TrailingZeros64(found)/8, all&high == 0
		}
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
