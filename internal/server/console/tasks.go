package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/task"
)

// How many tasks a page of the list has: by default, and by choice.
const (
	smallPage = 25
	largePage = 100
)

// taskRow is a task in a list: of another account no input and no output.
type taskRow struct {
	ID, Capability string
	KeyID, KeyName string
	Account        string // its name
	Mode           task.Mode
	State          task.State
	Progress       *float64
	Code           fault.Code
	Cost           string
	CreatedAt      time.Time
	FinishedAt     *time.Time
	Took           time.Duration // so far, before its end
	Asked, Picture string        // see Console.remember
	Metadata       task.Metadata // of the visitor's own account

	own *task.Task // nil for another account's
}

func (c *Console) ownRow(t task.Task) taskRow {
	row := taskRow{
		ID: t.ID, Capability: t.Capability, KeyID: t.KeyID, Mode: t.Scope.Mode, State: t.State, Progress: t.Progress, Cost: t.Cost.String(),
		own: &t, CreatedAt: t.CreatedAt, FinishedAt: t.FinishedAt, Took: c.took(t.CreatedAt, t.FinishedAt), Metadata: t.Metadata,
	}
	if t.Failure != nil {
		row.Code = t.Failure.Code
	}
	return row
}

func (c *Console) foreignRow(t api.AdminTask) taskRow {
	row := taskRow{
		ID: t.ID, Capability: t.Capability, KeyID: t.KeyID, Account: t.Account, Mode: t.Mode, State: t.State, Code: t.Code, Cost: t.Cost,
		CreatedAt: t.CreatedAt.Time,
	}
	if t.FinishedAt != nil {
		row.FinishedAt = &t.FinishedAt.Time
	}
	row.Took = c.took(row.CreatedAt, row.FinishedAt)
	return row
}

// took returns how long a task has lasted, until now before its end.
func (c *Console) took(created time.Time, end *time.Time) time.Duration {
	if end == nil {
		end = new(c.now())
	}
	return max(0, end.Sub(created))
}

// taskTable is a table of tasks.
type taskTable struct {
	Rows     []taskRow
	Accounts bool // with the account of each
	Keys     bool // with its key
}

// Table is the page's tasks.
func (l taskList) Table() taskTable {
	return taskTable{Rows: l.Tasks, Accounts: l.Query.Everywhere(), Keys: true}
}

// taskList is the data of the list of tasks.
type taskList struct {
	Query        taskQuery
	Tasks        []taskRow
	Older, Newer string    // cursors; "" where the list ends
	SearchedTo   time.Time // how far back was looked, if the filter isn't at its end; zero otherwise
	Sums         *taskSums // of the days; nil if the filter asks for more than the sums know
	Pers         []int
	States       []task.State
	Codes        []fault.Code
	Capabilities []string
	Keys         []operator.Key // to choose from
	Accounts     accountChoice
	Searched     bool // the list's requests are kept, and found by their words
}

func (c *Console) handleTasks(x exchange) error {
	if id := strings.TrimSpace(x.r.URL.Query().Get("id")); x.r.URL.Query().Has("id") {
		return c.findTask(x, id)
	}
	q, owner, err := c.askedTasks(x)
	if err != nil {
		return err
	}
	list := taskList{
		Query: q, Pers: []int{smallPage, largePage}, States: task.States(), Codes: fault.Codes(), Capabilities: c.capabilityNames(x),
	}
	if list.Accounts, err = c.accountChoice(x, owner, q.Everywhere()); err != nil {
		return err
	}
	if list.Keys, err = c.keyChoices(x, q, owner); err != nil {
		return err
	}
	list.Searched = owner.ID == x.visitor.Account.ID && x.visitor.Account.Keep() > 0
	if err := c.turn(x, owner, &list); err != nil {
		return err
	}
	if err := c.nameKeys(x, list.Tasks); err != nil {
		return err
	}
	if list.Sums, err = c.taskSums(x, owner, q); err != nil {
		return err
	}
	return c.show(x, page{Name: "tasks", Section: "tasks", Title: "Tasks", Data: list})
}

// askedTasks reads the query of a list, and whose tasks it has; the account is empty for all.
func (c *Console) askedTasks(x exchange) (q taskQuery, owner api.Account, err error) {
	if q, err = parseTaskQuery(x.r.URL.Query()); err != nil {
		return q, owner, err
	}
	q.Zone, _ = zoneOf(x.r)
	if owner, q.every, err = c.askedAccount(x, q.Account); err != nil {
		return q, owner, err
	}
	if !q.every {
		q.Account = owner.Name
	}
	if len(q.Metadata) > 0 && owner.ID != x.visitor.Account.ID {
		return q, owner, fault.Invalid("metadata", "of another account is not an operator's to see: leave the filter empty")
	}
	return q, owner, wordsAsked(x, q.Words, owner)
}

// findTask leads to the task, or to that of the request, with the id; else to the page of the lookup, which says more.
func (c *Console) findTask(x exchange, id string) error {
	if task.ValidID(task.PrefixRequest, id) {
		found, err := c.actions(x.visitor).FindRequests(x.r.Context(), id)
		if err == nil && len(found.Data) == 1 && found.Data[0].TaskID != "" {
			id = found.Data[0].TaskID
		}
	}
	if task.ValidID(task.PrefixTask, id) {
		if _, err := c.taskView(x, id); err == nil {
			c.goTo(x, x.r, "/tasks/"+id)
			return nil
		}
	}
	c.goTo(x, x.r, "/lookup?"+url.Values{"id": {id}}.Encode())
	return nil
}

// mostKeys is how many keys can be chosen from; more are asked for by their ids.
const mostKeys = 200

func (c *Console) keyChoices(x exchange, q taskQuery, owner api.Account) ([]operator.Key, error) {
	if q.Everywhere() {
		return nil, nil
	}
	all, err := c.actions(x.visitor).Keys(x.r.Context())
	all = slices.DeleteFunc(all, func(k operator.Key) bool { return k.Account != owner.Name })
	if len(all) > mostKeys {
		return nil, err
	}
	if q.Key != "" && !slices.ContainsFunc(all, func(k operator.Key) bool { return k.ID == q.Key }) {
		all = append(all, operator.Key{Key: api.Key{ID: q.Key, Name: q.Key}})
	}
	return all, err
}

// nameKeys sets the names of the rows' keys.
func (c *Console) nameKeys(x exchange, rows []taskRow) error {
	if len(rows) == 0 {
		return nil
	}
	names, err := c.operator.KeyNames(x.r.Context())
	for i := range rows {
		rows[i].KeyName = names[rows[i].KeyID].Name
	}
	return err
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
