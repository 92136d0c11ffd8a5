package console_test

import (
	"slices"
	"strings"
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

// TestMetadataOnTheTasksPage: its owner reads it, as text, and usage by it; an operator of another account doesn't.
func TestMetadataOnTheTasksPage(t *testing.T) {
	w := newWorld(t)
	owner, operates := w.member("acme", "member"), w.member("ops", "operator")
	done := owner.run(`{"capability":"text.chat","input":{"prompt":"hello"},"metadata":{"team":"zarquon <b>","none":""}}`)
	usage := owner.get("/usage")
	for _, want := range []string{"<h2>By team</h2>", "<code>zarquon &lt;b&gt;</code>"} {
		if !strings.Contains(usage.body, want) {
			t.Errorf("no %s on the page of usage: %s", want, usage.body)
		}
	}
	page := owner.get("/tasks/" + done.ID)
	for _, want := range []string{"<dt>team</dt><dd>zarquon &lt;b&gt;</dd>", "<dt>none</dt><dd>–</dd>"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %s on %s", want, page.body)
		}
	}
	if page := operates.get("/tasks/" + done.ID); !strings.Contains(page.body, "Attempts") || strings.Contains(page.body, "zarquon") {
		t.Errorf("an operator's page: %s", page.body)
	}
}
