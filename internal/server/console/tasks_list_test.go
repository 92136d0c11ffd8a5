package console_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/server/console"
	"unitask/internal/task"
)

var taskLink = regexp.MustCompile(`href="/console/tasks/(task_\w{26})"`)

// listed returns the ids of the tasks on a page of the list.
func (b *browser) listed(query string) []string {
	b.w.t.Helper()
	page := b.get("/tasks" + query)
	if page.StatusCode != http.StatusOK {
		b.w.t.Fatalf("%s: %d %s", query, page.StatusCode, page.body)
	}
	var ids []string
	for _, found := range taskLink.FindAllStringSubmatch(page.body, -1) {
		ids = append(ids, found[1])
	}
	return ids
}

// pagerLink returns the address of the pager's link, "" without it.
func pagerLink(body, rel string) string {
	found := regexp.MustCompile(`rel="` + rel + `" href="([^"]*)"`).FindStringSubmatch(body)
	if found == nil {
		return ""
	}
	return strings.ReplaceAll(found[1], "&amp;", "&")
}

// many makes so many chat tasks and returns their ids, the newest first.
func (b *browser) many(n int) (ids []string) {
	for range n {
		ids = append([]string{b.run(`{"capability":"text.chat","input":{"prompt":"hello"}}`).ID}, ids...)
		b.w.skip(time.Millisecond) // ids are ordered by the millisecond
	}
	return ids
}

// TestTasksBothWays: Older leads to the end of the list, and Newer back over the same pages to its beginning.
func TestTasksBothWays(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	all := b.many(2*console.TasksPage + 3)
	want := [][]string{all[:console.TasksPage], all[console.TasksPage : 2*console.TasksPage], all[2*console.TasksPage:]}
	var addresses []string
	for i, at := 0, ""; i < len(want); i++ {
		page := b.get("/tasks" + at)
		if got := b.listed(at); !slices.Equal(got, want[i]) {
			t.Fatalf("page %d has %v, want %v", i, got, want[i])
		}
		addresses = append(addresses, pagerLink(page.body, "prev"))
		if at = pagerLink(page.body, "next"); (at == "") != (i == len(want)-1) {
			t.Fatalf("page %d leads on to %q", i, at)
		}
	}
	if addresses[0] != "" {
		t.Errorf("the first page has newer ones: %s", addresses[0])
	}
	if got := b.listed(addresses[2]); !slices.Equal(got, want[1]) {
		t.Errorf("back from the last: %v, want %v", got, want[1])
	}
	first := b.get("/tasks" + addresses[1])
	if got := b.listed(addresses[1]); !slices.Equal(got, want[0]) || pagerLink(first.body, "prev") != "" || !strings.Contains(first.body, "data-poll") {
		t.Errorf("back at the beginning: %v, want %v, polled and without a newer one", got, want[0])
	}
	if got := b.listed("?per=100"); !slices.Equal(got, all) {
		t.Errorf("100 a page: %v", got)
	}
	if got := b.listed("?newer=" + all[1]); !slices.Equal(got, want[0]) {
		t.Errorf("newer than the second: %v, want the whole first page", got)
	}
	empty := b.get("/tasks?cursor=" + task.FirstID(task.PrefixTask, task.IDTime(all[len(all)-1])))
	if got := b.listed(pagerLink(empty.body, "prev")); !slices.Equal(got, all[len(all)-console.TasksPage:]) {
		t.Errorf("newer than an empty page at the end: %v", got)
	}
}

// TestTasksFilters: dates are whole days, in UTC without a choice; key and code narrow; a search leads to the task of an id.
func TestTasksFilters(t *testing.T) {
	w := newWorld(t)
	b, other := w.member("acme", "member"), w.member("globex", "member")
	first := b.run(`{"capability":"text.chat","input":{"prompt":"hello"}}`)
	w.skip(time.Millisecond)
	b.run(`{"capability":"text.chat","input":{"prompt":"@fail:INVALID_REQUEST"}}`)
	second := api.Task{ID: b.listed("")[0]}
	foreign := other.run(`{"capability":"text.chat","input":{"prompt":"hello"}}`)
	day := func(of api.Task, by int) string { return task.IDTime(of.ID).AddDate(0, 0, by).Format(time.DateOnly) }
	key := regexp.MustCompile(`key_\w{26}`).FindString(b.get("/tasks/export?format=jsonl").body)
	for query, want := range map[string][]string{
		"":                           {second.ID, first.ID},
		"?since=" + day(first, 0):    {second.ID, first.ID},
		"?until=" + day(second, 0):   {second.ID, first.ID},
		"?until=" + day(first, -1):   nil,
		"?since=" + day(second, 1):   nil,
		"?code=INVALID_REQUEST":      {second.ID},
		"?code=INTERNAL":             nil,
		"?key=" + key:                {second.ID, first.ID},
		"?key=key_" + first.ID[5:]:   nil,
		"?state=failed&mode=test":    {second.ID},
		"?capability=image.generate": nil,
		"?since=" + day(first, 0) + "&until=" + day(second, 1) + "&mode=test&state=succeeded": {first.ID},
	} {
		if got := b.listed(query); !slices.Equal(got, want) {
			t.Errorf("%s lists %v, want %v", query, got, want)
		}
	}
	for query, cleared := range map[string]string{
		"": "", "?mode=test&per=100": "", "?until=" + day(first, -1): "?account=acme",
		"?code=INTERNAL&mode=test&per=100": "?account=acme&amp;mode=test&amp;per=100",
	} {
		if got := b.get("/tasks" + query).body; strings.Contains(got, `">Clear the filters</a>`) != (cleared != "") || !strings.Contains(got, `href="`+cleared+`">Clear the filters</a>`) && cleared != "" {
			t.Errorf("%s isn't cleared by %q", query, cleared)
		}
	}
	for _, query := range []string{"?since=yesterday", "?until=2026-02-30", "?code=NOT_ONE", "?key=web", "?per=1000", "?newer=x", "?colour=red"} {
		if got := b.get("/tasks" + query); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, got.StatusCode)
		}
	}
	for id, want := range map[string]string{
		first.ID: "/console/tasks/" + first.ID, foreign.RequestID: "/console/lookup?id=" + foreign.RequestID, " " + first.ID + " ": "/console/tasks/" + first.ID,
		foreign.ID: "/console/lookup?id=" + foreign.ID, "nonsense": "/console/lookup?id=nonsense",
	} {
		if got := b.get("/tasks?" + url.Values{"id": {id}}.Encode()); got.Header.Get("Location") != want {
			t.Errorf("a search for %q leads to %q, want %q", id, got.Header.Get("Location"), want)
		}
	}
	sums := b.get("/tasks?since=" + day(first, 0)).body
	if want := "<strong>1</strong> succeeded, <strong>1</strong> failed, <strong>0</strong> canceled"; !strings.Contains(sums, want) {
		t.Errorf("no %q on %s", want, sums)
	}
	for _, query := range []string{"", "&state=failed", "&code=INTERNAL", "&metadata.team=a"} {
		if got := b.get("/tasks?since=" + day(first, 0) + query).body; strings.Contains(got, `class="sums"`) != (query == "") {
			t.Errorf("sums with %q: %t", query, query != "")
		}
	}
}

// TestTasksOfAllAccounts: an operator lists those of all accounts, without their metadata; a member doesn't.
func TestTasksOfAllAccounts(t *testing.T) {
	w := newWorld(t)
	a, b, ops := w.member("acme", "member"), w.member("globex", "member"), w.member("ops", "operator")
	first := a.run(`{"capability":"text.chat","input":{"prompt":"hello"},"metadata":{"team":"zarquon"}}`)
	w.skip(time.Millisecond)
	second := b.run(`{"capability":"text.chat","input":{"prompt":"hello"}}`)
	if got := ops.listed("?account=*"); !slices.Equal(got, []string{second.ID, first.ID}) {
		t.Errorf("all accounts: %v", got)
	}
	page := ops.get("/tasks?account=*")
	for _, want := range []string{"<td>acme</td>", "<td>globex</td>", "somebody in the console</td>"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %s on %s", want, page.body)
		}
	}
	if got := ops.listed("?account=*&mode=live"); len(got) > 0 {
		t.Errorf("all accounts, live: %v", got)
	}
	for path, want := range map[string]int{
		"/tasks?account=*": http.StatusNotFound, "/tasks/export?format=csv&account=*": http.StatusNotFound,
		"/tasks/export?format=jsonl&account=globex": http.StatusNotFound, "/usage/export?format=csv&account=globex": http.StatusNotFound,
	} {
		if got := a.get(path); got.StatusCode != want || strings.Contains(got.body, second.ID) {
			t.Errorf("a member's %s: %d", path, got.StatusCode)
		}
	}
	for _, path := range []string{"/tasks?account=*&metadata.team=zarquon", "/tasks/export?format=csv&account=acme&metadata.team=zarquon"} {
		if got := ops.get(path); got.StatusCode != http.StatusBadRequest {
			t.Errorf("an operator's %s: %d", path, got.StatusCode)
		}
	}
	for _, account := range []string{"*", "acme"} {
		got := ops.get("/tasks/export?format=jsonl&account=" + account)
		if !strings.Contains(got.body, first.ID) || strings.Contains(got.body, "zarquon") {
			t.Errorf("an operator's export of %s: %s", account, got.body)
		}
	}
}

// TestExports: both forms have every task that fits, and CSV no cell that a spreadsheet takes for a formula.
func TestExports(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	all := b.many(console.TasksPage + 5)
	odd := b.run(`{"capability":"text.chat","input":{"prompt":"hello"},"metadata":{"team":"=1+1","note":"a \"b\", c"}}`).ID
	all = append([]string{odd}, all...)

	got := b.get("/tasks/export?format=csv")
	if disposition := got.Header.Get("Content-Disposition"); !strings.HasPrefix(disposition, `attachment; filename="tasks-`) {
		t.Errorf("the CSV is %q", disposition)
	}
	rows, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	if err != nil || len(rows) != len(all)+1 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	var ids []string
	for _, row := range rows[1:] {
		ids = append(ids, row[0])
	}
	if !slices.Equal(ids, all) || rows[1][11] != `{"note":"a \"b\", c","team":"=1+1"}` || rows[1][9] != "somebody in the console" {
		t.Errorf("the CSV: %v", rows)
	}
	lines := strings.Split(strings.TrimSpace(b.get("/tasks/export?format=jsonl&metadata.team=%3D1%2B1&mode=test").body), "\n")
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	one := decode[map[string]any](t, answer{body: lines[0]})
	if one["id"] != odd || one["account"] != "acme" || one["state"] != "succeeded" || one["code"] != "" ||
		!maps.Equal(one["metadata"].(map[string]any), map[string]any{"note": `a "b", c`, "team": "=1+1"}) {
		t.Errorf("the line: %v", one)
	}
	if empty := b.get("/tasks/export?format=jsonl&state=failed"); empty.StatusCode != http.StatusOK || empty.body != "" {
		t.Errorf("no task: %d %q", empty.StatusCode, empty.body)
	}
	for _, query := range []string{"", "?format=xml", "?format=csv&state=odd"} {
		if got := b.get("/tasks/export" + query); got.StatusCode != http.StatusBadRequest || got.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d", query, got.StatusCode)
		}
	}
	usage, err := csv.NewReader(strings.NewReader(b.get("/usage/export?format=csv&days=7").body)).ReadAll()
	if err != nil || len(usage) != 2 || usage[1][1] != "acme" || usage[1][3] != "text.chat" || usage[1][6] != fmt.Sprint(len(all)) {
		t.Errorf("usage: %v, %v", usage, err)
	}
}

func TestCSVCell(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 0, 0, 5e8, time.FixedZone("", 3600))
	for _, c := range []struct {
		cell any
		want string
	}{
		{"=1+1", "'=1+1"},
		{"+1", "'+1"},
		{"-1", "'-1"},
		{"@a", "'@a"},
		{"\t=1", "'\t'=1"},
		{"\r=1", "'\r'=1"},
		{"", ""},
		{"a=1", "a=1"},
		{"a;=1+1", "a;'=1+1"},
		{"a,+1", "a,'+1"},
		{"a\n@b;-c", "a\n'@b;'-c"},
		{"a\r=1", "a\r'=1"},
		{"a, -1; b", "a, -1; b"},
		{"é", "é"},
		{nil, ""},
		{int64(-5), "-5"},
		{at, "2026-11-21T07:00:00.5Z"},
		{task.Metadata{"a": "=1"}, `{"a":"=1"}`},
		{task.Metadata{"a": "b;=1"}, `{"a":"b;'=1"}`},
	} {
		if got := console.CSVCell(c.cell); got != c.want {
			t.Errorf("%#v is %q, want %q", c.cell, got, c.want)
		}
	}
}

// leaving is a browser that goes away in the middle of an answer.
type leaving struct {
	*httptest.ResponseRecorder
	leave     func()
	writes    int
	meanwhile func()
}

func (l *leaving) Write(b []byte) (int, error) {
	l.writes++
	if l.meanwhile != nil {
		l.meanwhile()
	}
	l.leave()
	return l.ResponseRecorder.Write(b)
}

// TestExportStops: an export ends when the browser leaves, and breaks the connection so that no part passes for the whole.
func TestExportStops(t *testing.T) {
	w := newWorld(t)
	b := w.member("acme", "member")
	b.many(console.TasksPage)
	pages := w.pagesAt(w.base)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/console/tasks/export?format=jsonl", nil)
	r.AddCookie(&http.Cookie{Name: "unitask_session", Value: b.session()})
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	rec := &leaving{httptest.NewRecorder(), cancel, 0, func() { // another export of the account, while this one is written
		if got := record(pages, r.Clone(t.Context())); got.Code != http.StatusTooManyRequests {
			t.Errorf("a second export: %d", got.Code)
		}
	}}
	defer func() {
		if got := record(pages, r.Clone(t.Context())); got.Code != http.StatusOK {
			t.Errorf("an export after it: %d", got.Code)
		}
	}()
	defer func() {
		if caught := recover(); caught != http.ErrAbortHandler || rec.writes != 1 { //nolint:errorlint // as net/http compares it
			t.Errorf("ended by %v after %d writes", caught, rec.writes)
		}
	}()
	pages.ServeHTTP(rec, r.WithContext(ctx))
}
