package tui_test

import (
	"bytes"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"unitask/internal/tui"
)

// TestEditor gives keys to an editor that is eleven columns wide and marks the cursor in its text.
func TestEditor(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		want string
	}{
		{"types", []string{"ab", " ", "c"}, "ab c|"},
		{"inserts", []string{"ac", "left", "b"}, "ab|c"},
		{"erases clusters", []string{"a👩‍🚀é", "backspace", "backspace"}, "a|"},
		{"joins an accent", []string{"e", "\u0301", "x"}, "e\u0301x|"},
		{"deletes forward", []string{"abc", "home", "delete"}, "|bc"},
		{"words", []string{"one two  three", "ctrl+left", "ctrl+left", "ctrl+right", "X"}, "one twoX|  three"},
		{"erases a word", []string{"one two", " ", "ctrl+w"}, "one |"},
		{"erases to the start", []string{"one", "enter", "two", "left", "ctrl+u"}, "one\n|o"},
		{"erases to the end", []string{"one", "enter", "two", "up", "home", "ctrl+k"}, "|\ntwo"},
		{"up keeps the column", []string{"abcd", "enter", "efgh", "left", "up", "X"}, "abcX|d\nefgh"},
		{"up over a wrapped word", []string{"hello wonderful world", "up", "up", "X"}, "helloX| wonderful world"},
		{"down into a short line", []string{"abcd", "enter", "e", "enter", "fghi", "up", "up", "end", "down", "X"}, "abcd\neX|\nfghi"},
		{"edges", []string{"left", "right", "backspace", "delete", "a", "right", "down", "up"}, "a|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tui.NewEditor()
			for _, k := range tt.keys {
				e.Key(key(k), 11)
			}
			at, _ := e.Cursor()
			marked := tui.NewEditor()
			marked.Key(key(e.Value()), 11)
			marked.Key(key("home"), 11)
			for marked.Key(key("up"), 11) {
			}
			marked.Key(key("home"), 11)
			for range at {
				marked.Key(key("right"), 11)
			}
			marked.Key(key("|"), 11)
			if got := marked.Value(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestEditorPaste(t *testing.T) {
	e := tui.NewEditor()
	e.Key(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune("a\r\x1b[31mb\tc")}, 20)
	if got, want := e.Value(), "a\nb    c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCursorWithoutColour: the cursor is seen on a terminal without colours, and NO_COLOR takes away
// colours alone.
func TestCursorWithoutColour(t *testing.T) {
	t.Setenv("TERM", "vt100")
	for _, colour := range []bool{true, false} {
		e := tui.NewEditor()
		e.Key(key("ab"), 20)
		e.Key(key("left"), 20)
		got := e.Render(20, 1, tui.NewStyle(&bytes.Buffer{}, colour))
		if diff := cmp.Diff([]string{"a\x1b[7mb\x1b[0m"}, got); diff != "" {
			t.Errorf("colour %t (-want +got):\n%s", colour, diff)
		}
	}
}

// FuzzEditor: whatever is typed, the cursor stands within the text, every row fits, and the rows
// together are the text.
func FuzzEditor(f *testing.F) {
	f.Add("hello wonderful world", "←↑→↓", 9)
	f.Add("日本語\n👩‍🚀 é\t", "↑↑x", 4)
	f.Fuzz(func(t *testing.T, typed, moves string, width int) {
		width = 4 + max(width, -width)%40
		e := tui.NewEditor()
		e.Key(key(typed), width)
		for _, m := range moves {
			switch m {
			case '←':
				e.Key(key("left"), width)
			case '→':
				e.Key(key("right"), width)
			case '↑':
				e.Key(key("up"), width)
			case '↓':
				e.Key(key("down"), width)
			case '⌫':
				e.Key(key("backspace"), width)
			default:
				e.Key(key(string(m)), width)
			}
		}
		if at, count := e.Cursor(); at < 0 || at > count {
			t.Fatalf("the cursor stands at %d of %d", at, count)
		}
		lines := e.Render(width, 1<<20, tui.Style{})
		for _, l := range lines {
			if tui.Cells(l) > width {
				t.Errorf("%q takes %d columns of %d", l, tui.Cells(l), width)
			}
		}
		drop := strings.NewReplacer("\n", "", " ", "")
		if got, want := drop.Replace(strings.Join(lines, "")), drop.Replace(e.Value()); got != want {
			t.Errorf("drawn %q of %q", got, want)
		}
	})
}
