// Package jsonscan looks over JSON in place, in one pass and without allocation, for those who know a
// thorough way and want a quick one for what nearly everybody sends.
//
// Invariants: what it takes is valid JSON in canonical form (RFC 8785). What it doesn't take may be sound
// all the same: that is for the thorough way to say, as every error is.
package jsonscan

import (
	"bytes"
	"unicode/utf8"
)

// String looks over the string that begins at b[at], up to right behind its end, and counts its code
// points. Of the escapes it takes those of two characters.
func String(b []byte, at int) (end, runes int, ok bool) {
	if at >= len(b) || b[at] != '"' {
		return 0, 0, false
	}
	for at++; at < len(b); runes++ {
		switch c := b[at]; {
		case c == '"':
			return at + 1, runes, true
		case c == '\\':
			if at+1 >= len(b) || !shortEscape(b[at+1]) {
				return 0, 0, false
			}
			at += 2
		case c < ' ':
			return 0, 0, false
		case c < utf8.RuneSelf:
			at++
		default:
			r, size := utf8.DecodeRune(b[at:])
			if r == utf8.RuneError && size == 1 {
				return 0, 0, false
			}
			at += size
		}
	}
	return 0, 0, false
}

// shortEscape reports whether a backslash and c are the canonical form of a character.
func shortEscape(c byte) bool {
	switch c {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return true
	default:
		return false
	}
}

// mostDigits is up to how many digits of a decimal a double keeps, so that both have one shortest form.
const mostDigits = 15

// powers are those of ten that a double holds exactly, as far as they are needed.
var powers = [mostDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// Number looks over the number that begins at b[at], up to right behind its end: of at most 15 digits and
// without an exponent.
func Number(b []byte, at int) (end int, value float64, ok bool) {
	negative := at < len(b) && b[at] == '-'
	if negative {
		at++
	}
	whole, digits, _ := takeDigits(b, at, 0)
	if digits == 0 || digits > mostDigits || (digits > 1 && b[at] == '0') {
		return 0, 0, false
	}
	at += digits
	value = float64(whole)
	if at < len(b) && b[at] == '.' {
		n, fraction, zero := takeDigits(b, at+1, whole)
		if fraction == 0 || zero || digits+fraction > mostDigits {
			return 0, 0, false
		}
		at += 1 + fraction
		value = float64(n) / powers[fraction]
		if value < 1e-6 { // it is written with an exponent
			return 0, 0, false
		}
	}
	if at < len(b) && (b[at] == 'e' || b[at] == 'E') || negative && value == 0 {
		return 0, 0, false
	}
	if negative {
		value = -value
	}
	return at, value, true
}

// takeDigits appends to n the digits from b[at] on; zero says whether the last is one. Of too many to be
// taken by Number n is of no use.
func takeDigits(b []byte, at int, n uint64) (sum uint64, digits int, zero bool) {
	for _, c := range b[min(at, len(b)):] {
		if c < '0' || c > '9' {
			break
		}
		n, digits, zero = n*10+uint64(c-'0'), digits+1, c == '0'
	}
	return n, digits, zero
}

// Member looks over the name, one without escapes, that follows the bracket or comma at b[at], and
// returns it with where its value begins.
func Member(b []byte, at int) (name []byte, value int, ok bool) {
	end, _, ok := String(b, at+1)
	if !ok || end >= len(b) || b[end] != ':' {
		return nil, 0, false
	}
	name = b[at+2 : end-1]
	return name, end + 1, bytes.IndexByte(name, '\\') < 0
}
