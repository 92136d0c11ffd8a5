package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"unitask/internal/store"
	"unitask/internal/task"
)

// testMetadata: what a creation said stays with the task through its whole life, and lists find it.
func testMetadata(e *env) {
	odd := task.Metadata{"team": "search", "note": "a \"b\" \\ <&> ü 🦊 \u2028", "empty": ""}
	n := e.request("key")
	n.Metadata, n.Traceparent = odd, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	made := e.create(n).Task
	e.wantSame("metadata", made.Metadata, odd)
	e.wantSame("traceparent", made.Traceparent, n.Traceparent)
	e.wantSame("read again", e.get(n.ID), made)
	if e.Crash != nil {
		e.crash()
		e.session()
		e.wantSame("after a crash", e.get(n.ID), made)
	}

	other := e.request("key")
	other.Metadata, other.Traceparent = task.Metadata{"team": "ads"}, "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	again := e.create(other)
	e.wantSame("a replay with other metadata", again.Admit, store.AdmitReplayed)
	e.wantSame("a replay", again.Task, made)

	e.begin(e.claimOne(chat), plan("s", 0))
	e.show(e.advance(e.expire(), failed(task.Rejected)))
	reopened := e.create(other)
	e.wantSame("a reopening with other metadata", reopened.Admit, store.AdmitReopened)
	e.wantSame("metadata of a reopening", reopened.Task.Metadata, odd)
	e.wantSame("traceparent of a reopening", reopened.Task.Traceparent, other.Traceparent)
	e.begin(e.claimOne(chat), plan("s", 0))
	done := e.advance(e.expire(), succeeded(task.Usage{}))
	e.wantSame("metadata of an ended task", done.Metadata, odd)
	e.wantSame("an ended task", e.list(store.ListQuery{Scope: acme, Metadata: odd}), store.Page{Tasks: []task.Task{done}})
}

// testMetadataList: a list finds tasks by their metadata alone, whatever else their records hold.
func testMetadataList(e *env) {
	largest, last := largestMetadata()
	given := []task.Metadata{
		{"team": "search"},
		nil,
		{"team": "search", "user": "1"},
		{"team": "Search"},
		{"team": "search "},
		{"teams": "search"},
		{"note": `"team":"search"`},
		{"user": "1"},
		largest,
		{"team": "search", "user": "2"},
		{"team": ""},
	}
	var all []task.Task // newest first
	for i, m := range given {
		n := e.request(fmt.Sprint("key", i))
		if n.Metadata = m; m == nil {
			n.Input, n.Parameters = json.RawMessage(`{"team":"search","user":"1"}`), json.RawMessage(`{"team":"search","user":"1"}`)
		}
		if i%2 == 0 {
			n.Capability = image
		}
		all = append([]task.Task{e.create(n).Task}, all...)
		n.Scope.Mode, n.ID = task.Test, task.NewID(task.PrefixTask, e.clock.Now())
		e.create(n)
	}
	canceled, err := e.Store.RequestCancel(e.Context(), acme, all[len(all)-1].ID)
	e.wantErr("RequestCancel", err, nil)
	all[len(all)-1] = canceled

	for _, q := range []store.ListQuery{
		{Metadata: task.Metadata{"team": "search"}},
		{Metadata: task.Metadata{"team": "search", "user": "1"}},
		{Metadata: task.Metadata{"user": "1"}},
		{Metadata: task.Metadata{"team": ""}},
		{Metadata: task.Metadata{"team": "nobody"}},
		{Metadata: task.Metadata{"note": `"team":"search"`}},
		{Metadata: task.Metadata{last: largest[last]}},
		{Metadata: task.Metadata{"team": "search"}, Capability: image},
		{Metadata: task.Metadata{"team": "search"}, State: task.Canceled},
		{Metadata: task.Metadata{"team": "search"}, Scopes: []string{"text.*"}},
	} {
		var want []task.Task
		for _, t := range all {
			if t.Metadata.Has(q.Metadata) && (q.Capability == "" || q.Capability == t.Capability) &&
				(q.State == "" || q.State == t.State) && (q.Scopes == nil || t.Capability == chat) {
				want = append(want, t)
			}
		}
		q.Scope = acme
		name := fmt.Sprint(q)
		e.wantSame(name, e.list(q), store.Page{Tasks: want})
		for limit := range 3 {
			q.Limit = limit + 1
			e.wantSame(fmt.Sprintf("%s, %d a page", name, q.Limit), e.walk(q), ids(want))
		}
	}
}

// largestMetadata returns the largest that a caller can give, and the last of its names.
func largestMetadata() (largest task.Metadata, last string) {
	largest = task.Metadata{}
	for i := range 16 {
		last = strings.Repeat("n", 62) + fmt.Sprintf("%02d", i)
		largest[last] = strings.Repeat("🦊", 512)
	}
	return largest, last
}
