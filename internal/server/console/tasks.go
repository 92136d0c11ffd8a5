package console

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/store"
	"unitask/internal/task"
)

// tasksPage is how many tasks a page of the list has.
const tasksPage = 25

// taskRow is a task in a list: of another account no input and no output.
type taskRow struct {
	ID, Capability string
	Mode           task.Mode
	State          task.State
	Progress       *float64
	Code           fault.Code
	Cost           string
	CreatedAt      time.Time
	Took           time.Duration // so far, before its end
	Asked, Picture string        // see Console.remember
}

func (c *Console) ownRow(t task.Task) taskRow {
	row := taskRow{
		ID: t.ID, Capability: t.Capability, Mode: t.Scope.Mode, State: t.State, Progress: t.Progress, Cost: t.Cost.String(),
		CreatedAt: t.CreatedAt, Took: c.took(t.CreatedAt, t.FinishedAt),
	}
	if t.Failure != nil {
		row.Code = t.Failure.Code
	}
	return row
}

func (c *Console) foreignRow(t api.AdminTask) taskRow {
	row := taskRow{
		ID: t.ID, Capability: t.Capability, Mode: t.Mode, State: t.State, Code: t.Code, Cost: t.Cost, CreatedAt: t.CreatedAt.Time,
	}
	var end *time.Time
	if t.FinishedAt != nil {
		end = &t.FinishedAt.Time
	}
	row.Took = c.took(row.CreatedAt, end)
	return row
}

// took returns how long a task has lasted, until now before its end.
func (c *Console) took(created time.Time, end *time.Time) time.Duration {
	if end == nil {
		end = new(c.now())
	}
	return max(0, end.Sub(created))
}

// taskQuery selects the tasks of a list.
type taskQuery struct {
	Account    string // its name
	Mode       task.Mode
	State      task.State
	Capability string
	Metadata   task.Metadata // all of these pairs; of the visitor's own account
	Cursor     string
}

// Pairs returns the metadata that is asked for as it is typed, in order.
func (q taskQuery) Pairs() (pairs []string) {
	for _, name := range slices.Sorted(maps.Keys(q.Metadata)) {
		pairs = append(pairs, name+"="+q.Metadata[name])
	}
	return pairs
}

// Address returns the query of the list with one member changed, from its beginning but for a cursor.
func (q taskQuery) Address(name, value string) string {
	v := url.Values{}
	for n, old := range map[string]string{
		"account": q.Account, "mode": string(q.Mode), "state": string(q.State), "capability": q.Capability,
	} {
		if n == name {
			old = value
		}
		if old != "" {
			v.Set(n, old)
		}
	}
	for n, text := range q.Metadata {
		v.Set(metadataParameter+n, text)
	}
	if name == "cursor" {
		v.Set(name, value)
	}
	return "?" + v.Encode()
}

// modes returns the modes that are asked for.
func (q taskQuery) modes() []task.Mode {
	if q.Mode == "" {
		return []task.Mode{task.Live, task.Test}
	}
	return []task.Mode{q.Mode}
}

// metadataParameter begins the name of a parameter whose rest is a name of metadata, as in the API.
const metadataParameter = "metadata."

func parseTaskQuery(v url.Values) (taskQuery, error) {
	q := taskQuery{
		Account: v.Get("account"), Mode: task.Mode(v.Get("mode")), State: task.State(v.Get("state")),
		Capability: strings.TrimSpace(v.Get("capability")), Cursor: v.Get("cursor"),
	}
	switch {
	case q.Mode != "" && q.Mode != task.Live && q.Mode != task.Test:
		return q, fault.Invalid("mode", "must be live or test")
	case q.State != "" && !q.State.Valid():
		return q, fault.Invalid("state", "is not a state of tasks")
	case q.Cursor != "" && !task.ValidID(task.PrefixTask, q.Cursor):
		return q, fault.Invalid("cursor", "is not one that a list returned")
	}
	return q, q.takeMetadata(v)
}

// takeMetadata sets the pairs that are asked for: metadata.team=search in an address, metadata=team=search of the form.
// A parameter that is no filter is refused, for the list would show more than was asked for.
func (q *taskQuery) takeMetadata(v url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		member, isPair := strings.CutPrefix(name, metadataParameter)
		switch {
		case !isPair && !slices.Contains([]string{"account", "mode", "state", "capability", "metadata", "cursor"}, name):
			return fault.Invalid(name, "is not a filter of tasks")
		case !isPair:
			continue
		}
		for _, text := range v[name] {
			if err := q.addPair(member, text); err != nil {
				return err
			}
		}
	}
	for _, typed := range v["metadata"] {
		name, text, ok := strings.Cut(strings.TrimSpace(typed), "=")
		switch {
		case !ok && name == "":
			continue
		case !ok:
			return fault.Invalid("metadata", "must be name=value")
		}
		if err := q.addPair(name, text); err != nil {
			return err
		}
	}
	if rows := catalog.MetadataRows(q.Metadata); len(rows) > 0 {
		return fault.Invalid(rows[0].Field, rows[0].Message).WithDetails(rows[1:]...)
	}
	return nil
}

func (q *taskQuery) addPair(name, text string) error {
	if old, twice := q.Metadata[name]; twice && old != text {
		return fault.Invalid(metadataParameter+name, "must be given once")
	}
	if q.Metadata == nil {
		q.Metadata = task.Metadata{}
	}
	q.Metadata[name] = text
	return nil
}

// taskList is the data of the list of tasks.
type taskList struct {
	Query        taskQuery
	Tasks        []taskRow
	Next         string
	States       []task.State
	Capabilities []string
	Accounts     []string // to choose from
}

func (c *Console) handleTasks(x exchange) error {
	q, err := parseTaskQuery(x.r.URL.Query())
	if err != nil {
		return err
	}
	owner, err := c.chosen(x, q.Account)
	if err != nil {
		return err
	}
	if len(q.Metadata) > 0 && owner.ID != x.visitor.Account.ID {
		return fault.Invalid("metadata", "of another account is not an operator's to see: leave the filter empty")
	}
	list := taskList{Query: q, States: task.States(), Capabilities: c.capabilityNames(x)}
	if list.Accounts, err = c.choices(x); err != nil {
		return err
	}
	if list.Tasks, list.Next, err = c.listTasks(x, owner, q, tasksPage); err != nil {
		return err
	}
	list.Query.Account = owner.Name
	return c.show(x, page{Name: "tasks", Section: "tasks", Title: "Tasks", Data: list})
}

// listTasks returns a page of an account's tasks in the modes that are asked for, newest first, and the
// cursor of the next.
func (c *Console) listTasks(x exchange, owner api.Account, q taskQuery, limit int) (rows []taskRow, next string, err error) {
	for _, mode := range q.modes() {
		found, nextOf, err := c.listMode(x, owner, mode, q, limit)
		if err != nil {
			return nil, "", err
		}
		rows, next = append(rows, found...), max(next, nextOf)
	}
	rows, next = onePage(rows, next, limit)
	return rows, next, nil
}

// onePage orders the rows of several lists, the newest first, and cuts them at the page's end: at its limit, or at
// next, down to which each list was looked at. The next page finds the others again.
func onePage(rows []taskRow, next string, limit int) ([]taskRow, string) {
	slices.SortFunc(rows, func(a, b taskRow) int { return cmp.Compare(b.ID, a.ID) }) // ids are ordered by time
	for i, row := range rows {
		if i == limit {
			return rows[:limit], rows[limit-1].ID
		}
		if row.ID < next {
			return rows[:i], next
		}
	}
	return rows, next
}

// listMode reads one mode: the visitor's own account as the API does, another one as operators may.
func (c *Console) listMode(x exchange, owner api.Account, mode task.Mode, q taskQuery, limit int) (rows []taskRow, next string, err error) {
	if owner.ID != x.visitor.Account.ID {
		all, next, err := c.operator.ListTasks(x.r.Context(), store.ListQuery{
			Scope: task.Scope{Account: owner.ID, Mode: mode}, Capability: q.Capability, State: q.State, Limit: limit, Cursor: q.Cursor,
		})
		for _, t := range all {
			rows = append(rows, c.foreignRow(t))
		}
		return rows, next, err
	}
	found, err := c.gateway.List(x.r.Context(), callerOf(x.visitor, mode), gateway.ListQuery{
		Capability: q.Capability, State: q.State, Metadata: q.Metadata, Limit: limit, Cursor: q.Cursor,
	})
	for _, t := range found.Tasks {
		rows = append(rows, c.ownRow(t))
	}
	c.remember(x, mode, found.Tasks, rows)
	return rows, found.Next, err
}

// capabilityNames returns the capabilities that are open on the visitor's account in either mode.
func (c *Console) capabilityNames(x exchange) []string {
	var names []string
	for _, mode := range []task.Mode{task.Live, task.Test} {
		for _, o := range c.gateway.Capabilities(callerOf(x.visitor, mode)) {
			names = append(names, string(o.Capability.Name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
