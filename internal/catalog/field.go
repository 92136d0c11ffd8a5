package catalog

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"unitask/internal/fault"
)

const (
	bodyField  = "body" // the field of a problem with the body as a whole
	maxSegment = 64     // bytes of one member name in a field path
	maxField   = 256    // bytes of a whole field path
)

// invalidRows returns INVALID_REQUEST with these rows; the first gives the message.
func invalidRows(rows []fault.Detail) *fault.Error {
	return fault.Invalid(rows[0].Field, rows[0].Message).WithDetails(rows[1:]...)
}

func pointerField(p jsontext.Pointer) string {
	return fieldPath(slices.Collect(p.Tokens())...)
}

// fieldPath returns the dotted path of the given member names and indexes. Names that aren't plain
// words are quoted, long ones cut, so that a path is safe to print.
func fieldPath(tokens ...string) string {
	if len(tokens) == 0 {
		return bodyField
	}
	var path strings.Builder
	for i, tok := range tokens {
		if path.Len() > maxField {
			path.WriteString(".…")
			break
		}
		if i > 0 {
			path.WriteByte('.')
		}
		path.WriteString(segment(tok))
	}
	return path.String()
}

func segment(name string) string {
	if len(name) > maxSegment {
		name = strings.ToValidUTF8(name[:maxSegment], "") + "…"
	}
	if name == "" || strings.ContainsFunc(name, unsafeRune) {
		return strconv.Quote(name)
	}
	return name
}

func unsafeRune(r rune) bool {
	return r == '.' || r == '"' || r == '\\' || unicode.IsSpace(r) || !unicode.IsPrint(r)
}
