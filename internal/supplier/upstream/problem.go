package upstream

import (
	"bytes"
	"encoding/json"
	"strings"
)

const (
	problemDepth = 5    // error objects lie in one another, in arrays and in metadata
	problemWords = 32   // more codes than any supplier gives
	problemNest  = 1000 // levels, of whatever else an error repeats
)

// Problem is the content of an error body, in any known shape: as an object or a string, at the top or below "error",
// in an array, with codes that are words, numbers or absent. Its words are the supplier's: compare them, never show
// or log them.
type Problem struct {
	Present bool     // the body is an error's; a success may be examined too
	Status  int      // an HTTP status that the body itself names, 400 to 599; else 0
	Words   []string // the values of code, type, status, reason and error_type, in lower case
	Flagged bool     // its metadata speaks of a moderation
}

// ParseProblem reads an error body. It takes anything: HTML and an empty body are an empty Problem. Of a body that
// was cut it reads the part before the cut: some servers name the error and then repeat the whole input.
func ParseProblem(body []byte) Problem {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	top, _ := readPartial(d, problemNest)
	var p Problem
	p.visit(top, problemDepth)
	return p
}

// readPartial reads a value, or as much of it as there is; whole is false if that isn't all of it. Deeper nesting than
// nest ends it.
func readPartial(d *json.Decoder, nest int) (v any, whole bool) {
	token, err := d.Token()
	if err != nil || nest == 0 {
		return nil, false
	}
	switch token {
	case json.Delim('{'):
		members := map[string]any{}
		for whole = true; whole && d.More(); {
			token, err = d.Token()
			name, named := token.(string)
			if err != nil || !named {
				return members, false
			}
			members[name], whole = readPartial(d, nest-1)
		}
		return members, whole && closed(d)
	case json.Delim('['):
		var list []any
		for whole = true; whole && d.More(); {
			var element any
			element, whole = readPartial(d, nest-1)
			list = append(list, element)
		}
		return list, whole && closed(d)
	default:
		return token, true
	}
}

// closed reads the end of an object or a list.
func closed(d *json.Decoder) bool {
	_, err := d.Token()
	return err == nil
}

// visit gathers the words of v and of the members of v that describe errors.
func (p *Problem) visit(v any, depth int) {
	if depth == 0 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v[:min(len(v), problemWords)] {
			p.visit(e, depth-1)
		}
	case map[string]any:
		if e, ok := v["error"]; ok && !empty(e) || v["object"] == "error" || v["type"] == "error" {
			p.Present = true
		}
		for _, name := range []string{"code", "type", "status", "reason", "error_type"} {
			p.word(v[name])
		}
		p.flags(v)
		for _, name := range []string{"error", "errors", "detail", "details", "metadata", "innererror"} {
			p.visit(v[name], depth-1)
		}
	}
}

// word notes one code: a number, or a word that may spell one.
func (p *Problem) word(v any) {
	var s string
	switch v := v.(type) {
	case json.Number:
		s = v.String()
	case string:
		s = v
	default:
		return
	}
	if len(s) == 3 && (s[0] == '4' || s[0] == '5') && digit(s[1]) && digit(s[2]) {
		if p.Status == 0 {
			p.Status = int(s[0]-'0')*100 + int(s[1]-'0')*10 + int(s[2]-'0')
		}
		return
	}
	if s != "" && len(p.Words) < problemWords {
		p.Words = append(p.Words, strings.ToLower(s))
	}
}

// flags notes the metadata by which aggregators tell a moderation from a missing permission.
func (p *Problem) flags(v map[string]any) {
	_, input := v["flagged_input"]
	reasons, list := v["reasons"].([]any)
	p.Flagged = p.Flagged || input || list && len(reasons) > 0
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// empty reports whether the value of an "error" member means no error.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return false
	}
}
