package server

import (
	"net/http"
	"strconv"
	"strings"

	"unitask/internal/sse"
)

// wantsStream reports whether a client would rather have a stream than JSON: Accept names its media type with a
// weight that is more than 0 and not less than JSON's. A wildcard names no type, and a header that accepts no known
// type is disregarded, as RFC 9110 allows.
func wantsStream(h http.Header) bool {
	values := h["Accept"]
	if len(values) == 0 || len(values) == 1 && (values[0] == "*/*" || values[0] == "application/json") {
		return false
	}
	stream, precise := weight(values, sse.ContentType)
	if !precise || stream == 0 {
		return false
	}
	json, _ := weight(values, "application/json")
	return stream >= json
}

// wantsPage reports whether a client names HTML, as browsers do, and prefers it to JSON.
func wantsPage(h http.Header) bool {
	page, precise := weight(h["Accept"], "text/html")
	json, _ := weight(h["Accept"], "application/json")
	return precise && page > 0 && page >= json
}

// weight returns the weight that the values of an Accept header give to a media type, in thousandths: that of
// the most precise range which has the type. precise says that this range names the type itself.
func weight(values []string, mediaType string) (thousandths int, precise bool) {
	family, _, _ := strings.Cut(mediaType, "/")
	best := 0
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			name, parameters, _ := strings.Cut(item, ";")
			rank := 0
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, mediaType):
				rank = 3
			case strings.EqualFold(name, family+"/*"):
				rank = 2
			case name == "*/*":
				rank = 1
			}
			if rank > best {
				best, thousandths = rank, quality(parameters)
			}
		}
	}
	return thousandths, best == 3
}

// quality returns the weight among a range's parameters in thousandths: 1000 by default, 0 for one that isn't a
// number from 0 to 1.
func quality(parameters string) int {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return int(q * 1000)
	}
	return 1000
}
