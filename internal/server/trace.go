package server

import (
	"net/http"
	"strings"
)

// traceSize is the length of a traceparent: a version, the ids of the trace and of its span, and flags.
const traceSize = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

// traceparent returns the place of a request in its caller's trace, by W3C's Trace Context; "" without one, and for one
// that isn't valid, which a receiver ignores. Of a later version it returns the part that all versions have.
func traceparent(h http.Header) string {
	values := h["Traceparent"]
	if len(values) != 1 || len(values[0]) < traceSize {
		return ""
	}
	value, rest := values[0][:traceSize], values[0][traceSize:]
	version, ids, _ := strings.Cut(value, "-")
	trace, ids, _ := strings.Cut(ids, "-")
	span, flags, _ := strings.Cut(ids, "-")
	switch {
	case len(version) != 2, len(trace) != 32, len(span) != 16, !isHex(version), !isHex(trace), !isHex(span), !isHex(flags):
		return ""
	case version == "ff", strings.Trim(trace, "0") == "", strings.Trim(span, "0") == "":
		return ""
	case rest != "" && (version == "00" || rest[0] != '-'):
		return ""
	}
	return strings.Clone(value) // the task outlives the request's headers
}

// isHex reports whether s is hexadecimal in lower case.
func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}
