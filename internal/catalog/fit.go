package catalog

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"unitask/internal/jsonread"
)

// takes reports whether a value surely is valid. It takes values in canonical form only.
func (f *form) takes(raw []byte) bool {
	in := jsonread.Tight(raw)
	f.fit(&in)
	return in.Done()
}

// fit skips a value, and fails if it may not be valid.
func (f *form) fit(in *jsonread.Reader) {
	fits := false
	switch {
	case f == nil:
	case f.kind == '{':
		fits = f.fitObject(in)
	case f.kind == '[':
		fits = f.fitArray(in)
	case f.kind == '"':
		fits = f.fitString(in.Quoted())
	case f.kind == '0':
		_, n, ok := in.Number()
		fits = ok && f.bounds.hold(n) && (!f.whole || n == math.Trunc(n))
	default:
		c := in.Peek()
		in.Skip()
		fits = c == 't' || c == 'f'
	}
	if !fits {
		in.Fail()
	}
}

func (f *form) fitObject(in *jsonread.Reader) bool {
	var given memberSet
	for in.Open('{'); in.More('}'); {
		i := f.member(in.NameQuoted())
		if i < 0 || given&(1<<i) != 0 {
			return false
		}
		given |= 1 << i
		f.members[i].form.fit(in)
	}
	return f.met(given)
}

// member returns the place of the member that is called so; -1: there is none.
func (f *form) member(name []byte, how jsonread.Spelling) int {
	if name == nil || how.Escaped() {
		return -1
	}
	name = name[1 : len(name)-1]
	return slices.IndexFunc(f.members, func(m formMember) bool { return m.name == string(name) })
}

func (f *form) met(given memberSet) bool {
	for i := range f.demands {
		if !f.demands[i].met(given) {
			return false
		}
	}
	return true
}

func (f *form) fitArray(in *jsonread.Reader) bool {
	n := 0
	for in.Open('['); in.More(']'); n++ {
		f.items.fit(in)
	}
	return f.bounds.hold(float64(n))
}

func (f *form) fitString(raw []byte, how jsonread.Spelling) bool {
	if !how.Canonical || !f.bounds.hold(float64(how.Runes(raw))) {
		return false
	}
	if f.words != nil && !slices.Contains(f.words, string(raw)) {
		return false
	}
	text := raw[1 : len(raw)-1]
	switch pattern := f.pattern.(type) {
	case nil:
		return true
	case visible:
		return shows(text)
	default:
		return !how.Escaped() && pattern.MatchString(string(text))
	}
}

// shows is visible's MatchString for the text between the quotes of a checked string.
func shows(text []byte) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == '\\' {
			if !strings.ContainsRune("fnrt", rune(text[i+1])) {
				return true
			}
			size++
		} else if !space(r) {
			return true
		}
		i += size
	}
	return false
}

// space reports whether notBlank's \S doesn't match r.
func space(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }
