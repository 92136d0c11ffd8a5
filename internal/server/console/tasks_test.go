package console_test

import (
	"net/http"
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
		got, next := console.OnePage(c.ids, c.next, 3, false)
		if !slices.Equal(got, c.want) || next != c.wantNext {
			t.Errorf("%s: %v and %q, want %v and %q", c.name, got, next, c.want, c.wantNext)
		}
	}
}

// TestPageOfTwoModesBack: the other way the page ends with the list that was looked at least far towards the newest.
func TestPageOfTwoModesBack(t *testing.T) {
	got, next := console.OnePage([]string{"5", "2", "4"}, "4", 3, true)
	if !slices.Equal(got, []string{"2", "4"}) || next != "4" {
		t.Errorf("%v and %q, want 2 and 4, and 4", got, next)
	}
	got, next = console.OnePage([]string{"5", "2", "4", "3"}, "", 3, true)
	if !slices.Equal(got, []string{"2", "3", "4"}) || next != "4" {
		t.Errorf("%v and %q, want the three oldest", got, next)
	}
	for _, c := range []struct {
		a, b        string
		oldestFirst bool
		want        string
	}{
		{"1", "2", false, "2"},
		{"2", "1", false, "2"},
		{"1", "2", true, "1"},
		{"2", "1", true, "1"},
		{"", "2", false, "2"},
		{"2", "", false, "2"},
		{"", "2", true, "2"},
		{"2", "", true, "2"},
		{"", "", true, ""},
	} {
		if got := console.Sooner(c.a, c.b, c.oldestFirst); got != c.want {
			t.Errorf("of %q and %q, oldest first %t: %q, want %q", c.a, c.b, c.oldestFirst, got, c.want)
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
	for _, want := range []string{"<h2>Metadata</h2>", "<dt>team</dt><dd>zarquon &lt;b&gt;</dd>", "<dt>none</dt><dd>–</dd>"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %s on %s", want, page.body)
		}
	}
	if page := operates.get("/tasks/" + done.ID); !strings.Contains(page.body, "Attempts") || strings.Contains(page.body, "zarquon") {
		t.Errorf("an operator's page: %s", page.body)
	}
}

// TestTasksByMetadata: the list is filtered by any pairs, in the API's words or the form's, and pages on within them; a
// filter that there isn't is refused.
func TestTasksByMetadata(t *testing.T) {
	w := newWorld(t)
	owner, operates := w.member("acme", "member"), w.member("ops", "operator")
	run := func(metadata string) string {
		return owner.run(`{"capability":"text.chat","input":{"prompt":"hello"},"metadata":` + metadata + `}`).ID
	}
	search, sales, both := run(`{"team":"search"}`), run(`{"team":"sales"}`), run(`{"team":"search","run":"7 & 8"}`)
	for query, want := range map[string][]string{
		"":                                  {both, sales, search},
		"?metadata.team=search":             {both, search},
		"?metadata=team%3Dsearch&metadata=": {both, search},
		"?metadata.team=search&metadata.run=7+%26+8": {both},
		"?metadata=team%3Dsales&mode=test":           {sales},
		"?metadata.team=other":                       nil,
	} {
		page := owner.get("/tasks" + query)
		for _, id := range []string{search, sales, both} {
			if got := strings.Contains(page.body, "/console/tasks/"+id); got != slices.Contains(want, id) {
				t.Errorf("%q shows %s: %t", query, id, got)
			}
		}
	}
	for range console.TasksPage {
		run(`{"team":"search"}`)
	}
	page := owner.get("/tasks?metadata.team=search")
	for _, want := range []string{`value="team=search"`, `rel="next" href="?account=acme&amp;cursor=task_`, `&amp;metadata.team=search"`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %s on %s", want, page.body)
		}
	}
	for _, query := range []string{"?metadat=team%3Dsearch", "?metadata=team", "?metadata.team=a&metadata.team=b", "?metadata.=a"} {
		if got := owner.get("/tasks" + query); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, got.StatusCode)
		}
	}
	if got := operates.get("/tasks?account=acme&metadata.team=search"); got.StatusCode != http.StatusBadRequest {
		t.Errorf("an operator filters another account's tasks by metadata: status %d", got.StatusCode)
	}
}
