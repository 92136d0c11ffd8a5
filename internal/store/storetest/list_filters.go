package storetest

import (
	"fmt"
	"slices"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// testListFilters: a list is narrowed by time, key, code and kept requests, goes both ways, and leads over all accounts.
// The dates include their first millisecond and leave out their last.
func testListFilters(e *env) {
	all := e.filterable()
	start := task.IDTime(all[0].ID)
	at := func(i int) time.Time { return start.Add(time.Duration(i) * time.Second) }
	other := all[5].Scope
	for _, c := range []struct {
		name  string
		query store.ListQuery
		want  []int
	}{
		{"all", store.ListQuery{Scope: acme}, []int{0, 1, 2, 3, 4, 7}},
		{"since", store.ListQuery{Scope: acme, Since: at(2)}, []int{2, 3, 4, 7}},
		{"since, a little later", store.ListQuery{Scope: acme, Since: at(2).Add(time.Nanosecond)}, []int{3, 4, 7}},
		{"until", store.ListQuery{Scope: acme, Until: at(2)}, []int{0, 1}},
		{"until, a little later", store.ListQuery{Scope: acme, Until: at(2).Add(time.Nanosecond)}, []int{0, 1, 2}},
		{"between", store.ListQuery{Scope: acme, Since: at(1), Until: at(4)}, []int{1, 2, 3}},
		{"no time at all", store.ListQuery{Scope: acme, Since: at(3), Until: at(3)}, nil},
		{"the wrong way round", store.ListQuery{Scope: acme, Since: at(4), Until: at(1)}, nil},
		{"before there were ids", store.ListQuery{Scope: acme, Since: time.Unix(-1e12, 0)}, []int{0, 1, 2, 3, 4, 7}},
		{"long after", store.ListQuery{Scope: acme, Since: time.Unix(1<<50, 0)}, nil},
		{"until long after", store.ListQuery{Scope: acme, Until: time.Unix(1<<50, 0)}, []int{0, 1, 2, 3, 4, 7}},
		{"a key", store.ListQuery{Scope: acme, KeyID: "key_2"}, []int{2, 4}},
		{"a key with a capability", store.ListQuery{Scope: acme, KeyID: "key_2", Capability: image}, []int{2}},
		{"a key with a date", store.ListQuery{Scope: acme, KeyID: "key_2", Since: at(3)}, []int{4}},
		{"an unknown key", store.ListQuery{Scope: acme, KeyID: "key_3"}, nil},
		{"a code", store.ListQuery{Scope: acme, Code: fault.ProviderTimeout}, []int{1, 4}},
		{"a code of a key", store.ListQuery{Scope: acme, Code: fault.ProviderTimeout, KeyID: "key_2"}, []int{4}},
		{"a code with metadata", store.ListQuery{Scope: acme, Code: fault.ProviderTimeout, Metadata: task.Metadata{"team": "a"}}, []int{1}},
		{"a code of a state without", store.ListQuery{Scope: acme, Code: fault.ProviderTimeout, State: task.Succeeded}, nil},
		{"another code", store.ListQuery{Scope: acme, Code: fault.Internal}, nil},
		{"kept requests", store.ListQuery{Scope: acme, Kept: true}, []int{2, 3, 4}},
		{"a kept request of a code", store.ListQuery{Scope: acme, Kept: true, Code: fault.ProviderTimeout}, []int{4}},
		{"a kept request of a key and a capability", store.ListQuery{Scope: acme, Kept: true, KeyID: "key_2", Capability: image}, []int{2}},
		{"everywhere, kept requests", store.ListQuery{Everywhere: true, Kept: true}, []int{2, 3, 4, 5}},
		{"everywhere", store.ListQuery{Everywhere: true}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"everywhere, live", store.ListQuery{Everywhere: true, Scope: task.Scope{Mode: task.Live}}, []int{0, 1, 2, 3, 4, 5, 7}},
		{"everywhere, test", store.ListQuery{Everywhere: true, Scope: task.Scope{Mode: task.Test}}, []int{6}},
		{"everywhere, a capability", store.ListQuery{Everywhere: true, Capability: image}, []int{2, 5}},
		{"everywhere, a code", store.ListQuery{Everywhere: true, Code: fault.ProviderTimeout}, []int{1, 4}},
		{"everywhere, a state and dates", store.ListQuery{Everywhere: true, State: task.Queued, Since: at(3), Until: at(7)}, []int{3, 5, 6}},
		{"another account", store.ListQuery{Scope: other}, []int{5}},
		{"no account", store.ListQuery{Scope: task.Scope{Mode: task.Live}}, nil},
	} {
		var want []task.Task
		for _, i := range c.want {
			want = append(want, all[i])
		}
		e.wantBothWays(c.name, c.query, want)
	}
	e.wantPagesBack(all)
}

// filterable creates tasks a second apart, oldest first.
func (e *env) filterable() (all []task.Task) {
	for i := range 8 {
		n := e.request(fmt.Sprint("filtered", i))
		if i%2 == 0 {
			n.KeyID = "key_2"
		}
		switch i {
		case 0: // its texts look like another key and the code
			n.KeyID, n.Metadata = "key_1", task.Metadata{"key_id": `"key_id":"key_2"`, "code": "PROVIDER_TIMEOUT"}
		case 1:
			n.Metadata = task.Metadata{"team": "a"}
		case 2:
			n.Capability, n.KeepInput = image, 24*time.Hour
		case 3, 4:
			n.KeepInput = 24 * time.Hour
		case 5:
			n.Capability, n.Scope.Account, n.KeepInput = image, "acct_other", 24*time.Hour
		case 6:
			n.Scope.Mode = task.Test
		case 7:
			n.Metadata = task.Metadata{"mode": `"mode":"test"`, "input_until": "2099-01-01T00:00:00Z"}
		}
		all = append(all, e.create(n).Task)
		if i == 1 || i == 4 {
			for _, l := range e.claim(10, chat) {
				if l.Task.ID != n.ID {
					e.advance(l, store.Step{Release: new(time.Hour)})
					continue
				}
				e.begin(l, plan("s", 0))
				all[i] = e.advance(l, failed(task.Rejected))
			}
		}
		e.clock.Advance(time.Second - time.Millisecond)
	}
	for i, t := range all { // a lease changes a task's revision
		var err error
		all[i], err = e.Store.GetTask(e.Context(), t.Scope, t.ID)
		e.wantErr("GetTask", err, nil)
	}
	return all
}

// wantBothWays expects the tasks, given oldest first, on one page and on small ones, in either order.
func (e *env) wantBothWays(name string, q store.ListQuery, want []task.Task) {
	e.Helper()
	want = slices.Clone(want)
	for _, q.OldestFirst = range []bool{true, false} {
		q.Limit = 0
		e.wantSame(name, e.list(q), store.Page{Tasks: want})
		for q.Limit = range 4 {
			if q.Limit > 0 {
				e.wantSame(fmt.Sprintf("%s, %d a page, oldest first %t", name, q.Limit, q.OldestFirst), e.walk(q), ids(want))
			}
		}
		slices.Reverse(want)
	}
}

// wantPagesBack: from a task the list leads both ways, without it.
func (e *env) wantPagesBack(all []task.Task) {
	e.Helper()
	q := store.ListQuery{Scope: acme, Cursor: all[3].ID, Limit: 2, OldestFirst: true}
	e.wantSame("after a task", e.list(q), store.Page{Tasks: []task.Task{all[4], all[7]}})
	q.Since = task.IDTime(all[7].ID)
	e.wantSame("after a task and a date", e.list(q), store.Page{Tasks: []task.Task{all[7]}})
	q.OldestFirst = false
	e.wantSame("before a task and after a later date", e.list(q), store.Page{})
	q.Since = time.Time{}
	e.wantSame("before a task", e.list(q), store.Page{Tasks: []task.Task{all[2], all[1]}, Next: all[1].ID})
	q.Cursor = task.FirstID(task.PrefixTask, task.IDTime(all[3].ID))
	e.wantSame("before its millisecond", ids(e.list(q).Tasks), []string{all[2].ID, all[1].ID})
	q.OldestFirst = true
	e.wantSame("from its millisecond on", ids(e.list(q).Tasks), []string{all[3].ID, all[4].ID})
}
