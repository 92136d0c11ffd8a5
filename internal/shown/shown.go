// Package shown makes text from elsewhere fit to be shown on a terminal, and figures fit for people. It removes control characters that could
// steer the terminal or let a line read as another. It is the one place that knows which characters those are.
package shown

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s without control characters (C0 but line ends and tabs, DEL, C1), without format
// characters such as those that turn the direction of writing, and in valid UTF-8.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || Harmless(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// styling is lipgloss's sequences: colours and weights, which change only the look.
var styling = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Styled is Text that keeps colours and weights, for lines that hold some of the program's own.
func Styled(s string) string {
	var out strings.Builder
	rest := 0
	for _, at := range styling.FindAllStringIndex(s, -1) {
		out.WriteString(Text(s[rest:at[0]]))
		out.WriteString(s[at[0]:at[1]])
		rest = at[1]
	}
	out.WriteString(Text(s[rest:]))
	return out.String()
}

// Harmless reports whether a character only draws. Of the invisible ones the two joiners stay, which
// emoji and several scripts are made with.
func Harmless(r rune) bool {
	switch {
	case r == '\u200c', r == '\u200d':
		return true
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
		return false
	default:
		return true
	}
}

// JSON returns a JSON text that says the same, its strings' characters that aren't harmless as \u escapes.
func JSON(raw []byte) []byte {
	var out bytes.Buffer
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r == '\n' || r == '\t' || r == '\r' || Harmless(r): // white space between values
			out.Write(raw[:n])
		case r > 0xFFFF:
			r -= 0x10000
			_, _ = fmt.Fprintf(&out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			_, _ = fmt.Fprintf(&out, `\u%04x`, r)
		}
		raw = raw[n:]
	}
	return out.Bytes()
}
