package shown_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"unitask/internal/shown"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"two\nlines\tand a tab":          "two\nlines\tand a tab",
		"\x1b[2Jx\x07\x08\x00\x7f":       "[2Jx",
		"a\u009b31mb\u0085c":             "a31mbc",
		"a\x9b31mb":                      "a\uFFFD31mb",
		"user\u202etxt.exe\u2066\u200f.": "usertxt.exe.",
		"\ufeffa\u00adb\u2028c":          "abc",
		"tag \U000E0041 \uE000":          "tag  ",
		"👩‍🚀 日本 עברית":                   "👩‍🚀 日本 עברית",
	} {
		if got := shown.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestStyled(t *testing.T) {
	in, want := "\x1b[1;31mred\u009b2J\x1b[0m\x1b[2J\u202e\x1b[31", "\x1b[1;31mred2J\x1b[0m[2J[31"
	if got := shown.Styled(in); got != want {
		t.Errorf("Styled(%q) = %q, want %q", in, got, want)
	}
}

// FuzzText: no control character is left, and JSON has the same value as before.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "a\u009b2J", "\u202e\u2066", "\x1b[31m", "\U000E0041", "a\xffb", "👩‍🚀"} {
		f.Add(seed)
	}
	steers := func(r rune) bool {
		return r != '\n' && r != '\t' && r != '\u200c' && r != '\u200d' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got := shown.Text(in); strings.ContainsFunc(got, steers) || !utf8.ValidString(got) {
			t.Errorf("Text(%q) = %q", in, got)
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		escaped := shown.JSON(raw)
		if err := json.Unmarshal(raw, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(escaped, &after); err != nil || after != before || strings.ContainsFunc(string(escaped), steers) {
			t.Errorf("JSON(%q) = %q, %v", raw, escaped, err)
		}
	})
}
