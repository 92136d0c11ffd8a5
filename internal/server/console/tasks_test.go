package console_test

import (
	"slices"
	"testing"

	"unitask/internal/server/console"
)

// TestPageOfTwoModes: a page of live and test tasks ends with the first of the two lists, so that no task is left out
// or shown twice, also if a list stopped short of the page's length.
func TestPageOfTwoModes(t *testing.T) {
	for _, c := range []struct {
		name     string
		ids      []string
		next     string
		want     []string
		wantNext string
	}{
		{"all there are", []string{"1", "3", "2"}, "", []string{"3", "2", "1"}, ""},
		{"full", []string{"5", "3", "1", "4"}, "", []string{"5", "4", "3"}, "3"},
		{"one list stopped", []string{"5", "2"}, "4", []string{"5"}, "4"},
		{"it stopped at a task", []string{"5", "4", "2"}, "4", []string{"5", "4"}, "4"},
		{"nothing so far", nil, "4", nil, "4"},
		{"nothing as far as both were looked at", []string{"2"}, "4", nil, "4"},
	} {
		got, next := console.OnePage(c.ids, c.next, 3)
		if !slices.Equal(got, c.want) || next != c.wantNext {
			t.Errorf("%s: %v and %q, want %v and %q", c.name, got, next, c.want, c.wantNext)
		}
	}
}
