package main

import (
	"strings"
	"testing"
)

// TestWordWrap: however a text is cut into pieces, a terminal of 10 columns gets line breaks between words alone.
func TestWordWrap(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"words":              {"one two three four\n", "one two\nthree four\n"},
		"to the edge":        {"12345 7890 12345\n", "12345 7890\n12345\n"},
		"own lines":          {"one\n\n  two three four\n", "one\n\n  two\n  three\n  four\n"},
		"a list":             {"- one two three\n* four five\n  - six seven\n", "- one two\n  three\n* four\n  five\n  - six\n    seven\n"},
		"a numbered list":    {"9. one two\n10) one two\n1999. is a year\n", "9. one two\n10) one\n    two\n1999. is a\nyear\n"},
		"no list":            {"**one** two\n-5 is cold now\n- - is a dash\n", "**one**\ntwo\n-5 is cold\nnow\n- - is a\n  dash\n"},
		"a deep list":        {"      - one two\n", "      -\none two\n"},
		"a long word in it":  {"- one 123456789 two\n", "- one\n123456789\n  two\n"},
		"space at the end":   {"123456789   \n1234567   \n", "123456789\n1234567   \n"},
		"tabs":               {"a\tb cd\n", "a\tb\ncd\n"},
		"a long word":        {"see 123456789012345 and on\n", "see 123456789012345\nand on\n"},
		"a long first word":  {"12345678901 and on\n", "12345678901 and on\n"},
		"code":               {"````go\na := call(b, c)\n```\n````\none two three four\n", "````go\na := call(b, c)\n```\n````\none two\nthree four\n"},
		"indented code":      {"  ~~~\n  1 23456 890 12\n  ~~~\none two three\n", "  ~~~\n  1 23456 890 12\n  ~~~\none two\nthree\n"},
		"code within a line": {"```a``` is a short word\none two three\n", "```a``` is a short word\none two\nthree\n"},
		"a table":            {"| one two | three four |\n|---|---|\none two three\n", "| one two | three four |\n|---|---|\none two\nthree\n"},
		"East Asian":         {"これは長い文です。\n", "これは長い\n文です。\n"},
		"its full stop":      {"これは長い。\n", "これは長\nい。\n"},
		"its bracket":        {"これは長「い」\n", "これは長\n「い」\n"},
		"Korean":             {"안녕하 세요요\n", "안녕하\n세요요\n"},
		"emoji":              {"12345678 👩‍👩‍👧 👋🏽 x\n", "12345678\n👩‍👩‍👧 👋🏽 x\n"},
		"a combining accent": {"123456789 e\u0301 1234567 e\u0301e\u0301\n", "123456789\ne\u0301 1234567\ne\u0301e\u0301\n"},
	} {
		t.Run(name, func(t *testing.T) {
			whole, runes := wordWrap{width: 10}, wordWrap{width: 10}
			var out strings.Builder
			for _, r := range tt.text {
				out.WriteString(runes.take(string(r)))
			}
			if got := whole.take(tt.text); got != tt.want || out.String() != tt.want {
				t.Errorf("whole %q, in pieces %q, want %q", got, out.String(), tt.want)
			}
		})
	}
}

// TestWordWrapStreams: only the word that is being written is held back, and a resized terminal has its new width.
func TestWordWrapStreams(t *testing.T) {
	var out strings.Builder
	width := 10
	s := &textPrinter{t: &terminal{out: &out, outTTY: true, width: func() int { return width }}, begin: func(*textPrinter) {}}
	for _, step := range []struct {
		width       int
		piece, want string
	}{
		{10, "one two th", "one two"},
		{10, "ree ", "one two\nthree"},
		{20, "four five six seven", "one two\nthree four five six"},
		{20, "\n\n```\n123456789", "one two\nthree four five six\nseven\n\n```\n123456789"},
	} {
		width = step.width
		if s.say(step.piece); out.String() != step.want {
			t.Errorf("after %q: %q, want %q", step.piece, out.String(), step.want)
		}
	}
	if s.end(); !strings.HasSuffix(out.String(), "789\n") {
		t.Errorf("at the end: %q", out.String())
	}
}

// TestWordWrapSparesPipes: a program gets each piece at once, as it is.
func TestWordWrapSparesPipes(t *testing.T) {
	var out strings.Builder
	s := &textPrinter{t: &terminal{out: &out, width: func() int { return 10 }}, begin: func(*textPrinter) {}}
	const text = "one two three  four fi"
	if s.say(text); out.String() != text {
		t.Errorf("%q, want %q", out.String(), text)
	}
}
