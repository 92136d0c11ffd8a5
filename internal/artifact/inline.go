package artifact

import (
	"encoding/base64"
	"fmt"
	"strings"

	"unitask/internal/fault"
)

// DecodeInline decodes the data member of an inline media value, which is named by field. It takes
// the standard alphabet with its padding, and neither white space nor stray bits, so that one
// content has one spelling. limit is in decoded bytes and is checked before anything is allocated.
// Every error is an INVALID_REQUEST about the field.
func DecodeInline(field, data string, limit int64) ([]byte, error) {
	source := FromCaller(field)
	if data == "" {
		return nil, source.bad("is empty", nil)
	}
	padding := len(data) - len(strings.TrimRight(data, "="))
	if int64(base64.StdEncoding.DecodedLen(len(data))-padding) > limit {
		return nil, source.TooLarge(limit)
	}
	if strings.ContainsAny(data, "\r\n") { // the decoder would skip them
		return nil, notBase64(source)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil {
		return nil, notBase64(source)
	}
	return raw, nil
}

func notBase64(s Source) *fault.Error {
	return s.bad("is not base64 in the standard alphabet with padding", nil)
}

// size is a byte count for people.
func size(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return fmt.Sprintf("%d %s", n/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
