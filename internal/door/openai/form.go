package openai

import (
	"bytes"
	"iter"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FormReader translates a form's body, whose parts the boundary divides. Its errors name the caller's own members.
type FormReader func(body []byte, boundary string) (Call, error)

const (
	mostParts   = 64      // of a form
	mostHeaders = 4 << 10 // bytes before a part's content
)

// part is one part of a form. Its data share memory with the body.
type part struct {
	name, kind string // kind: the media type that it says; "" for none
	file       bool   // it has a file name
	data       []byte
}

// parted splits a form by its boundary, or says what is wrong with it. It is stricter than package mime/multipart: each
// line before the contents ends with CRLF, nothing stands before the first boundary, and a line that begins with the
// boundary is one.
func parted(body []byte, boundary string) (parts []part, problem string) {
	const broken, cut = "is no form: a part of it is broken", "is no form: its last boundary is missing"
	line := []byte("\r\n--" + boundary)
	rest, ok := bytes.CutPrefix(body, line[2:])
	if !ok {
		return nil, "is no form: it doesn't begin with its boundary"
	}
	for {
		if after, last := bytes.CutPrefix(rest, []byte("--")); last {
			if len(after) > 0 && !bytes.HasPrefix(after, line[:2]) {
				return nil, broken
			}
			return parts, ""
		}
		if rest, ok = bytes.CutPrefix(rest, line[:2]); !ok {
			return nil, broken
		}
		end := bytes.Index(rest, line)
		if end < 0 {
			return nil, cut
		}
		p, sound := partOf(rest[:end])
		if !sound {
			return nil, broken
		}
		if parts = append(parts, p); len(parts) > mostParts {
			return nil, "has too many parts"
		}
		rest = rest[end+len(line):]
	}
}

// partOf reads one part: headers, an empty line, and its content.
func partOf(raw []byte) (p part, sound bool) {
	before, data, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !ok || len(before) > mostHeaders {
		return part{}, false
	}
	p.data = data
	for header := range strings.SplitSeq(string(before), "\r\n") {
		name, value, ok := strings.Cut(header, ":")
		if value = strings.Trim(value, " \t"); !ok || !isHeaderName(name) || strings.ContainsFunc(value, unicode.IsControl) {
			return part{}, false
		}
		switch strings.ToLower(name) {
		case "content-disposition":
			kind, said, err := mime.ParseMediaType(value)
			if err != nil || kind != "form-data" || said["name"] == "" || p.name != "" {
				return part{}, false
			}
			p.name = said["name"]
			_, p.file = said["filename"]
		case "content-type":
			kind, _, _ := strings.Cut(value, ";")
			p.kind = strings.ToLower(strings.TrimSpace(kind))
		case "content-transfer-encoding":
			switch strings.ToLower(value) {
			case "binary", "8bit", "7bit":
			default:
				return part{}, false // forms have none, by RFC 7578
			}
		}
	}
	return p, p.name != "" && utf8.ValidString(p.name)
}

// isHeaderName takes the names that headers of forms have.
func isHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-'
	})
}

// Content returns a form's body without its boundary, which libraries make anew each time that they send it.
func Content(body []byte, boundary string) iter.Seq[[]byte] {
	return bytes.SplitSeq(body, []byte("--"+boundary))
}
