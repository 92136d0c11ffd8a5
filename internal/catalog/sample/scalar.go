package sample

import (
	"encoding/base64"
	"errors"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostText = 200     // characters of a free string
	mostPad  = 1 << 20 // characters that all strings are padded with
	spread   = 10      // numbers differ by so much without other bounds
)

// formats have one value each.
var formats = map[string]string{
	"date-time": "2030-01-01T09:30:00Z", "date": "2030-01-01", "time": "09:30:00Z", "duration": "PT30S",
	"email": "someone@example.com", "idn-email": "someone@example.com", "hostname": "example.com", "idn-hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.com/", "uri-reference": "/sample", "iri": "https://example.com/",
	"iri-reference": "/sample", "uri-template": "/{sample}", "uuid": "4b1a2f0e-5a3c-4d1e-9f7b-2c6d8e0a1b3c", "json-pointer": "/sample",
	"relative-json-pointer": "0", "regex": "sample",
}

func (m *maker) string(s map[string]any) (any, error) {
	if name, ok := s["format"].(string); ok && formats[name] != "" {
		return formats[name], nil
	}
	text := m.text()
	if s["contentEncoding"] == "base64" {
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	}
	if most, ok := s["maxLength"].(float64); ok {
		text = cut(text, int(min(most, mostText)))
	}
	if least, ok := s["minLength"].(float64); ok {
		lacks := max(0, int(min(least, mostPad+mostText))-utf8.RuneCountInString(text))
		if m.padded += lacks; m.padded > mostPad {
			return nil, errLarge
		}
		text += strings.Repeat("x", lacks)
	}
	if pattern, ok := s["pattern"].(string); ok {
		return matching(pattern, text)
	}
	return text, nil
}

func cut(text string, most int) string {
	n := 0
	for at := range text {
		if n == most {
			return text[:at]
		}
		n++
	}
	return text
}

// matching returns a text that a pattern matches: the given one, or the shortest that the pattern allows.
func matching(pattern, text string) (any, error) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errors.New("a pattern can't be read")
	}
	if compiled.MatchString(text) {
		return text, nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, errors.New("a pattern can't be read")
	}
	var b strings.Builder
	spell(&b, tree)
	if !compiled.MatchString(b.String()) {
		return nil, errors.New("no text is found for a pattern")
	}
	return b.String(), nil
}

// spell writes the shortest text of a regular expression.
func spell(b *strings.Builder, e *syntax.Regexp) {
	times := 1
	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		b.WriteRune(member(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpAlternate:
		spell(b, e.Sub[0])
		return
	case syntax.OpStar, syntax.OpQuest:
		times = 0
	case syntax.OpRepeat:
		times = e.Min
	}
	for range times {
		for _, sub := range e.Sub {
			spell(b, sub)
		}
	}
}

// member returns a character of a class, which is a list of ranges: a plain one if it has one.
func member(ranges []rune) rune {
	for _, r := range "a0A_- " {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return r
			}
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		if unicode.IsPrint(ranges[i]) {
			return ranges[i]
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}

// number returns one between the bounds; of one bound alone, near it.
func (m *maker) number(s map[string]any, whole bool) (any, error) {
	step, stepped := s["multipleOf"].(float64)
	if whole && !stepped {
		step, stepped = 1, true
	}
	low, hasLow := s["minimum"].(float64)
	if n, ok := s["exclusiveMinimum"].(float64); ok && (!hasLow || n >= low) {
		low, hasLow = n, true
		if stepped {
			low = math.Nextafter(n, math.Inf(1))
		}
	}
	high, hasHigh := s["maximum"].(float64)
	if n, ok := s["exclusiveMaximum"].(float64); ok && (!hasHigh || n <= high) {
		high, hasHigh = n, true
		if stepped {
			high = math.Nextafter(n, math.Inf(-1))
		}
	}
	switch {
	case !hasLow && !hasHigh:
		high = spread
	case !hasLow:
		low = min(0, high-spread)
	case !hasHigh:
		high = low + spread
	}
	n := low + (high-low)/parts*float64(1+m.next(parts-1)) // between the bounds, with few binary digits
	if stepped {
		first, last := math.Ceil(low/step), math.Floor(high/step)
		if !(first <= last) {
			return nil, errImpossible
		}
		n = step * (first + float64(m.next(uint64(min(last-first, spread))+1)))
		if step != math.Trunc(step) && math.Abs(n) < 1000 {
			n = math.Round(n*1e12) / 1e12 // three times 0.1 is 0.3
		}
	}
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return nil, errImpossible
	}
	return n + 0, nil // zero without a sign
}

// parts are the steps from one bound to the other.
const parts = 1 << 10
