package storetest

import (
	"fmt"
	"slices"

	"unitask/internal/store"
	"unitask/internal/task"
)

func testList(e *env) {
	var all []task.Task // newest first
	for i := range 7 {
		n := e.request(fmt.Sprint("key", i))
		if i%3 == 0 {
			n.Capability = image
		}
		all = append([]task.Task{e.create(n).Task}, all...)
		n = e.request(fmt.Sprint("key", i))
		n.Scope.Mode = task.Test
		e.create(n)
	}
	canceled, err := e.Store.RequestCancel(e.Context(), acme, all[2].ID)
	e.wantErr("RequestCancel", err, nil)
	all[2] = canceled

	for _, c := range []struct {
		name  string
		query store.ListQuery
		keep  func(task.Task) bool
	}{
		{"everything", store.ListQuery{}, func(task.Task) bool { return true }},
		{"a capability", store.ListQuery{Capability: image}, func(t task.Task) bool { return t.Capability == image }},
		{"a state", store.ListQuery{State: task.Canceled}, func(t task.Task) bool { return t.State == task.Canceled }},
		{"a pattern", store.ListQuery{Scopes: []string{"text.*"}}, func(t task.Task) bool { return t.Capability == chat }},
		{"nothing", store.ListQuery{State: task.Failed}, func(task.Task) bool { return false }},
	} {
		var want []task.Task
		for _, t := range all {
			if c.keep(t) {
				want = append(want, t)
			}
		}
		c.query.Scope = acme
		e.wantSame(c.name, e.list(c.query), store.Page{Tasks: want})
		for limit := range 4 {
			c.query.Limit = limit + 1
			e.wantSame(fmt.Sprintf("%s, %d a page", c.name, limit+1), e.walk(c.query), ids(want))
		}
	}
	_, err = e.Store.ListTasks(e.Context(), store.ListQuery{Scope: acme, Cursor: "task_x"})
	e.wantErr("a cursor that is no id", err, store.ErrNotFound)
	e.wantSame("another account", e.list(store.ListQuery{Scope: task.Scope{Account: "acct_other", Mode: task.Live}}), store.Page{})

	for i := range store.MaxPage + 1 {
		e.create(e.request(fmt.Sprint("more", i)))
	}
	e.wantSame("the default page", len(e.list(store.ListQuery{Scope: acme}).Tasks), store.DefaultPage)
	e.wantSame("the largest page", len(e.list(store.ListQuery{Scope: acme, Limit: 10_000}).Tasks), store.MaxPage)
}

func (e *env) list(q store.ListQuery) store.Page {
	e.Helper()
	page, err := e.Store.ListTasks(e.Context(), q)
	if err != nil {
		e.Fatalf("ListTasks: %v", err)
	}
	return page
}

// walk returns the ids of every page.
func (e *env) walk(q store.ListQuery) []string {
	e.Helper()
	var all []string
	for range 100 {
		page := e.list(q)
		if len(page.Tasks) > q.Limit {
			e.Fatalf("a page of %d, want %d at most", len(page.Tasks), q.Limit)
		}
		all = slices.Concat(all, ids(page.Tasks))
		if page.Next == "" {
			return all
		}
		q.Cursor = page.Next
	}
	e.Fatal("a listing without an end")
	return nil
}
