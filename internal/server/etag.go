package server

import (
	"net/http"
	"strconv"
	"strings"

	"unitask/internal/task"
)

// etag returns the weak tag of a task as it is answered now: its revision and, if the answer holds signed URLs, the
// window in which they stay the same.
func (s *Server) etag(t *task.Task) string {
	revision, end := strconv.FormatInt(t.Revision, 10), `"`
	if len(t.Output.Artifacts()) > 0 {
		window, _ := s.signer.Window(s.now())
		end = "-" + strconv.FormatInt(window, 10) + end
	}
	return `W/"` + revision + end
}

// ifNoneMatch is the entity tags of an If-None-Match.
type ifNoneMatch struct {
	any  bool
	tags []string // opaque parts, without W/ and quotes
}

// parseIfNoneMatch reads every entity tag and skips other text.
func parseIfNoneMatch(h http.Header) ifNoneMatch {
	var k ifNoneMatch
	for _, value := range h.Values("If-None-Match") {
		for item := range strings.SplitSeq(value, ",") {
			item = strings.TrimSpace(item)
			if item == "*" {
				k.any = true
				continue
			}
			opaque := strings.TrimPrefix(item, "W/")
			if len(opaque) > 2 && opaque[0] == '"' && opaque[len(opaque)-1] == '"' {
				k.tags = append(k.tags, opaque[1:len(opaque)-1])
			}
		}
	}
	return k
}

// holds reports whether the tag is one of the known, by weak comparison.
func (k ifNoneMatch) holds(etag string) bool {
	for _, tag := range k.tags {
		if etag == `W/"`+tag+`"` {
			return true
		}
	}
	return k.any
}

// revision returns the latest revision that the client knows; nil if it names no tag.
func (k ifNoneMatch) revision() *int64 {
	var latest *int64
	for _, tag := range k.tags {
		number, _, _ := strings.Cut(tag, "-")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && (latest == nil || n > *latest) {
			latest = &n
		}
	}
	return latest
}
