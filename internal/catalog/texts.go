package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Text is one string of an input.
type Text struct {
	Field string // its dotted path, such as "input.messages.0.content"
	Text  string
	Media bool // it belongs to a media value: an address, a type or an id
}

// Texts returns the strings of a validated input, at any depth and in its order, without member names,
// the values of enums and the bytes of inline media.
func (c Capability) Texts(input json.RawMessage) []Text {
	var all []Text
	d := jsontext.NewDecoder(bytes.NewBuffer(input)) // a Buffer is read in place
	for {
		token, err := d.ReadToken()
		if err != nil {
			return all // the end: the input has been decoded before
		}
		if token.Kind() != '"' || namesMember(d) {
			continue
		}
		tokens := slices.Collect(d.StackPointer().Tokens())
		media := startsWithAny(c.MediaInputs, tokens)
		if media && tokens[len(tokens)-1] == "data" || matchesAny(c.WordlessInputs, tokens) {
			continue
		}
		all = append(all, Text{Field: fieldPath(append([]string{GroupInput}, tokens...)...), Text: token.String(), Media: media})
	}
}

// namesMember reports whether the token that was just read is the name of an object's member.
func namesMember(d *jsontext.Decoder) bool {
	kind, length := d.StackIndex(d.StackDepth())
	return kind == '{' && length%2 == 1
}

// matchesAny reports whether a path matches one of the patterns.
func matchesAny(patterns, path []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		rest, ok := afterPattern(p, path)
		return ok && len(rest) == 0
	})
}

// startsWithAny reports whether the beginning of a path matches one of the patterns.
func startsWithAny(patterns, path []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		_, ok := afterPattern(p, path)
		return ok
	})
}

// afterPattern returns the rest of a path after the pattern; false if the path doesn't begin with it.
func afterPattern(pattern string, path []string) (rest []string, ok bool) {
	for token := range jsontext.Pointer(pattern).Tokens() {
		if len(path) == 0 {
			return nil, false
		}
		_, err := strconv.ParseUint(path[0], 10, 63)
		if token != path[0] && (token != "*" || err != nil) {
			return nil, false
		}
		path = path[1:]
	}
	return path, true
}
