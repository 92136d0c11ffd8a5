package fastlane

import (
	"bytes"
	"math"
	"slices"

	"unitask/internal/jsonread"
)

// Accepts reports whether a value is valid for sure. It accepts canonical form alone. base64 are strings of it that
// Decode has read.
func (s *Schema) Accepts(raw []byte, base64 [][]byte) bool {
	in := jsonread.Compact(raw).Passing(base64)
	s.accept(&in)
	return in.Done()
}

// accept reads a value, and fails unless it is valid for sure.
func (s *Schema) accept(in *jsonread.Reader) {
	valid := false
	switch s.kind {
	case '{':
		valid = s.acceptObject(in)
	case '[':
		n := 0
		for in.Open('['); in.More(']'); n++ {
			s.items.accept(in)
		}
		valid = s.inBounds(float64(n))
	case '"':
		if s.list != nil && s.enum == nil && in.Peek() == '[' {
			s.list.accept(in)
			return
		}
		valid = s.acceptString(in.Quoted())
	case '0':
		_, n, ok := in.Number()
		valid = ok && s.inBounds(n) && (!s.integer || n == math.Trunc(n))
	case 't':
		c := in.Peek()
		in.Skip()
		valid = c == 't' || c == 'f'
	}
	if !valid {
		in.Fail()
	}
}

func (s *Schema) inBounds(n float64) bool { return s.min <= n && n <= s.max }

func (s *Schema) acceptObject(in *jsonread.Reader) bool {
	var given memberSet
	var tells []byte // the value that the cases depend on
	for in.Open('{'); in.More('}'); {
		name, spelling := in.NameQuoted()
		if name == nil || spelling.Escaped() {
			return false
		}
		i := s.member(string(name[1 : len(name)-1]))
		if i < 0 || given&(1<<i) != 0 {
			return false
		}
		given |= 1 << i
		if len(s.cases) > 0 && s.cases[0].member == i {
			ahead := *in
			tells = ahead.Value()
		}
		s.members[i].schema.accept(in)
	}
	for i := range s.cases {
		if !s.cases[i].holds(tells, given) {
			return false
		}
	}
	return s.rulesHold(given)
}

// member returns the index of the member with that name, or -1.
func (s *Schema) member(name string) int {
	return slices.IndexFunc(s.members, func(p property) bool { return p.name == name })
}

func (s *Schema) rulesHold(given memberSet) bool {
	for i := range s.rules {
		if !s.rules[i].holds(given) {
			return false
		}
	}
	return true
}

func (s *Schema) acceptString(raw []byte, spelling jsonread.Spelling) bool {
	if !spelling.Canonical || !s.inBounds(float64(spelling.Runes(raw))) || s.enum != nil && !slices.Contains(s.enum, string(raw)) {
		return false
	}
	if s.base64 && !spelling.Base64 && !jsonread.IsBase64(spelling.Unquote(raw)) {
		return false
	}
	if p, ok := s.pattern.(partMatcher); ok && spelling.Escaped() && p.MatchPart(raw[1:bytes.IndexByte(raw, '\\')]) {
		return true // without a copy
	}
	return s.pattern == nil || s.pattern.Match(spelling.Unquote(raw))
}

// AcceptsOutput reports whether an object of these members is valid for sure: text unless nil,
// finish_reason unless empty and embeddings unless nil, whose numbers are finite.
func (s *Schema) AcceptsOutput(text *string, finishReason string, embeddings [][]float32) bool {
	var given memberSet
	for _, m := range []struct {
		name    string
		given   bool
		accepts func(*Schema) bool
	}{
		{"text", text != nil, (*Schema).acceptsAnyString},
		{"finish_reason", finishReason != "", func(s *Schema) bool { return slices.Contains(s.enum, `"`+finishReason+`"`) }},
		{"embeddings", embeddings != nil, func(s *Schema) bool { return s.acceptsVectors(embeddings) }},
	} {
		if !m.given {
			continue
		}
		i := s.member(m.name)
		if i < 0 || !m.accepts(s.members[i].schema) {
			return false
		}
		given |= 1 << i
	}
	return s.kind == '{' && s.rulesHold(given)
}

func (s *Schema) acceptsAnyString() bool {
	return s.kind == '"' && s.enum == nil && s.pattern == nil && s.unbounded()
}

func (s *Schema) unbounded() bool { return s.min == unboundedLow && s.max == unboundedHigh }

func (s *Schema) acceptsVectors(vectors [][]float32) bool {
	if s.kind != '[' || !s.inBounds(float64(len(vectors))) {
		return false
	}
	vector := s.items
	if vector.list != nil {
		vector = vector.list
	}
	if vector.kind != '[' {
		return false
	}
	number := vector.items
	if number.kind != '0' || number.integer || !number.unbounded() {
		return false
	}
	return !slices.ContainsFunc(vectors, func(v []float32) bool { return !vector.inBounds(float64(len(v))) })
}
