package http1

import (
	"bytes"
	"net/http"
	"strings"
)

// Header holds the fields of an answer's head. The zero Header is empty.
type Header struct {
	lines string      // of a plain head, which few ever look into
	all   http.Header // of any other
}

// NewHeader returns the fields of a head that net/http has read.
func NewHeader(all http.Header) Header { return Header{all: all} }

// Get returns the first value of a field, whose name may be in any case; "" without one.
func (h Header) Get(name string) string {
	for line := range strings.SplitSeq(h.lines, "\r\n") {
		if n, value, _ := strings.Cut(line, ":"); len(n) == len(name) && strings.EqualFold(n, name) {
			return strings.Trim(value, " \t")
		}
	}
	return h.all.Get(name)
}

// plainHead is the head of an answer that leaves no question open: how long its body is, and that another
// answer may follow it.
type plainHead struct {
	status int
	length int64
	fields []byte // each with its end
}

// elsewhere are fields that change the reading of an answer or of its head.
var elsewhere = []string{"Connection", "Transfer-Encoding", "Content-Encoding", "Trailer", "Pragma"}

const (
	plainVersion = "HTTP/1.1 "
	mostDigits   = 18 // of a number that fits an int64 whatever its digits
)

// readPlain reads a head from the beginning of the received bytes, and returns its size. ok is false if it isn't
// whole or is unusual: net/http decides on those.
func readPlain(b []byte) (h plainHead, size int, ok bool) {
	line, rest, ok := cutLine(b)
	if !ok || !h.readStatus(line) {
		return h, 0, false
	}
	h.length = -1
	for fields := rest; ; {
		if line, rest, ok = cutLine(rest); !ok {
			return h, 0, false
		}
		if len(line) == 0 {
			h.fields = fields[:len(fields)-len(rest)-len("\r\n")]
			return h, len(b) - len(rest), h.length >= 0
		}
		if !h.readField(line) {
			return h, 0, false
		}
	}
}

// cutLine cuts b behind its first line, which must end with CR LF.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	line, rest, ok = bytes.Cut(b, []byte("\n"))
	if !ok || len(line) == 0 || line[len(line)-1] != '\r' {
		return nil, nil, false
	}
	return line[:len(line)-1], rest, true
}

// readStatus takes the line of a final answer that may have a body.
func (h *plainHead) readStatus(line []byte) bool {
	code, ok := bytes.CutPrefix(line, []byte(plainVersion))
	if !ok || len(code) < 3 || len(code) > 3 && code[3] != ' ' {
		return false
	}
	for _, d := range code[:3] {
		if !digit(d) {
			return false
		}
		h.status = 10*h.status + int(d-'0')
	}
	return h.status >= http.StatusOK && h.status != http.StatusNoContent && h.status != http.StatusNotModified
}

// readField takes a field of one line.
func (h *plainHead) readField(line []byte) bool {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 {
		return false
	}
	for _, c := range name {
		if !inName(c) {
			return false
		}
	}
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	if isName(name, "Content-Length") {
		return h.readLength(bytes.Trim(value, " \t"))
	}
	for _, other := range elsewhere {
		if isName(name, other) {
			return false
		}
	}
	return true
}

func (h *plainHead) readLength(digits []byte) bool {
	if h.length >= 0 || len(digits) == 0 || len(digits) > mostDigits {
		return false
	}
	h.length = 0
	for _, d := range digits {
		if !digit(d) {
			return false
		}
		h.length = 10*h.length + int64(d-'0')
	}
	return true
}

func inName(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || digit(c) || strings.IndexByte("-!#$%&'*+.^_`|~", c) >= 0
}

// isName reports whether name, of letters, digits and the like, is other in any case.
func isName(name []byte, other string) bool {
	return len(name) == len(other) && strings.EqualFold(string(name), other)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
