package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestListFilters lists on the real engine by time, key and code, and both ways.
func TestListFilters(t *testing.T) {
	db := fixture.Must(boltstore.Open(boltstore.Config{Path: t.TempDir() + "/db"}))(t)
	t.Cleanup(func() { _ = db.Close() })
	w := newWorld(t, options{engine: db})
	later := func(than string) { // ids and times are told apart by the millisecond
		for ; !task.IDTime(task.NewID(task.PrefixTask, time.Now())).After(task.IDTime(than)); time.Sleep(time.Millisecond) {
		}
	}
	a := w.post("filtered-by-a", chat("hello")).task(t)
	later(a.ID)
	w.post("filtered-by-b", chat("@fail:INVALID_REQUEST"))
	b := decode[api.TaskList](t, w.do(request{path: api.PathTasks, key: w.test})).Data[0]
	later(b.ID)
	c := w.post("filtered-by-c", chat("hello again")).task(t)
	names := map[string]string{a.ID: "a", b.ID: "b", c.ID: "c"}
	at := func(one api.Task) string { return url.QueryEscape(task.IDTime(one.ID).Format(time.RFC3339Nano)) }
	own := fixture.Must(db.ListTasks(t.Context(), store.ListQuery{Everywhere: true}))(t).Tasks[0].KeyID
	for query, want := range map[string]string{
		"": "cba", "order=newest": "cba", "order=oldest": "abc", "order=oldest&limit=2": "ab", "order=oldest&cursor=" + a.ID: "bc",
		"order=oldest&cursor=" + c.ID: "", "cursor=" + b.ID: "a", "code=INVALID_REQUEST": "b", "code=INTERNAL": "", "code=": "cba",
		"key=" + own: "cba", "key=" + task.NewID(task.PrefixKey, time.Now()): "", "created_after=" + at(c): "c",
		"created_before=" + at(c): "ba", "created_after=" + at(c) + "&created_before=" + at(c): "", "created_after=1999-12-31T23:59:59%2B02:00": "cba",
		"created_before=1999-12-31T23:59:59Z": "", "key=" + own + "&code=INVALID_REQUEST&created_before=" + at(c): "b",
	} {
		var got strings.Builder
		for _, one := range decode[api.TaskList](t, w.do(request{path: api.PathTasks + "?" + query, key: w.test})).Data {
			got.WriteString(names[one.ID])
		}
		if got.String() != want {
			t.Errorf("%s lists %q, want %q", query, got.String(), want)
		}
	}
	for _, query := range []string{
		"created_after=2026-11-21", "created_before=24h", "key=web", "key=" + a.ID, "code=internal", "order=up", "code=INTERNAL&code=INTERNAL",
	} {
		got := w.do(request{path: api.PathTasks + "?" + query, key: w.test})
		if got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, got.StatusCode)
		}
	}
}
