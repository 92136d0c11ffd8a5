package talk

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"unitask/internal/arguments"
	"unitask/internal/chat"
	"unitask/internal/form"
	"unitask/internal/hint"
)

// Desk is a session for a screen. It is safe for concurrent use; a method waits until the one before has ended.
type Desk struct {
	mu      sync.Mutex
	session *Session
	results []json.RawMessage // of the tools that the last answer calls, those given so far
	closed  bool
}

// NewDesk takes a session over. Its open turn, if it has one, may be another process's.
func NewDesk(s *Session) *Desk {
	s.Resumed = s.Talk.Open != nil
	return &Desk{session: s}
}

// View shows the conversation.
func (d *Desk) View() chat.View {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.session.Talk.View()
	v.Calls = v.Calls[min(len(v.Calls), len(d.results)):]
	return v
}

// NoResult stands for the result of a call that the person skips: models don't take an empty one well.
const NoResult = "There is no result."

// Files returns the entry of the files that go along with a message; false if the capability takes no files.
func (d *Desk) Files() (form.Entry, bool) { return form.Beside(d.session.Fields()) }

// Say begins a turn with a message and the files of the paths, which is durable then; while a tool's result is waited
// for the text is that, and the turn begins with the last one. An end of ctx ends the sending of files alone.
func (d *Desk) Say(ctx context.Context, text string, paths []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session
	switch calls := s.Talk.Calls(); {
	case d.closed:
		return errClosed
	case s.Talk.Open != nil:
		return &hint.UsageError{Message: "the last message has no answer yet", Hint: "wait for it, or cancel it"}
	case len(calls) > len(d.results) && len(paths) > 0:
		return &hint.UsageError{Message: "no file goes along with the result of a tool", Hint: "take it back, and give the result alone"}
	case len(calls) > len(d.results):
		if text = strings.TrimSpace(text); text == "" {
			text = NoResult
		}
		result, err := calls[len(d.results)].Result(text)
		if err != nil {
			return err
		}
		all := append(d.results[:len(d.results):len(d.results)], result)
		if len(all) == len(calls) {
			if err := s.Ask(all, nil); err != nil {
				return err
			}
			all = nil
		}
		d.results = all
		return nil
	}
	read := &arguments.Reader{StdinUsed: true}
	if s.Ahead != nil {
		read.AheadFunc = s.Ahead(ctx)
	}
	message, err := s.Message(text, paths, read)
	if err != nil {
		return err
	}
	return s.Ask([]json.RawMessage{message}, read.Files)
}

var errClosed = errors.New("the conversation is closed")

// Wait sends the open turn and waits for its answer. It returns an *OpenError if the wait ended before the turn did.
func (d *Desk) Wait(ctx context.Context, onText, onThought func(string), onAgain func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errClosed
	}
	if d.session.Talk.Open == nil {
		return nil
	}
	return d.session.Wait(ctx, Listener{Text: onText, Thought: onThought, Retry: onAgain})
}

// Again begins a turn with the last message.
func (d *Desk) Again() error {
	return d.idle(func() error {
		d.results = nil
		return d.session.Again()
	})
}

// Undo takes the last message and its answer back.
func (d *Desk) Undo() error {
	return d.idle(func() error {
		d.results = nil
		_, err := d.session.Undo()
		return err
	})
}

// idle does something while no turn is open.
func (d *Desk) idle(do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return errClosed
	case d.session.Talk.Open != nil:
		return &hint.UsageError{Message: "the last message has no answer yet", Hint: "wait for it, or cancel it"}
	}
	return do()
}

// Cancel ends the task of the open turn, whose end Wait then takes.
func (d *Desk) Cancel(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errClosed
	}
	_, err := d.session.Cancel(ctx)
	return err
}

// Close gives the conversation up, for another process to take.
func (d *Desk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	return d.session.Talk.Close()
}
