package upstream

import (
	"encoding/base64"
	"net/url"
	"strings"

	"unitask/internal/supplier"
)

// File returns the result file at an http or https address, or the one that a data: address holds; ok
// is false for all else.
func File(address string) (f supplier.File, ok bool) {
	if kind, data, ok := dataURI(address); ok {
		return supplier.File{ContentType: kind, Data: data}, true
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return supplier.File{}, false
	}
	return supplier.File{URL: address}, true
}

// dataURI returns the type and the bytes of a data: address in base64.
func dataURI(address string) (contentType string, data []byte, ok bool) {
	rest, is := strings.CutPrefix(address, "data:")
	head, body, found := strings.Cut(rest, ",")
	contentType, encoded := strings.CutSuffix(head, ";base64")
	if !is || !found || !encoded {
		return "", nil, false
	}
	data, err := base64.StdEncoding.DecodeString(body)
	return contentType, data, err == nil && len(data) > 0
}
