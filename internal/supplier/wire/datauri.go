package wire

import (
	"encoding/base64"
	"strings"
)

// DataURI returns the type and the bytes of a data: address in base64; ok is false for all else.
func DataURI(address string) (contentType string, data []byte, ok bool) {
	rest, is := strings.CutPrefix(address, "data:")
	head, body, found := strings.Cut(rest, ",")
	contentType, encoded := strings.CutSuffix(head, ";base64")
	if !is || !found || !encoded {
		return "", nil, false
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil || len(data) == 0 {
		return "", nil, false
	}
	return contentType, data, true
}
