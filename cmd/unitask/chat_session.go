package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"unitask/internal/submit/talk"

	"unitask/internal/arguments"
	"unitask/internal/chat"
	"unitask/internal/client"
	"unitask/internal/hint"
	"unitask/internal/submit"
)

// chatSession is a person's visit to a conversation, or to several one after another.
type chatSession struct {
	talk.Session

	t     *terminal
	flags *clientFlags

	editor   editor
	files    []string // that go along with the next message
	paused   bool     // the person has stopped waiting for the open turn
	leaving  bool
	progress atomic.Pointer[progress] // of the turn that is waited for
}

// retry shows why a request is sent again.
func (s *chatSession) retry(r client.Retry) {
	if p := s.progress.Load(); p != nil {
		p.retry(r)
		return
	}
	s.t.above(func() { s.t.note("%s", sayRetry(r)) })
}

// run takes one message without a terminal, and talks at one.
func (s *chatSession) run(ctx context.Context, words []string) error {
	s.Resumed = s.Talk.Open != nil
	if !s.t.inTTY {
		return s.once(ctx, words)
	}
	base, stop := until(context.WithoutCancel(ctx), syscall.SIGTERM)
	defer stop()
	defer s.t.markPastes()()
	s.recall()
	for !s.leaving && base.Err() == nil {
		if err := s.step(base, &words); err != nil {
			return err
		}
	}
	s.farewell()
	if base.Err() != nil {
		return &terminated{context.Cause(base)}
	}
	return nil
}

// step does whatever comes next: it waits for the open turn, or takes a message, a command or the results of tools. A
// SIGINT ends it alone. words wait until no turn is open.
func (s *chatSession) step(base context.Context, words *[]string) error {
	ctx, stop := until(base, os.Interrupt)
	defer stop()
	if s.Talk.Open != nil && !s.paused {
		s.told(s.finish(ctx))
	}
	if len(*words) > 0 && s.Talk.Open == nil && ctx.Err() == nil {
		text, err := s.take(ctx, *words)
		*words = nil
		if err == nil {
			s.told(s.say(ctx, text))
		}
		return err
	}
	if s.Talk.Open != nil && !s.paused || ctx.Err() != nil {
		return nil
	}
	if calls := s.Talk.Calls(); len(calls) > 0 {
		return s.results(ctx, calls)
	}
	text, err := s.read(ctx, "› ")
	if err == nil {
		s.enter(ctx, text)
	}
	return s.unread(ctx, err)
}

// unread takes an error of the prompt: a Ctrl-D leaves, a Ctrl-C begins the line again, others are returned.
func (s *chatSession) unread(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) {
		s.leaving = true
		return nil
	}
	if errors.Is(err, errCleared) || errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// enter takes a line that was entered at the prompt.
func (s *chatSession) enter(ctx context.Context, text string) {
	trimmed := strings.TrimSpace(text)
	literal := strings.HasPrefix(trimmed, "//")
	switch {
	case trimmed == "" && s.Talk.Open != nil:
		s.paused = false
	case trimmed == "" && len(s.files) == 0:
	case strings.HasPrefix(trimmed, "/") && !literal:
		s.told(s.command(ctx, trimmed))
	case s.Talk.Open != nil:
		s.t.note("the last message has no answer yet: an empty line waits for it, /cancel gives it up")
	case literal:
		s.told(s.say(ctx, trimmed[1:]))
	default:
		s.told(s.say(ctx, text))
	}
}

// once takes one message from the words and stdin, or waits for the open turn.
func (s *chatSession) once(ctx context.Context, words []string) error {
	if s.Talk.Open != nil {
		err := s.finish(ctx)
		if err != nil || len(words) == 0 && !s.t.inPiped {
			return s.ended(err)
		}
	}
	text, err := s.take(ctx, words)
	if err != nil {
		return err
	}
	piped, err := s.piped(ctx)
	if err != nil {
		return err
	}
	if text = strings.TrimSpace(text + "\n\n" + piped); text == "" && len(s.files) == 0 {
		if s.Resumed {
			return nil
		}
		return &hint.UsageError{Message: "there is no message: give PROMPT, or pipe one in"}
	}
	if calls := s.Talk.Calls(); len(calls) > 1 {
		return hint.With(errors.New("the model waits for the results of several tools, which are asked for at a terminal"), "unitask chat continue "+s.Talk.ID)
	} else if len(calls) == 1 {
		message, err := calls[0].Result(text)
		if err != nil {
			return err
		}
		return s.ended(s.ask(ctx, []json.RawMessage{message}, nil))
	}
	return s.ended(s.say(ctx, text))
}

// ended names the conversation after a turn without a terminal.
func (s *chatSession) ended(err error) error {
	if !s.Talk.Kept() {
		return err
	}
	next := "unitask chat continue " + s.Talk.ID + s.flags.words()
	if err == nil {
		s.t.note("%s", s.t.errStyle.faint.Render(next+" goes on"))
		return nil
	}
	if _, told := errors.AsType[*hint.Error](err); told || s.Talk.Open == nil {
		return err
	}
	return hint.With(err, next)
}

// piped reads the text that a shell pipes in.
func (s *chatSession) piped(ctx context.Context) (string, error) {
	if !s.t.inPiped {
		return "", nil
	}
	in := &slowReader{Reader: s.t.stdin(ctx), noteFunc: func() { s.t.note("reading stdin, to its end; < /dev/null runs without it") }}
	text, err := (&arguments.Reader{Stdin: in}).Text("-")
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return text, err
}

// take reads the words of a first message as run does: a text, and files that go along with it.
func (s *chatSession) take(ctx context.Context, words []string) (string, error) {
	if len(words) == 0 {
		return "", nil
	}
	text, err := (&arguments.Reader{StdinUsed: true}).Text(words[0])
	if err != nil {
		return "", &hint.UsageError{Message: err.Error()}
	}
	for _, word := range words[1:] {
		name, isFile := strings.CutPrefix(word, "@")
		if !isFile {
			return "", &hint.UsageError{Message: "there is more than one prompt; quote it as one word"}
		}
		if err := s.attach(ctx, name); err != nil {
			return "", err
		}
	}
	return text, nil
}

// told reports an error, if there is one, at the terminal, where the conversation goes on.
func (s *chatSession) told(err error) bool {
	if err != nil {
		s.t.report("unitask chat", s.hinted(err))
	}
	return err != nil
}

// replay shows the last message before its answer.
func (s *chatSession) replay(turn chat.Turn) {
	for _, m := range turn.Said() {
		s.t.note("%s", s.t.errStyle.faint.Render(printable("› "+strings.ReplaceAll(m.Text, "\n", "\n  "))))
	}
}

// recall says which conversation goes on, and puts its messages into the history of the prompt.
func (s *chatSession) recall() {
	for _, turn := range s.Talk.Turns {
		for _, m := range turn.Said() {
			if m.Role == "user" && m.Text != "" {
				s.editor.remember(m.Text)
			}
		}
	}
	line := string(s.Entry.Name) + ", /help lists commands"
	if s.Talk.Title != "" {
		line = fmt.Sprintf("%s (%s, %d turns)", s.Talk.Title, s.Talk.ID, len(s.Talk.Turns))
	}
	s.t.note("%s", s.t.errStyle.faint.Render(printable(line)))
	if text, ok := s.Talk.Last(); ok && s.Talk.Open == nil {
		s.t.note("%s", s.t.errStyle.faint.Render(printable(strings.TrimSpace(text))))
	}
	if s.Talk.Open != nil {
		s.replay(*s.Talk.Open)
	}
}

// farewell names the command that goes on.
func (s *chatSession) farewell() {
	if !s.Talk.Kept() {
		return
	}
	line := "unitask chat continue " + s.Talk.ID + s.flags.words()
	if s.Talk.Open != nil {
		line += " shows the answer when it is there"
	} else {
		line += " goes on"
	}
	s.t.note("%s", s.t.errStyle.faint.Render(line))
}

// interrupted reports whether a person has stopped waiting.
func interrupted(err error) bool {
	left, ok := errors.AsType[*submit.LeftRunningError](err)
	by, signal := errors.AsType[*signaled](err)
	return ok && left != nil && signal && by.Signal == os.Interrupt
}
