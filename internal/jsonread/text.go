package jsonread

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"runtime"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Spelling describes how a string is written.
type Spelling struct {
	ASCII     bool // all of its bytes are ASCII
	Canonical bool // it has only two-character escapes of canonical form
	Base64    bool // it is long, and padded base64 of the standard alphabet but for stray bits; others may be too
	surplus   int  // bytes of its escapes beyond one for each
}

// Escaped reports whether the string has escapes.
func (s Spelling) Escaped() bool { return s.surplus > 0 }

// Runes returns the number of code points of raw, a string of this spelling.
func (s Spelling) Runes(raw []byte) int {
	n := len(raw) - len(`""`) - s.surplus
	if !s.ASCII {
		n -= continuationBytes(raw)
	}
	return n
}

// Unquote returns the text of raw, a string of this spelling: a part of raw unless it has escapes.
func (s Spelling) Unquote(raw []byte) []byte {
	switch {
	case raw == nil:
		return nil
	case s.Escaped():
		text, _ := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw) // raw has been checked
		return text
	default:
		return raw[1 : len(raw)-1]
	}
}

// Text reads a string and returns it in its quotes, and unquoted.
func (r *Reader) Text() (raw, text []byte) {
	raw, spelling := r.Quoted()
	return raw, spelling.Unquote(raw)
}

// Quoted reads a string and returns it in its quotes, or nil if the next value isn't a string.
func (r *Reader) Quoted() (raw []byte, spelling Spelling) {
	if r.Peek() != '"' {
		r.Fail()
		return nil, spelling
	}
	rest := r.in[r.pos:]
	n, spelling := r.readBefore()
	if n == 0 && !r.sound {
		n, spelling = inBase64(rest)
	}
	if n == 0 {
		n, spelling = quoted(rest, r.sound)
	}
	r.advance(n)
	if n == 0 {
		return nil, spelling
	}
	return rest[:n], spelling
}

// yieldEvery is how many bytes of a string are read before the goroutine yields: megabytes take milliseconds.
const yieldEvery = 64 << 10

// quoted returns the length of the string at the beginning of b, or 0; sound: of one that needs no check.
func quoted(b []byte, sound bool) (n int, spelling Spelling) {
	spelling = Spelling{ASCII: true, Canonical: true}
	end := len(b)
	if !sound {
		end = min(end, yieldEvery)
	}
	for n = 1; ; {
		if n >= end && end < len(b) {
			runtime.Gosched()
			end = min(len(b), n+yieldEvery)
		}
		size, ascii := unescaped(b[n:end], sound)
		n, spelling.ASCII = n+size, spelling.ASCII && ascii
		if n == end && end < len(b) {
			continue
		}
		if n == len(b) || b[n] < ' ' {
			return 0, Spelling{}
		}
		if b[n] == '"' {
			break
		}
		size = escape(b[n:])
		if size == 0 {
			return 0, Spelling{}
		}
		spelling.Canonical = spelling.Canonical && size == 2 && b[n+1] != '/'
		n, spelling.surplus = n+size, spelling.surplus+size-1
	}
	if n++; !spelling.ASCII && !sound && !utf8.Valid(b[:n]) {
		return 0, Spelling{}
	}
	return n, spelling
}

// Eight bytes of 1, and eight highest bits.
const ones, highBits = 0x0101010101010101, 0x8080808080808080

// unescaped returns the number of bytes before the first quote, backslash or control character, and whether
// they are ASCII. Of long sound text it doesn't say so, and looks for no control characters.
func unescaped(b []byte, sound bool) (n int, ascii bool) {
	n, ascii = byWords(b[:min(len(b), firstWindow)])
	// Of a long string each window is as long as all before it: where short runs and escapes alternate, no byte is
	// looked at often.
	for n >= firstWindow && n < len(b) {
		window := b[n:min(len(b), 2*n)]
		plain, plainASCII := byWindow(window, sound)
		n, ascii = n+plain, ascii && plainASCII
		if plain < len(window) {
			break
		}
	}
	return n, ascii
}

// firstWindow is up to how many bytes of a string are read by words alone: a search costs about as much as 64 bytes.
const firstWindow = 256

// byWords is unescaped, eight bytes at a time.
func byWords(b []byte) (n int, ascii bool) {
	var all uint64
	for ; len(b)-n >= 8; n += 8 {
		v := binary.LittleEndian.Uint64(b[n:])
		quote, back := v^(ones*'"'), v^(ones*'\\')
		// The highest bit of each byte that is one of these, and maybe of some after it.
		if found := ((v-ones*' ')&^v | (quote-ones)&^quote | (back-ones)&^back) & highBits; found != 0 {
			all |= v & (found ^ (found - 1)) // up to that bit, which is 0 in the byte itself
			return n + bits.TrailingZeros64(found)/8, all&highBits == 0
		}
		all |= v
	}
	for ; n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\'; n++ {
		all |= uint64(b[n])
	}
	return n, all&highBits == 0
}

// byWindow is unescaped by the library's searches, which look at 32 bytes at a time: a megabyte takes 0.1 ms
// instead of 0.4.
func byWindow(b []byte, sound bool) (n int, ascii bool) {
	if quote := bytes.IndexByte(b, '"'); quote >= 0 {
		b = b[:quote]
	}
	if back := bytes.IndexByte(b, '\\'); back >= 0 {
		b = b[:back]
	}
	if sound {
		return len(b), false
	}
	var all, control uint64
	for ; len(b)-n >= 32; n += 32 {
		p := b[n : n+32 : n+32]
		v, w := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		x, y := binary.LittleEndian.Uint64(p[16:]), binary.LittleEndian.Uint64(p[24:])
		control |= (v-ones*' ')&^v | (w-ones*' ')&^w | (x-ones*' ')&^x | (y-ones*' ')&^y
		all |= v | w | x | y
	}
	if control&highBits != 0 {
		return byWords(b)
	}
	tail, tailASCII := byWords(b[n:])
	return n + tail, all&highBits == 0 && tailASCII
}

// escape returns the length of the escape at the beginning of b, which may be a surrogate pair, or 0.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	}
	switch first := codeUnit(b); {
	case first < 0:
		return 0
	case !utf16.IsSurrogate(first):
		return 6
	case utf16.DecodeRune(first, codeUnit(b[6:])) != utf8.RuneError:
		return 12
	default:
		return 0
	}
}

// codeUnit returns the UTF-16 code unit of an escape, or -1.
func codeUnit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// continuationBytes returns the number of bytes of valid UTF-8 that don't begin a code point.
func continuationBytes(b []byte) (n int) {
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		n += bits.OnesCount64(v &^ (v << 1) & highBits) // the highest bit is set, the one below isn't
	}
	for _, c := range b {
		if !utf8.RuneStart(c) {
			n++
		}
	}
	return n
}
