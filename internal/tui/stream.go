package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"unitask/internal/api"
)

// event is one event of a stream: the task as it is now, or else the next piece of its text.
type event struct {
	task api.Task // zero if text is a piece
	text string
}

// heardMsg is the next event of a task's stream; over says that the stream has ended.
type heardMsg struct {
	id     string
	events <-chan event
	event  event
	over   bool
}

// follow begins a stream that ends with ctx. A channel hands its events on, so that the dashboard takes them when it can.
func (c calls) follow(ctx context.Context, id string) tea.Cmd {
	return func() tea.Msg {
		events := make(chan event)
		send := func(e event) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		}
		go func() {
			defer close(events)
			// An error ends it: the read that follows says whether the service is there.
			_ = c.service.Hear(ctx, id, func(t api.Task) { send(event{task: t}) }, func(piece string) { send(event{text: piece}) })
		}()
		return next(id, events)()
	}
}

func next(id string, events <-chan event) tea.Cmd {
	return func() tea.Msg {
		e, ok := <-events
		return heardMsg{id, events, e, !ok}
	}
}

// stream is a round of the shown task's loop that lasts until the task ends, or until another screen is shown.
func (m *Model) stream(id string) tea.Cmd {
	if m.hangUp != nil {
		m.hangUp() // the stream before, which broke off
	}
	ctx, cancel := context.WithCancel(m.calls.ctx)
	m.hangUp, m.loopOf(id).heard = cancel, false
	delete(m.tasks.texts, id) // which comes from its beginning
	return m.calls.follow(ctx, id)
}

func (m *Model) heard(msg heardMsg) tea.Cmd {
	l := m.loopOf(msg.id)
	if msg.over { // the loop goes on with a read, and with a stream after a useful one
		l.phase, l.plain = resting, !l.heard
		return nil
	}
	l.heard, l.streamed = true, true
	m.answered()
	if msg.event.text != "" {
		m.tasks.texts[msg.id] += msg.event.text
		return next(msg.id, msg.events)
	}
	return tea.Batch(m.learn(msg.event.task), next(msg.id, msg.events))
}

// leave ends the stream of a task that isn't shown any more, and lets go of the pictures of one that isn't looked at.
func (m *Model) leave() {
	open, beside := m.screen == detailScreen && m.detail.id == m.gallery.task, m.beside.shots != nil && m.beside.id == m.gallery.task
	if !open && !beside {
		m.gallery.close()
	}
	if m.hangUp != nil && m.screen != detailScreen {
		m.hangUp()
		m.hangUp = nil
	}
}
