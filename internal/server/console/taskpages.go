package console

import (
	"cmp"
	"slices"
	"time"

	"unitask/internal/api"
	"unitask/internal/gateway"
	"unitask/internal/store"
	"unitask/internal/task"
)

// A page whose filter selects few tasks looks further by itself, for this long and so many times at most.
const (
	searchFor  = 30 * time.Millisecond
	mostWindow = 100
)

// turn reads the page that the query asks for.
func (c *Console) turn(x exchange, owner api.Account, list *taskList) error {
	q := list.Query
	rows, next, err := c.search(x, owner, q, q.Per)
	if err != nil {
		return err
	}
	if q.Newer && next == "" { // the newest tasks: the list begins with them
		begin := q
		begin.Newer, begin.Cursor = false, ""
		newest, older, err := c.search(x, owner, begin, q.Per)
		if err != nil {
			return err
		}
		if len(newest) >= len(rows) { // else it took too long
			q, rows, next = begin, newest, older
			list.Query = q
		}
	}
	if q.Newer {
		slices.Reverse(rows)
		list.Newer, list.Older = next, task.FirstID(task.PrefixTask, task.IDTime(q.Cursor).Add(time.Millisecond))
	} else {
		list.Older, list.Newer = next, q.Cursor
		if len(rows) == 0 && q.Cursor != "" { // the cursor's own task is newer than this page
			list.Newer = task.FirstID(task.PrefixTask, task.IDTime(q.Cursor))
		}
	}
	if len(rows) < q.Per && next != "" {
		list.SearchedTo = task.IDTime(next)
	}
	if len(rows) > 0 && q.Newer {
		list.Older = rows[len(rows)-1].ID
	} else if len(rows) > 0 && q.Cursor != "" {
		list.Newer = rows[0].ID
	}
	c.remember(x, rows)
	list.Tasks = rows
	return nil
}

// search reads tasks in the order of the query until there are enough of them, or the list ends, or it took too long: then
// next is the cursor at which to go on.
func (c *Console) search(x exchange, owner api.Account, q taskQuery, limit int) (rows []taskRow, next string, err error) {
	start := time.Now()
	for looked := 1; ; looked++ {
		window := limit - len(rows)
		if q.Words != "" {
			window = wordsWindow
		}
		found, next, err := c.listTasks(x, owner, q, window)
		if err == nil && q.Words != "" {
			found, next, err = c.saying(x, found, q.Words, next, limit-len(rows), start.Add(searchFor))
		}
		if err != nil {
			return nil, "", err
		}
		if rows = append(rows, found...); len(rows) > limit {
			rows = rows[:limit]
			next = rows[limit-1].ID
		}
		if next == "" || len(rows) >= limit || looked == mostWindow || time.Since(start) > searchFor {
			return rows, next, nil
		}
		q.Cursor = next
	}
}

// listTasks returns a page of an account's tasks in the modes that are asked for, in the order of the query, and the
// cursor of the next.
func (c *Console) listTasks(x exchange, owner api.Account, q taskQuery, limit int) (rows []taskRow, next string, err error) {
	if q.Everywhere() {
		return c.listForeign(x, c.storeQuery(q, task.Scope{Mode: q.Mode}, limit))
	}
	for _, mode := range q.modes() {
		found, nextOf, err := c.listMode(x, owner, mode, q, limit)
		if err != nil {
			return nil, "", err
		}
		rows = append(rows, found...)
		next = sooner(next, nextOf, q.Newer)
	}
	rows, next = onePage(rows, next, limit, q.Newer)
	return rows, next, nil
}

// sooner returns the cursor that comes first in the order of two lists: as far as both were looked at. "" is the end.
func sooner(a, b string, oldestFirst bool) string {
	if a == "" || b != "" && (b < a) == oldestFirst {
		return b
	}
	return a
}

// onePage orders the rows of several lists, the newest first or the oldest, and cuts them at the page's end: at its limit,
// or at next, as far as each list was looked at. The next page finds the others again.
func onePage(rows []taskRow, next string, limit int, oldestFirst bool) ([]taskRow, string) {
	order := func(a, b string) int { return cmp.Compare(b, a) } // ids are ordered by time
	if oldestFirst {
		order = cmp.Compare
	}
	slices.SortFunc(rows, func(a, b taskRow) int { return order(a.ID, b.ID) })
	for i, row := range rows {
		if i == limit {
			return rows[:limit], rows[limit-1].ID
		}
		if next != "" && order(row.ID, next) > 0 {
			return rows[:i], next
		}
	}
	return rows, next
}

// listMode reads one mode: the visitor's own account as the API does, another one as operators may.
func (c *Console) listMode(x exchange, owner api.Account, mode task.Mode, q taskQuery, limit int) (rows []taskRow, next string, err error) {
	if owner.ID != x.visitor.Account.ID {
		return c.listForeign(x, c.storeQuery(q, task.Scope{Account: owner.ID, Mode: mode}, limit))
	}
	since, until := q.times()
	found, err := c.gateway.List(x.r.Context(), callerOf(x.visitor, mode), gateway.ListQuery{
		Capability: q.Capability, State: q.State, KeyID: q.Key, Code: q.Code, Metadata: q.Metadata, Since: since, Until: until,
		Kept: q.Words != "", Limit: limit, Cursor: q.Cursor, OldestFirst: q.Newer,
	})
	for _, t := range found.Tasks {
		row := c.ownRow(t)
		row.Account = owner.Name
		rows = append(rows, row)
	}
	return rows, found.Next, err
}

func (c *Console) storeQuery(q taskQuery, scope task.Scope, limit int) store.ListQuery {
	since, until := q.times()
	return store.ListQuery{
		Scope: scope, Everywhere: q.Everywhere(), Capability: q.Capability, State: q.State, KeyID: q.Key, Code: q.Code,
		Since: since, Until: until, Limit: limit, Cursor: q.Cursor, OldestFirst: q.Newer,
	}
}

func (c *Console) listForeign(x exchange, q store.ListQuery) (rows []taskRow, next string, err error) {
	all, next, err := c.operator.ListTasks(x.r.Context(), q)
	for _, t := range all {
		rows = append(rows, c.foreignRow(t))
	}
	return rows, next, err
}
