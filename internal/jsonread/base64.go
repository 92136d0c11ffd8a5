package jsonread

import (
	"bytes"
	"runtime"
)

const (
	// longBase64 is from how many characters on base64 is told from other text: what is shorter is quickly read again.
	longBase64 = 4 << 10
	// base64Sample is how many characters have to be base64 before more are looked at: no sentence has so long a word.
	base64Sample = 64
)

// inBase64Spelling is how all base64 is spelled.
var inBase64Spelling = Spelling{ASCII: true, Canonical: true, Base64: true}

// inBase64 returns the length of the string at the beginning of b if it is long and padded base64, else 0. Only digits
// and its end are in it: no quote, escape, control character or longer UTF-8, so that one pass of a table says all.
func inBase64(b []byte) (n int, spelling Spelling) {
	if len(b) < longBase64 || base64Digits(b[1:1+base64Sample]) < base64Sample {
		return 0, Spelling{}
	}
	n = 1
	for {
		piece := b[n:min(len(b), n+yieldEvery)]
		size := base64Digits(piece)
		if n += size; size < len(piece) || n == len(b) {
			break
		}
		runtime.Gosched()
	}
	for padding := 0; padding < 2 && n < len(b) && b[n] == '='; padding++ {
		n++
	}
	if n == len(b) || b[n] != '"' || (n-1)%4 != 0 || n <= longBase64 {
		return 0, Spelling{}
	}
	return n + 1, inBase64Spelling
}

// Contains reports whether a piece of JSON stands in b, outside the strings that were read before (see Reader.Passing).
// It begins with a quote and ends with a quote or a bracket, so that none of it can be in one of these.
func Contains(b []byte, piece string, base64 [][]byte) bool {
	for _, text := range base64 {
		// Both end where their memory does, or the text isn't in b.
		at := cap(b) - cap(text)
		if at < 0 || at+len(text) > len(b) || &b[at] != &text[0] {
			continue
		}
		if bytes.Contains(b[:at], []byte(piece)) {
			return true
		}
		b = b[at+len(text):]
	}
	return bytes.Contains(b, []byte(piece))
}

// readBefore returns the length of the string at the reader's place if it is one that was read before, else 0. It forgets
// those that the reader has passed, so that a body of thousands is read in the time of its length.
func (r *Reader) readBefore() (n int, spelling Spelling) {
	place := r.pos + 1 // after the quote
	for len(r.base64) > 0 {
		text := r.base64[0]
		at := cap(r.in) - cap(text) // both end where their memory does, or the text isn't in it
		if at > place {
			break
		}
		r.base64 = r.base64[1:]
		if end := at + len(text); at == place && end < len(r.in) && &r.in[at] == &text[0] {
			return len(text) + 2, inBase64Spelling
		}
	}
	return 0, Spelling{}
}
