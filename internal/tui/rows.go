package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/task"
)

// order is how the tasks are sorted; those that are equal stand newest first.
type order int

const (
	newestFirst order = iota
	oldestFirst
	byState
	byCapability
	byTime
	byCost
	orders // how many there are
)

// String is its name in the header, "" for the default.
func (o order) String() string {
	return [orders]string{"", "oldest first", "by state", "by capability", "by time", "by cost"}[o]
}

// rows returns the tasks that the filter leaves, in the table's order.
func (t *table) rows(b taskCache, now time.Time) []api.Task {
	rows := make([]api.Task, 0, len(b.all))
	words := strings.Fields(strings.ToLower(t.filter))
	for _, one := range b.all {
		if t.holds(one.ID, b) && t.matches(one, b.labels[one.ID], words) {
			rows = append(rows, one)
		}
	}
	slices.SortFunc(rows, func(x, y api.Task) int {
		newest := cmp.Or(y.CreatedAt.Compare(x.CreatedAt.Time), cmp.Compare(y.ID, x.ID))
		return cmp.Or(t.order.compare(x, y, now), newest)
	})
	return rows
}

func (o order) compare(x, y api.Task, now time.Time) int {
	switch o {
	case oldestFirst:
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt.Time), cmp.Compare(x.ID, y.ID))
	case byState:
		states := task.States()
		return cmp.Compare(slices.Index(states, x.State), slices.Index(states, y.State))
	case byCapability:
		return cmp.Compare(x.Capability, y.Capability)
	case byTime:
		return cmp.Compare(elapsed(y, now), elapsed(x, now))
	case byCost:
		return cmp.Compare(amount(y), amount(x))
	default:
		return 0
	}
}

// amount is a task's cost as sorting needs it; tasks without it come last.
func amount(t api.Task) float64 {
	if t.Usage == nil {
		return -1
	}
	n, err := strconv.ParseFloat(t.Usage.Cost.Amount, 64)
	if err != nil {
		return -1
	}
	return n
}

// matches reports whether a task has the query's state and capability, and whether each other word is in its shown
// text or in its id.
func (t *table) matches(one api.Task, label string, words []string) bool {
	if len(words) == 0 {
		return true
	}
	shown := strings.ToLower(strings.Join([]string{
		line(string(one.State)), line(one.Capability), what(one, label), label, line(one.ID), line(string(one.Mode)),
	}, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool {
		switch w {
		case string(t.query.State):
			return one.State != t.query.State
		case t.query.Capability:
			return one.Capability != w
		default:
			return !strings.Contains(shown, w)
		}
	})
}

// openFilter asks for the filter; the rows follow the typed text.
func (m *Model) openFilter() {
	before := m.table.filter
	p := &prompt{head: "/", keys: "enter keeps, esc undoes"}
	p.edit.insert(before)
	p.typed = m.setFilter
	p.enter = func(s string) tea.Cmd {
		m.setFilter(strings.TrimSpace(s))
		return m.look()
	}
	p.esc = func() { m.setFilter(before) }
	m.prompt = p
}
