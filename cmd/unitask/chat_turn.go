package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"unitask/internal/submit/talk"

	"unitask/internal/api"
	"unitask/internal/arguments"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/shown"
)

// say sends a person's message with the files that go along with it.
func (s *chatSession) say(ctx context.Context, text string) error {
	message, files, err := s.message(ctx, text, s.files)
	if err != nil {
		return err
	}
	s.files = nil
	return s.ask(ctx, []json.RawMessage{message}, files)
}

// message makes a message of a text and files, of which large ones are sent ahead.
func (s *chatSession) message(ctx context.Context, text string, paths []string) (json.RawMessage, []journal.File, error) {
	defer s.t.hush()()
	p := startProgress(s.t, string(s.Entry.Name))
	defer p.stop()
	read := &arguments.Reader{StdinUsed: true, AheadFunc: (&ahead{ctx: ctx, client: s.Service.Client, progress: p}).send}
	message, err := s.Message(text, paths, read)
	return message, read.Files, err
}

// ask begins a turn and waits for its answer.
func (s *chatSession) ask(ctx context.Context, messages []json.RawMessage, files []journal.File) error {
	if err := s.Ask(messages, files); err != nil {
		return err
	}
	return s.finish(ctx)
}

// finish waits for the answer of the open turn and prints it. A turn that is still open after an error isn't waited for
// until the person asks for it.
func (s *chatSession) finish(ctx context.Context) error {
	err := s.await(ctx)
	if err != nil && s.Talk.Open != nil {
		s.paused = true
	}
	return err
}

func (s *chatSession) await(ctx context.Context) error {
	defer s.t.hush()()
	p := startProgress(s.t, string(s.Entry.Name))
	stop := sync.OnceFunc(p.stop)
	s.progress.Store(p)
	end := func() {
		s.progress.Store(nil)
		stop()
	}
	defer end()
	show := p.show
	if !s.t.outTTY && !s.t.errTTY {
		show = func(api.Task) {}
	}
	thoughts := &thoughtPrinter{t: s.t}
	said := &textPrinter{t: s.t, begin: func(said *textPrinter) {
		p.hush(func() { thoughts.end(); said.again() })
	}}
	thoughts.begin = func() { said.begin(said) }
	err := s.Wait(ctx, talk.Listener{
		Task: show, Thought: thoughts.say,
		Text: func(piece string) { thoughts.end(); said.say(piece) },
		Ended: func() {
			end()
			thoughts.end()
		},
		Answer: func(done api.Task) error {
			err := s.show(done, said)
			said.end()
			return err
		},
	})
	said.end()
	if open, ok := errors.AsType[*talk.OpenError](err); ok {
		s.paused = true
		return s.left(open.Err)
	}
	return err
}

// left says that an answer that isn't waited for is made all the same.
func (s *chatSession) left(err error) error {
	next := "unitask chat continue " + s.Talk.ID + s.flags.words() + " shows it"
	if s.t.inTTY {
		next = "an empty line waits on, /cancel ends it; " + next
	}
	if interrupted(err) && s.t.inTTY {
		s.t.note("the answer goes on without you")
		s.t.note("%s %s", s.t.errStyle.bold.Render("hint:"), next)
		return nil
	}
	return hint.With(err, next)
}

// show prints the rest of an answer, and all that stands beside it.
func (s *chatSession) show(done api.Task, said *textPrinter) error {
	out := done.Output
	if out == nil {
		return nil
	}
	if out.Text != nil && (*out.Text != "" || len(out.ToolCalls) == 0) {
		if err := said.rest(*out.Text); errors.Is(err, errReworded) {
			return hint.With(err, "unitask chat show "+s.Talk.ID+" prints it")
		} else if err != nil {
			return err
		}
	}
	s.t.noteSources(done)
	for _, call := range out.ToolCalls {
		s.t.note("%s%s", s.t.errStyle.bold.Render(printable(call.Name)), printable("("+string(call.Arguments)+")"))
	}
	if note := cutNote(done); note != "" {
		next := "unitask chat PROMPT " + roomier(done) + " allows more"
		if s.t.inTTY {
			next = "/set " + roomier(done) + " and /retry allow more"
		}
		s.t.note("note: %s", note)
		s.t.note("%s %s", s.t.errStyle.bold.Render("hint:"), next)
	}
	s.summarize(done)
	return nil
}

// summarize says how long an answer took and its cost, at a terminal.
func (s *chatSession) summarize(done api.Task) {
	if !s.t.errTTY || done.FinishedAt == nil {
		return
	}
	line := shown.Duration(done.FinishedAt.Sub(done.CreatedAt.Time))
	if done.Usage != nil {
		line += ", $" + done.Usage.Cost.Amount
	}
	s.t.note("%s", s.t.errStyle.faint.Render(printable(line)))
}

// hinted replaces an error's next step by the command of the conversation that takes it.
func (s *chatSession) hinted(err error) error {
	f, coded := errors.AsType[*fault.Error](err)
	_, told := errors.AsType[*hint.Error](err)
	_, changed := errors.AsType[*journal.ChangedError](err)
	switch {
	case changed && s.Talk.Open != nil:
		return hint.With(err, "put the file back as it was, or /cancel gives the message up")
	case told, s.Talk.Failed == nil:
		return err
	case changed:
		return hint.With(err, "put the file back as it was, or /undo takes the turns back that it belongs to")
	case coded && f.Code == fault.InvalidRequest:
		return hint.With(err, "if the conversation is too long for the model, /undo shortens it and /new begins another one; /set shows the parameters")
	case coded && f.Code == fault.ContentPolicyViolation, coded && f.Code == fault.Unauthenticated:
		return err
	default:
		return hint.With(err, "/retry tries it again")
	}
}
