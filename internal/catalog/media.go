package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"unitask/internal/jsonread"
)

// MediaPointers returns the JSON pointers of the media values present in a decoded and validated input, such as
// "/images/0", in the order of the capability's MediaInputs and then of the arrays. base64 are Request.Base64, if it is
// at hand.
func MediaPointers(c Capability, input json.RawMessage, base64 ...[]byte) []string {
	if !slices.ContainsFunc(c.MediaInputs, func(pattern string) bool { return mayMatch(pattern, input) }) {
		return nil
	}
	w := mediaWalker{in: jsonread.Sound(input).Passing(base64), found: make([][]string, len(c.MediaInputs))}
	candidates := make([]candidate, len(c.MediaInputs))
	for i, pattern := range c.MediaInputs {
		candidates[i] = candidate{i, strings.Split(pattern, "/")[1:]}
	}
	w.value("", candidates)
	return slices.Concat(w.found...)
}

// mayMatch reports whether an object in canonical form may have a value at the pattern. Most chats have no media, and
// tell so without being read through.
func mayMatch(pattern string, object []byte) bool {
	if strings.ContainsFunc(pattern, func(r rune) bool { return r < ' ' || r >= '~' || r == '"' || r == '\\' }) {
		return true // its names aren't written, or aren't sorted, as they are here
	}
	first, _, _ := strings.Cut(pattern[1:], "/")
	last := strings.TrimSuffix(pattern, "/"+anyElement)
	last = last[strings.LastIndexByte(last, '/')+1:]
	in := jsonread.Sound(object)
	in.Open('{')
	if !in.More('}') || string(in.Name()) > first {
		return false // its members are sorted
	}
	var buffer [64]byte // on the stack: every chat comes here
	return bytes.Contains(object, append(append(append(buffer[:0], '"'), last...), '"', ':'))
}

// anyElement is the token of a pattern that matches any index of an array.
const anyElement = "*"

// candidate is a pattern that the path up to a value matches.
type candidate struct {
	pattern int // index in MediaInputs
	rest    []string
}

// mediaWalker finds the values of all patterns in one pass: an input may have megabytes.
type mediaWalker struct {
	in    jsonread.Reader
	found [][]string // pointers, by pattern
}

// value reads the value at the pointer base, whose path the candidates match.
func (w *mediaWalker) value(base string, candidates []candidate) {
	for _, c := range candidates {
		if len(c.rest) == 0 {
			w.found[c.pattern] = append(w.found[c.pattern], base)
		}
	}
	switch bracket := w.in.Peek(); {
	case len(candidates) > 0 && bracket == '{':
		for w.in.Open(bracket); w.in.More('}'); {
			token := escapeToken(string(w.in.Name()))
			next := advance(candidates, token)
			if token == anyElement { // the name of a member here
				next = nil
			}
			w.value(base+"/"+token, next)
		}
	case len(candidates) > 0 && bracket == '[':
		w.in.Open(bracket)
		for i := 0; w.in.More(']'); i++ {
			w.value(base+"/"+strconv.Itoa(i), advance(candidates, anyElement))
		}
	default:
		w.in.Skip()
	}
}

// advance returns the candidates that continue with the token, without it.
func advance(candidates []candidate, token string) []candidate {
	var next []candidate
	for _, c := range candidates {
		if len(c.rest) > 0 && c.rest[0] == token {
			next = append(next, candidate{c.pattern, c.rest[1:]})
		}
	}
	return next
}

// MediaKind returns the kind of the media value at a pointer into the input: "image", "audio", "video", "document"
// or "file".
func (c Capability) MediaKind(pointer string) string {
	path := strings.Split(pointer, "/")[1:]
	for _, pattern := range c.MediaInputs {
		if matchesAny([]string{pattern}, path) {
			return c.MediaKinds[pattern]
		}
	}
	return ""
}

// ValueAt returns the value at a JSON pointer into an input, as a part of it; nil if absent.
func ValueAt(input json.RawMessage, pointer string) json.RawMessage {
	in := ReaderAt(input, pointer)
	return in.Value()
}

// ReaderAt returns a reader of a decoded input whose next value is the one at a JSON pointer; it has failed if that is
// absent. base64 are Request.Base64, if it is at hand.
func ReaderAt(input json.RawMessage, pointer string, base64 ...[]byte) jsonread.Reader {
	in := jsonread.Sound(input).Passing(base64)
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if !enter(&in, token) {
			in.Fail()
			break
		}
	}
	return in
}

// enter advances into the next object or array, to the token's value, and reports whether that exists.
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

// inputPatterns returns the JSON-pointer patterns of the input's members that match, at any depth.
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
	for _, inner := range f.Parts {
		patterns = appendPatterns(patterns, inner, base+"/"+anyElement, is)
	}
	return patterns
}

// outputKinds returns the kinds of files that an output schema has members for, and whether it has one for a text.
func outputKinds(schema json.RawMessage) (files []string, text bool, err error) {
	var n node
	if err := jsonv2.Unmarshal(schema, &n); err != nil {
		return nil, false, err
	}
	for _, p := range n.Properties {
		switch p.name {
		case "images":
			files = append(files, "image")
		case "videos":
			files = append(files, "video")
		case "audio":
			files = append(files, "audio")
		case "text":
			text = true
		}
	}
	return files, text, nil
}
