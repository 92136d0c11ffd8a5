//go:build unix

package tui_test

import (
	"syscall"
	"testing"
)

// TestPickerOpensNoPipe: a pipe isn't listed, and isn't opened, which might never end.
func TestPickerOpensNoPipe(t *testing.T) {
	folder(t)
	if err := syscall.Mkfifo("pipe.png", 0o600); err != nil {
		t.Fatal(err)
	}
	bubble(t, func(t *testing.T) {
		r := newTestDashboard(t, newFake(builtIn(t, "text.chat")...))
		r.press("enter", "tab", "ctrl+o")
		r.shows("▸ a.png", "2 more files")
		r.hides("pipe.png")
	})
}
