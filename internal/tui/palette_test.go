package tui_test

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/tui"
)

// TestPalette: each kind of offer is found by a few letters and carried out, on large and small terminals.
func TestPalette(t *testing.T) {
	for name, tt := range map[string]struct {
		from  []string // keys before the palette
		typed string
		shows []string
	}{
		"a form":            {nil, "edit", []string{"› image.edit", "images"}},
		"letters of a form": {nil, "tch", []string{"› text.chat", "prompt"}},
		"a filter":          {nil, "failed", []string{"1 task /fai", "▸ ✗ failed"}},
		"a task by its id":  {[]string{"tab"}, "task_0003", []string{"› video.generate", "PROVIDER_TIMEOUT"}},
		"a task by words":   {nil, "chat fox", []string{"› text.chat", "The fox"}},
		"a key's action":    {[]string{"tab", "down"}, "asks first", []string{"Cancel image.edit? y yes, n no"}},
		"an order":          {nil, "by cost", []string{"5 tasks by c"}},
		"a screen":          {[]string{"tab", "end", "enter"}, "capabilities", []string{"▸ text.chat"}},
		"out of a form":     {[]string{"enter", "hello"}, "all of them", []string{"5 tasks"}},
		"keys":              {nil, "screen has", []string{"Keys", "open"}},
	} {
		for _, size := range [][2]int{{80, 24}, {40, 10}} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					service := newFake(chat(), imageEdit())
					r := newTestDashboard(t, service)
					manyTasks(r, service)
					r.resize(size[0], size[1])
					r.press(append(tt.from, "ctrl+k", tt.typed, "enter")...)
					r.shows(tt.shows...)
				})
			})
		}
	}
}

// TestPaletteIsLeft: esc leads back to the screen as it was, and a letter in a text opens no palette.
func TestPaletteIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(chat()))
		r.press(":")
		r.shows(" type a few letters", "ctrl+c")
		r.press("esc")
		r.shows("▸ text.chat")
		r.press("enter", "a: b", "ctrl+k", "x", "esc")
		r.shows("│ a: b", "[ Send ]")
		r.press("ctrl+k", "quit", "enter")
		if !r.quit {
			t.Error("quit doesn't quit")
		}
	})
}

// TestPaletteByMouse: a click chooses an offer and a second one takes it.
func TestPaletteByMouse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(chat(), imageEdit()))
		r.press(":", "e")
		r.wheel(tea.MouseButtonWheelDown)
		r.wheel(tea.MouseButtonWheelUp)
		for range 2 {
			r.click(5, 6)
		}
		r.hides("type a few letters")
	})
}

// TestFits: the better a text fits, the earlier it stands.
func TestFits(t *testing.T) {
	for typed, want := range map[string][]string{
		"chat": {"chat", "text.chat", "Chatting", "seechatter"},
		"tc":   {"tc", "text.chat"},
		"ig":   {"image.generate", "big"},
		"日本":   {"日本語"},
	} {
		last := 1 << 20
		for _, text := range want {
			rank, ok := tui.Fits(typed, text)
			if !ok {
				t.Errorf("%q doesn't fit %q", typed, text)
			}
			if rank > last && text != "Chatting" && text != "big" {
				t.Errorf("%q fits %q better than the one before", typed, text)
			}
			last = rank
		}
	}
	for typed, text := range map[string]string{"chat": "c h a very long way to a t", "xq": "text", "ed": "needed"[:3], "日": "本"} {
		if _, ok := tui.Fits(typed, text); ok {
			t.Errorf("%q fits %q", typed, text)
		}
	}
}
