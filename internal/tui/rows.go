package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
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
func (t *table) rows(b taskCache, now time.Time) []*known {
	rows := make([]*known, 0, len(b.newest))
	words := t.words()
	for _, one := range b.newest {
		if t.holds(one.ID, b) && t.matches(one, words) {
			rows = append(rows, one)
		}
	}
	if t.order != newestFirst {
		slices.SortFunc(rows, func(x, y *known) int {
			if c := t.order.compare(x, y, now); c != 0 {
				return c
			}
			return byAge(x, y)
		})
	}
	return rows
}

// words are those of the filter.
func (t *table) words() []string { return strings.Fields(strings.ToLower(t.filter)) }

// shows reports whether a task is among the rows.
func (t *table) shows(one *known, b taskCache) bool {
	return t.holds(one.ID, b) && t.matches(one, t.words())
}

func (o order) compare(x, y *known, now time.Time) int {
	switch o {
	case oldestFirst:
		return byAge(y, x)
	case byState:
		return cmp.Compare(x.rank, y.rank)
	case byCapability:
		return cmp.Compare(x.Capability, y.Capability)
	case byTime:
		return cmp.Compare(elapsed(y.Task, now), elapsed(x.Task, now))
	case byCost:
		return cmp.Compare(y.amount, x.amount)
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
func (t *table) matches(one *known, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		switch w {
		case string(t.query.State):
			return one.State != t.query.State
		case t.query.Capability:
			return one.Capability != w
		default:
			return !strings.Contains(one.text, w)
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
