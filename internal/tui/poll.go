package tui

import (
	"cmp"
	"errors"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
)

const (
	listEvery    = 8 * time.Second        // and up to a quarter more: tasks of other clients appear
	roundTrip    = 500 * time.Millisecond // kept free between a read's wait and the next read
	longestPause = time.Minute            // the most that an advice delays a loop
	tasksLoop    = "tasks"                // the loop of the list's first page; a task's own is called by its id
	// pagesLoop and directoryLoop are no task's id, as tasksLoop isn't.
	pagesLoop     = "pages"
	directoryLoop = "directory"
	// mostRead is how many open tasks are read at the same time: a key's requests are limited. Of more they take
	// turns.
	mostRead = 50
)

// loop is one repeated question to the service. At any time it rests, waits for the timer of its
// turn or for an answer, so that there are never two rounds at once.
type loop struct {
	phase    phase
	turn     int  // counts the timers; one that was overtaken is ignored
	heard    bool // the stream of this round brought something
	streamed bool // one did
	plain    bool // the next round is a read: the last stream was silent
	refused  bool // the service doesn't answer and won't; a list that has the task begins anew
	etag     string
	started  time.Time     // of the last round
	gap      time.Duration // least time between that start and the next
}

type phase int

const (
	resting phase = iota
	timed
	asking
)

// loopOf returns a loop, made at first use.
func (m *Model) loopOf(name string) *loop {
	l := m.loops[name]
	if l == nil {
		l = &loop{}
		m.loops[name] = l
	}
	return l
}

// again starts the next round of a loop once its gap and the pause have passed.
func (m *Model) again(name string, pause time.Duration) tea.Cmd {
	l := m.loopOf(name)
	if l.phase == asking {
		return nil
	}
	l.phase = timed
	l.turn++
	wait := max(pause, l.started.Add(l.gap).Sub(m.now))
	if wait <= 0 {
		return m.round(name)
	}
	return after(wait, dueMsg{name, l.turn})
}

// due starts a round whose timer has run out, if it is still wanted.
func (m *Model) due(msg dueMsg) tea.Cmd {
	l := m.loopOf(msg.loop)
	if l.phase != timed || l.turn != msg.turn {
		return nil
	}
	if t, isTask := m.tasks.get(msg.loop); isTask && t.State.Terminal() {
		l.phase = resting
		return nil
	}
	if msg.loop == pagesLoop { // it may not be wanted any more
		l.phase = resting
		return nil
	}
	return m.round(msg.loop)
}

func (m *Model) round(name string) tea.Cmd {
	l := m.loopOf(name)
	l.phase, l.started, l.gap = asking, m.now, client.PollInterval(0)
	switch name {
	case tasksLoop:
		return m.calls.list(m.table.query, "", firstPage)
	case pagesLoop:
		return m.calls.list(m.table.query, m.table.listing().next, api.MaxListLimit)
	case directoryLoop:
		return m.calls.capabilities()
	default:
		if m.screen == detailScreen && m.detail.id == name && !l.plain && !m.known(name).State.Terminal() {
			return m.stream(name)
		}
		return m.calls.read(name, l.etag, (l.gap - roundTrip).Truncate(time.Second))
	}
}

func (m *Model) answeredCapabilities(msg capabilitiesMsg) tea.Cmd {
	m.loopOf(directoryLoop).phase = resting
	if msg.err != nil {
		pause, goOn := m.trouble(msg.err)
		if !goOn {
			m.directory.refused = notice{words: words(msg.err), hint: m.config.Hint(msg.err)}
			return nil
		}
		return m.again(directoryLoop, max(pause, client.PollInterval(0)))
	}
	m.answered()
	m.directory.take(msg.all)
	return nil
}

func (m *Model) answeredRead(msg readMsg) tea.Cmd {
	l := m.loopOf(msg.id)
	l.phase, l.started = resting, msg.started
	if msg.err != nil {
		return m.failedRead(msg)
	}
	m.answered()
	l.plain = !l.streamed
	if advised := msg.reading.RetryAfter; l.gap < advised {
		l.gap = client.PollInterval(advised)
	}
	if msg.reading.NotModified {
		return m.loadPictures(m.known(msg.id))
	}
	l.etag = msg.reading.ETag
	return m.learn(msg.reading.Task)
}

func (m *Model) failedRead(msg readMsg) tea.Cmd {
	pause, goOn := m.trouble(msg.err)
	if goOn {
		return m.again(msg.id, pause)
	}
	if fault.CodeOf(msg.err) == fault.NotFound {
		m.tasks.forget(msg.id)
		delete(m.table.marks.ids, msg.id)
	}
	m.loopOf(msg.id).refused = true
	m.fail(words(msg.err), msg.err)
	return nil
}

// learn takes a task from an answer and rings when it ends.
func (m *Model) learn(t api.Task) tea.Cmd {
	c := m.tasks.put(t)
	m.loopOf(t.ID).refused = false
	var cmds []tea.Cmd
	if c.ended {
		cmds = append(cmds, m.tell(t))
	}
	if c.moved && m.screen == detailScreen && m.detail.id == t.ID {
		cmds = append(cmds, m.calls.timeline(t.ID))
	}
	return tea.Batch(append(cmds, m.loadPictures(m.known(t.ID)))...)
}

// keepReading starts the next rounds of the open tasks: of the one that is shown, then of those that weren't
// read for longest, as long as few enough are under way.
func (m *Model) keepReading() tea.Cmd {
	var waiting []string
	busy := 0
	if _, goes := m.tasks.going[m.detail.id]; !goes && m.detail.id != "" && m.loopOf(m.detail.id).phase != resting {
		busy++ // one that has ended and is read once more
	}
	for id := range m.tasks.going {
		switch l := m.loopOf(id); {
		case l.phase != resting:
			busy++
		case !l.refused:
			waiting = append(waiting, id)
		}
	}
	since := func(id string) time.Time {
		if m.screen == detailScreen && m.detail.id == id {
			return time.Time{}
		}
		return m.loops[id].started
	}
	slices.SortFunc(waiting, func(x, y string) int { return cmp.Or(since(x).Compare(since(y)), cmp.Compare(y, x)) })
	var cmds []tea.Cmd
	for _, id := range waiting[:min(len(waiting), max(0, mostRead-busy))] {
		cmds = append(cmds, m.again(id, 0))
	}
	return tea.Batch(cmds...)
}

// trouble judges an error of a repeated question: the pause before the next try, and whether there is to be one. A
// read without an answer is repeated until one comes.
func (m *Model) trouble(err error) (time.Duration, bool) {
	f, answered := errors.AsType[*fault.Error](err)
	switch {
	case m.calls.ctx.Err() != nil:
		return 0, false
	case answered && f.Retryable():
		m.away = notice{words: "server says " + line(string(f.Code)) + ", retrying"} // which is all there is to do
		return min(f.RetryAfter, longestPause), true
	case unanswered(err):
		m.away = notice{words: "server away, retrying", hint: m.config.Hint(err)}
		return 0, true
	default:
		m.answered()
		return 0, false
	}
}

// answered records that the service is there, and says so if it was away.
func (m *Model) answered() {
	if m.away.words != "" {
		m.notice("the server is back", false)
	}
	m.away = notice{}
}
