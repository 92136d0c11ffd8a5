package catalog

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/jsonread"
)

// MediaPointers returns the JSON pointers of the media values present in a validated input, such as
// "/images/0", in the order of the capability's MediaInputs and then of the arrays.
func MediaPointers(c Capability, input json.RawMessage) []string {
	if len(c.MediaInputs) == 0 {
		return nil
	}
	w := walk{in: jsonread.New(input), found: make([][]string, len(c.MediaInputs))}
	ways := make([]way, len(c.MediaInputs))
	for i, pattern := range c.MediaInputs {
		ways[i] = way{i, strings.Split(pattern, "/")[1:]}
	}
	w.value("", ways)
	return slices.Concat(w.found...)
}

// anyElement is a pattern's token for the elements of an array.
const anyElement = "*"

// way is the rest of a pattern on the way to its target.
type way struct {
	pattern int
	rest    []string
}

// walk goes over a value once, however many patterns are looked for: it may have megabytes.
type walk struct {
	in    jsonread.Reader
	found [][]string // pointers, by pattern
}

// value passes over a value, which stands at base and to which the ways have led.
func (w *walk) value(base string, ways []way) {
	for _, to := range ways {
		if len(to.rest) == 0 {
			w.found[to.pattern] = append(w.found[to.pattern], base)
		}
	}
	switch bracket := w.in.Peek(); {
	case len(ways) > 0 && bracket == '{':
		for w.in.Open(bracket); w.in.More('}'); {
			token := escapeToken(string(w.in.Name()))
			on := onward(ways, token)
			if token == anyElement { // here the name of a member
				on = nil
			}
			w.value(base+"/"+token, on)
		}
	case len(ways) > 0 && bracket == '[':
		w.in.Open(bracket)
		for i := 0; w.in.More(']'); i++ {
			w.value(base+"/"+strconv.Itoa(i), onward(ways, anyElement))
		}
	default:
		w.in.Skip()
	}
}

// onward returns the ways that lead on by the token.
func onward(ways []way, token string) []way {
	var on []way
	for _, to := range ways {
		if len(to.rest) > 0 && to.rest[0] == token {
			on = append(on, way{to.pattern, to.rest[1:]})
		}
	}
	return on
}

// MediaKind returns the allowed kind of the media value at a pointer into the input: "image", "audio" or "file".
func (c Capability) MediaKind(pointer string) string {
	path := strings.Split(pointer, "/")[1:]
	for _, pattern := range c.MediaInputs {
		if matchesAny([]string{pattern}, path) {
			return c.MediaKinds[pattern]
		}
	}
	return ""
}

// ValueAt returns the value that a JSON pointer leads to in an input, as it stands there; nil without one.
func ValueAt(input json.RawMessage, pointer string) json.RawMessage {
	in := jsonread.New(input)
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if !enter(&in, token) {
			return nil
		}
	}
	return in.Value()
}

// enter goes on to a token's value in the next object or array, and reports whether it is there.
func enter(in *jsonread.Reader, token string) bool {
	if in.Peek() == '[' {
		in.Open('[')
		for i := 0; in.More(']'); i++ {
			if strconv.Itoa(i) == token {
				return true
			}
			in.Skip()
		}
		return false
	}
	for in.Open('{'); in.More('}'); in.Skip() {
		if string(in.Name()) == unescapeToken(token) {
			return true
		}
	}
	return false
}

// inputPatterns returns the JSON-pointer patterns of the input's members of one sort, at any depth.
func inputPatterns(fields []Field, is func(Field) bool) []string {
	var patterns []string
	for _, f := range fields {
		if f.Group == GroupInput {
			patterns = appendPatterns(patterns, f, "", is)
		}
	}
	return patterns
}

func appendPatterns(patterns []string, f Field, base string, is func(Field) bool) []string {
	base += "/" + escapeToken(f.Name)
	if f.Array {
		base += "/*"
	}
	if is(f) {
		return append(patterns, base)
	}
	for _, inner := range f.Members {
		patterns = appendPatterns(patterns, inner, base, is)
	}
	return patterns
}

// outputMedia returns the kinds of files that an output schema has members for.
func outputMedia(schema json.RawMessage) ([]string, error) {
	var n node
	if err := jsonv2.Unmarshal(schema, &n); err != nil {
		return nil, err
	}
	var kinds []string
	for _, p := range n.Properties {
		switch p.name {
		case "images":
			kinds = append(kinds, "image")
		case "videos":
			kinds = append(kinds, "video")
		case "audio":
			kinds = append(kinds, "audio")
		}
	}
	return kinds, nil
}
