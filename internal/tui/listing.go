package tui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
)

const (
	firstPage = 50 // tasks of the page that is read again and again: the newest ones
	// mostPages is how many further pages are read by themselves until the next key: enough for a search among the
	// newest thousand tasks, and a bound for a million.
	mostPages = 5
)

// listing is the part of a query's tasks that the service has listed so far: its newest tasks, without a gap.
type listing struct {
	known bool // the first page came
	ids   map[string]bool
	next  string // the cursor of the page below; "" at the end
}

// take takes the page that stands at a cursor. A first page that doesn't reach down to the rows listed before
// replaces them, so that a gap is never hidden.
func (l *listing) take(cursor string, p api.TaskList) {
	next := ""
	if p.NextCursor != nil {
		next = *p.NextCursor
	}
	meets := slices.ContainsFunc(p.Data, func(t api.Task) bool { return l.ids[t.ID] })
	switch {
	case cursor != "" && cursor != l.next:
		return // of a listing that was replaced meanwhile
	case cursor == "" && l.known && (meets || len(p.Data) == 0 || next == ""):
	default:
		l.next = next
		if cursor == "" {
			clear(l.ids)
		}
	}
	l.known = true
	for _, t := range p.Data {
		l.ids[t.ID] = true
	}
}

// listing is that of the filter's query.
func (t *table) listing() *listing { return t.listingOf(t.query) }

// listingOf returns a listing, made at first use.
func (t *table) listingOf(q client.ListOptions) *listing {
	l := t.listings[q]
	if l == nil {
		l = &listing{ids: map[string]bool{}}
		t.listings[q] = l
	}
	return l
}

// holds reports whether a task is among those listed, with or without a filter, or was sent from here.
func (t *table) holds(id string, b taskCache) bool {
	_, sent := b.labels[id]
	return sent || t.listings[client.ListOptions{}].holds(id) || t.listings[t.query].holds(id)
}

func (l *listing) holds(id string) bool { return l != nil && l.ids[id] }

// setFilter makes words the filter. The first one that is a state's name and the first that is a capability's
// are asked of the service, which knows more tasks than were read.
func (m *Model) setFilter(filter string) {
	m.table.filter, m.table.query = filter, client.ListOptions{}
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if s := task.State(word); m.table.query.State == "" && slices.Contains(task.States(), s) {
			m.table.query.State = s
		}
		if m.table.query.Capability == "" && m.capability(word) {
			m.table.query.Capability = word
		}
	}
}

// capability reports whether a word is the name of a capability that the key opens or that a task has.
func (m *Model) capability(word string) bool {
	for _, c := range m.directory.all {
		if string(c.Name) == word {
			return true
		}
	}
	return slices.Contains(m.tasks.capabilities(), word)
}

// look asks for the first page of the filter's tasks at once, unless one came before.
func (m *Model) look() tea.Cmd {
	if m.table.listing().known {
		return nil
	}
	m.loopOf(tasksLoop).gap = 0
	return m.again(tasksLoop, 0)
}

// lookFurther asks for the next page if the selected row is near the end, or if the order is one that the service
// doesn't know.
func (m *Model) lookFurther() tea.Cmd {
	if m.screen != tasksScreen || m.prompt != nil || m.table.listing().next == "" || m.table.pages == 0 ||
		m.loopOf(pagesLoop).phase != resting {
		return nil
	}
	rows := m.rows()
	if m.table.order == newestFirst && m.table.index(rows)+m.bodyHeight() < len(rows) {
		return nil
	}
	m.table.pages--
	return m.round(pagesLoop)
}

func (m *Model) answeredList(msg listMsg) tea.Cmd {
	if msg.err != nil {
		return m.failedList(msg)
	}
	m.answered()
	m.table.listingOf(msg.query).take(msg.cursor, msg.page)
	var cmds []tea.Cmd
	for _, t := range msg.page.Data {
		cmds = append(cmds, m.learn(t))
	}
	m.loopOf(msg.loop()).phase = resting
	if msg.loop() == tasksLoop {
		cmds = append(cmds, m.again(tasksLoop, listEvery+rand.N(listEvery/4)), m.look())
	}
	return tea.Batch(cmds...)
}

// failedList asks for the same page again, unless the service refuses it: the first one is asked for all the
// same, another one at the next key.
func (m *Model) failedList(msg listMsg) tea.Cmd {
	m.loopOf(msg.loop()).phase = resting
	pause, goOn := m.trouble(msg.err)
	if !goOn {
		m.fail(words(msg.err), msg.err)
		pause = listEvery
	}
	if msg.loop() == pagesLoop {
		if !goOn {
			m.table.pages = 0
			return nil
		}
		m.table.pages++
	}
	return m.again(msg.loop(), max(pause, client.PollInterval(0)))
}

// loop is the one whose answer this is.
func (msg listMsg) loop() string {
	if msg.cursor == "" {
		return tasksLoop
	}
	return pagesLoop
}

// note says how many tasks are shown, whether there are more, and how they differ from all, newest first; "" without
// any.
func (m *Model) note() string {
	rows, t := m.rows(), &m.table
	n := len(rows)
	if m.screen != tasksScreen || n == 0 && t.filter == "" && len(t.marks.ids) == 0 {
		return ""
	}
	words := fmt.Sprintf("%d %s", n, plural(n, "task"))
	if marked := t.count(rows); marked > 0 {
		words = fmt.Sprintf("%d marked, %s", marked, words)
	}
	switch {
	case t.listing().next == "":
	case m.loopOf(pagesLoop).phase != resting:
		words += ", reading on"
	default:
		words += ", ↓ more"
	}
	if t.filter != "" {
		words += "  /" + t.filter
	}
	return strings.TrimSpace(words + "  " + t.order.String())
}
