package tui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/chat"
	"unitask/internal/form"
)

// Talks is the dashboard's use of the conversations on this machine. It is called from several goroutines at once.
type Talks interface {
	List() ([]chat.Summary, error)
	// Open takes a conversation, or begins one for "": by the preferred capability, if that takes one.
	Open(ctx context.Context, id, preferred string) (Talk, error)
}

// Talk is a conversation that this process has taken, as *talk.Desk has it. Its methods wait for each other.
type Talk interface {
	View() chat.View
	// Files returns the entry of the files that go along with a message; false if it can't have files.
	Files() (form.Entry, bool)
	// Say begins a turn with a message and files, or with the result of a tool. It is durable then, and not sent. The end
	// of ctx ends a large file's way ahead of it.
	Say(ctx context.Context, text string, paths []string) error
	// Wait sends the open turn and waits for its answer. After an error the turn may still be open.
	Wait(ctx context.Context, onText, onThought func(string), onAgain func()) error
	// Cancel ends the task of the open turn, whose end Wait takes.
	Cancel(ctx context.Context) error
	// Again begins a turn with the last message, and Undo takes it and its answer back.
	Again() error
	Undo() error
	Close() error
}

// deed keeps a conversation busy; one at a time.
type deed int

const (
	idle deed = iota
	opening
	saying
	retrying
	waiting
	canceling
	undoing
)

// talkPane is the list of conversations and the one that is open.
type talkPane struct {
	list   talkList
	talk   Talk // nil without an open one
	view   chat.View
	write  editor
	files  formEntry // that go along with the next message; without kinds it can't have files
	picker *picker   // nil if it isn't open
	sent   outgoing  // the message that is being said
	drafts drafts
	deed   deed
	since  time.Time          // of the deed
	stop   context.CancelFunc // ends a wait
	ends   bool               // the wait is stopped in order to cancel the task
	heard  string             // the answer so far
	mused  string             // the model's thoughts before it
	up     int                // how many lines below the last one shown
	lines  talkLines
	told   wrapped // the answer so far, in lines
	from   screen  // the one that esc leads back to
}

// talksMsg is the list as it was read.
type talksMsg struct {
	all []chat.Summary
	err error
}

// openedTalkMsg is a conversation that was taken, or the reason why it can't be.
type openedTalkMsg struct {
	talk  Talk
	view  chat.View
	files form.Entry
	err   error
}

// didMsg is the end of a deed.
type didMsg struct {
	talk Talk
	deed deed
	view chat.View
	err  error
}

// toldMsg is the next piece of an answer; the next message comes from the same channel.
type toldMsg struct {
	talk          Talk
	text, thought string
	again         bool // the text comes from its beginning again
	from          <-chan tea.Msg
}

// openTalks shows the list of conversations, or the one that is open.
func (m *Model) openTalks() tea.Cmd {
	if m.config.Talks == nil {
		return nil
	}
	p := &m.talking
	if m.screen != talksScreen && m.screen != talkScreen {
		p.from = m.screen
		if m.screen == formScreen {
			p.from = directoryScreen
		}
	}
	if p.talk != nil {
		m.screen = talkScreen
		return nil
	}
	m.screen = talksScreen
	return m.readTalks()
}

// newTalk begins a conversation.
func (m *Model) newTalk() tea.Cmd {
	shows := m.openTalks()
	if m.held() {
		return shows
	}
	m.screen = talksScreen
	return m.openTalk("")
}

func (m *Model) readTalks() tea.Cmd {
	from := m.config.Talks
	return func() tea.Msg {
		all, err := from.List()
		return talksMsg{all, err}
	}
}

// openTalk takes a conversation, or begins one for "", and closes the one before.
func (m *Model) openTalk(id string) tea.Cmd {
	p := &m.talking
	if p.deed == waiting && p.stop != nil {
		p.stop()
	}
	former, preferred := p.talk, ""
	if c, ok := m.directory.selected(); ok {
		preferred = string(c.Name)
	}
	p.empty()
	p.view.ID, p.deed, p.since = id, opening, m.now
	p.write.lines = true
	from, ctx := m.config.Talks, m.calls.ctx
	return func() tea.Msg {
		if former != nil {
			_ = former.Close() // it has all its lines
		}
		t, err := from.Open(ctx, id, preferred)
		if err != nil {
			return openedTalkMsg{err: err}
		}
		files, _ := t.Files()
		return openedTalkMsg{t, t.View(), files, nil}
	}
}

func (m *Model) openedTalk(msg openedTalkMsg) tea.Cmd {
	p := &m.talking
	p.deed = idle
	if msg.err != nil {
		m.fail(words(msg.err), msg.err)
		p.empty()
		if m.screen == talkScreen { // of the one before
			m.screen = talksScreen
			return m.readTalks()
		}
		return nil
	}
	p.talk, p.view, p.files = msg.talk, msg.view, newEntry(msg.files)
	p.takeBack(p.drafts.take(p.view))
	if m.screen == talksScreen {
		m.screen = talkScreen
	}
	if p.view.Unanswered {
		return m.await()
	}
	return nil
}

// closeTalk gives the conversation up, for another process to take.
func (m *Model) closeTalk() tea.Cmd {
	p := &m.talking
	former := p.talk
	if p.empty() {
		m.notice("the draft is kept", false)
	}
	if former == nil {
		return nil
	}
	reread := m.readTalks()
	return func() tea.Msg {
		_ = former.Close() // it has all its lines
		return reread()
	}
}

// act does a deed with the open conversation.
func (m *Model) act(d deed, do func(Talk) error) tea.Cmd {
	p := &m.talking
	p.deed, p.since = d, m.now
	t := p.talk
	return func() tea.Msg {
		err := do(t)
		return didMsg{t, d, t.View(), err}
	}
}

// await waits for the answer of the open turn.
func (m *Model) await() tea.Cmd {
	p := &m.talking
	ctx, stop := context.WithCancel(m.calls.ctx)
	p.stop, p.ends, p.heard, p.mused = stop, false, "", ""
	p.deed, p.since = waiting, m.now
	t, whole := p.talk, m.calls.ctx
	return func() tea.Msg {
		told := make(chan tea.Msg)
		send := func(msg tea.Msg) {
			select {
			case told <- msg:
			case <-whole.Done():
			}
		}
		go func() {
			defer close(told)
			defer stop()
			err := t.Wait(
				ctx,
				func(piece string) { send(toldMsg{talk: t, text: piece, from: told}) },
				func(piece string) { send(toldMsg{talk: t, thought: piece, from: told}) },
				func() { send(toldMsg{talk: t, again: true, from: told}) },
			)
			send(didMsg{t, waiting, t.View(), err})
		}()
		return nextOf(told)()
	}
}

// told takes a piece of an answer.
func (m *Model) told(msg toldMsg) tea.Cmd {
	p := &m.talking
	switch {
	case msg.talk != p.talk:
	case msg.again:
		p.heard, p.mused = "", ""
	default:
		p.heard, p.mused = p.heard+msg.text, p.mused+msg.thought
	}
	return nextOf(msg.from)
}

// did takes the end of a deed, and begins the next one.
func (m *Model) did(msg didMsg) tea.Cmd {
	p := &m.talking
	if msg.talk != p.talk {
		return nil
	}
	ends := p.ends
	p.deed, p.view, p.ends = idle, msg.view, false
	if msg.deed == waiting {
		p.heard, p.mused = "", ""
	}
	if msg.deed == saying && msg.err != nil {
		p.takeBack(p.sent)
	}
	p.sent = outgoing{}
	switch {
	case msg.deed == waiting && p.view.Unanswered && ends:
		return m.cancelTurn()
	case msg.deed == waiting && p.view.Unanswered && errors.Is(msg.err, context.Canceled):
		m.said = notice{words: "the answer goes on; enter waits on", hint: "ctrl+x cancels it"}
		return nil
	case msg.err != nil && msg.deed == waiting && p.view.Failure != nil: // which stands below the message
		m.said = notice{hint: m.config.Hint(msg.err)}
		return nil
	case msg.deed == saying && errors.Is(msg.err, context.Canceled):
		m.notice("not sent", false)
		return nil
	case msg.err != nil:
		m.fail(words(msg.err), msg.err)
		return nil
	case msg.deed == waiting:
		m.answered()
		return nil
	}
	if p.view.Unanswered {
		return m.await()
	}
	return nil
}

// cancelTurn ends the task of the open turn.
func (m *Model) cancelTurn() tea.Cmd {
	ctx := m.calls.ctx
	return m.act(canceling, func(t Talk) error { return t.Cancel(ctx) })
}
