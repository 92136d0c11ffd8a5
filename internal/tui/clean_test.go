package tui_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"unitask/internal/tui"
)

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "two\nlines", "two\nlines"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;owned\x07b\x1b]8;;http://x\x1b\\c", "abc"},
		{"clear", "\x1b[2J\x1b[Hx", "x"},
		{"eight bits", "\u009b31mred\u009d0;t\u009c.", "red."},
		{"unfinished", "\x1b[31", "[31"},
		{"unfinished command hides nothing", "\x1b]0;all the rest", "]0;all the rest"},
		{"bell, backspace, null", "a\a\b\x00b", "ab"},
		{"line ends", "a\r\nb\rc\u2028d", "a\nbc\nd"},
		{"tab", "a\tb", "a    b"},
		{"direction", "a\u202eb\u2066c", "abc"},
		{"no UTF-8", "a\xffb", "a\uFFFDb"},
		{"emoji with joiners", "👩‍🚀 ❤️", "👩‍🚀 ❤️"},
		{"scripts", "日本 עברית किताब", "日本 עברית किताब"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tui.Text(tt.in); got != tt.want {
				t.Errorf("text(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	if got, want := tui.Line(" a \n\n b\x1b[2J "), "a b"; got != want {
		t.Errorf("line: %q, want %q", got, want)
	}
}

// FuzzText: any text is drawn without control characters but line ends, as UTF-8, and cleaning is idempotent.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b[31mx", "\x1b]0;t\x07", "\u009b2J", "\r\n\t", "a\xffb", "\u202e", "👩‍🚀"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := tui.Text(in)
		bad := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Zl, r)) }
		if at := strings.IndexFunc(got, bad); at >= 0 || !utf8.ValidString(got) {
			t.Errorf("text(%q) = %q", in, got)
		}
		if again := tui.Text(got); again != got {
			t.Errorf("text(%q) = %q, and again %q", in, got, again)
		}
		if strings.Contains(tui.Line(in), "\n") {
			t.Errorf("line(%q) = %q", in, tui.Line(in))
		}
	})
}
