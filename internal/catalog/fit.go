package catalog

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"unitask/internal/jsonscan"
)

// takes reports whether a value surely is valid. It takes none but in canonical form.
func (f *form) takes(raw []byte) bool {
	end, ok := f.fit(raw, 0)
	return ok && end == len(raw)
}

// fit looks over the value that begins at raw[at], up to right behind its end.
func (f *form) fit(raw []byte, at int) (end int, ok bool) {
	switch {
	case f == nil || at >= len(raw):
		return 0, false
	case f.kind == '{':
		return f.fitObject(raw, at)
	case f.kind == '[':
		return f.fitArray(raw, at)
	case f.kind == '"':
		return f.fitString(raw, at)
	case f.kind == '0':
		end, n, ok := jsonscan.Number(raw, at)
		return end, ok && f.bounds.hold(n) && (!f.whole || n == math.Trunc(n))
	case bytes.HasPrefix(raw[at:], []byte("true")):
		return at + len("true"), true
	default:
		return at + len("false"), bytes.HasPrefix(raw[at:], []byte("false"))
	}
}

func (f *form) fitObject(raw []byte, at int) (end int, ok bool) {
	if raw[at] != '{' {
		return 0, false
	}
	var given memberSet
	if bytes.HasPrefix(raw[at:], []byte("{}")) {
		return at + len("{}"), f.met(given)
	}
	for {
		name, value, ok := jsonscan.Member(raw, at)
		if !ok {
			return 0, false
		}
		i := slices.IndexFunc(f.members, func(m formMember) bool { return m.name == string(name) })
		if i < 0 || given&(1<<i) != 0 {
			return 0, false
		}
		given |= 1 << i
		if at, ok = f.members[i].form.fit(raw, value); !ok || at >= len(raw) {
			return 0, false
		}
		switch raw[at] {
		case ',':
		case '}':
			return at + 1, f.met(given)
		default:
			return 0, false
		}
	}
}

func (f *form) met(given memberSet) bool {
	for i := range f.demands {
		if !f.demands[i].met(given) {
			return false
		}
	}
	return true
}

func (f *form) fitArray(raw []byte, at int) (end int, ok bool) {
	if raw[at] != '[' {
		return 0, false
	}
	if bytes.HasPrefix(raw[at:], []byte("[]")) {
		return at + len("[]"), f.bounds.hold(0)
	}
	for n := 1; ; n++ {
		if at, ok = f.items.fit(raw, at+1); !ok || at >= len(raw) {
			return 0, false
		}
		switch raw[at] {
		case ',':
		case ']':
			return at + 1, f.bounds.hold(float64(n))
		default:
			return 0, false
		}
	}
}

func (f *form) fitString(raw []byte, at int) (end int, ok bool) {
	end, runes, ok := jsonscan.String(raw, at)
	if !ok || !f.bounds.hold(float64(runes)) {
		return 0, false
	}
	if f.words != nil && !slices.Contains(f.words, string(raw[at:end])) {
		return 0, false
	}
	text := raw[at+1 : end-1]
	switch pattern := f.pattern.(type) {
	case nil:
		return end, true
	case visible:
		return end, shows(text)
	default:
		return end, bytes.IndexByte(text, '\\') < 0 && pattern.MatchString(string(text))
	}
}

// shows is visible's MatchString for what stands between the quotes of a string that was looked over.
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
