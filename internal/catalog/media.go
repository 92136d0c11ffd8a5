package catalog

import (
	"encoding/json"
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
	var pointers []string
	for _, pattern := range c.MediaInputs {
		pointers = expand(pointers, input, "", strings.Split(pattern, "/")[1:])
	}
	return pointers
}

// MediaKind returns what the media value at a pointer into the input may be: "image", "audio" or "file".
func (c Capability) MediaKind(pointer string) string {
	path := strings.Split(pointer, "/")[1:]
	for _, pattern := range c.MediaInputs {
		if matchesAny([]string{pattern}, path) {
			return c.MediaKinds[pattern]
		}
	}
	return ""
}

// expand appends the pointers of the values that rest leads to from value, which itself stands at base.
func expand(pointers []string, value []byte, base string, rest []string) []string {
	if len(rest) == 0 {
		return append(pointers, base)
	}
	if rest[0] != "*" {
		if inner := memberOf(value, unescapeToken(rest[0])); inner != nil {
			pointers = expand(pointers, inner, base+"/"+rest[0], rest[1:])
		}
		return pointers
	}
	r := jsonread.New(value)
	r.Open('[')
	for i := 0; r.More(']'); i++ {
		if item := r.Value(); item != nil {
			pointers = expand(pointers, item, base+"/"+strconv.Itoa(i), rest[1:])
		}
	}
	return pointers
}

// ValueAt returns the value that a JSON pointer leads to in an input, as it stands there; nil where there is none.
func ValueAt(input json.RawMessage, pointer string) json.RawMessage {
	at := []byte(input)
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if in := jsonread.New(at); in.Peek() == '[' {
			at = elementOf(at, token)
		} else {
			at = memberOf(at, unescapeToken(token))
		}
	}
	return at
}

// memberOf returns the value of an object's member, as it stands; nil where there is none.
func memberOf(object []byte, name string) []byte {
	r := jsonread.New(object)
	r.Open('{')
	for r.More('}') {
		is := string(r.Name()) == name
		if value := r.Value(); is {
			return value
		}
	}
	return nil
}

// elementOf returns an array's element, as it stands; nil where there is none.
func elementOf(array []byte, index string) []byte {
	r := jsonread.New(array)
	r.Open('[')
	for i := 0; r.More(']'); i++ {
		value := r.Value()
		if strconv.Itoa(i) == index {
			return value
		}
	}
	return nil
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
