package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/arguments"
	"unitask/internal/chat"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/shown"
	"unitask/internal/submit"
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
	p := startProgress(s.t, string(s.entry.Name))
	defer p.stop()
	read := &arguments.Reader{StdinUsed: true, AheadFunc: (&ahead{ctx: ctx, client: s.service.Client, progress: p}).send}
	message, err := s.fitMessage(text, paths, read)
	return message, read.Files, err
}

func (s *chatSession) fitMessage(text string, paths []string, read *arguments.Reader) (json.RawMessage, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	words := []string{s.prompt() + ":=" + string(quoted)}
	for _, path := range paths {
		words = append(words, "@"+path)
	}
	req, err := arguments.Fit(s.entry, words, read)
	if err != nil {
		return nil, err
	}
	var input struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(req.Input, &input); err != nil {
		return nil, err
	}
	if len(input.Messages) == 1 {
		return withoutBlank(input.Messages[0])
	}
	return json.Marshal(map[string]string{"role": "user", "content": text})
}

// withoutBlank leaves out the text of a message that has files alone.
func withoutBlank(raw json.RawMessage) (json.RawMessage, error) {
	var m struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	m.Content = slices.DeleteFunc(m.Content, func(part json.RawMessage) bool {
		var text struct {
			Text *string `json:"text"`
		}
		return json.Unmarshal(part, &text) == nil && text.Text != nil && strings.TrimSpace(*text.Text) == ""
	})
	return json.Marshal(m)
}

// ask begins a turn and waits for its answer.
func (s *chatSession) ask(ctx context.Context, messages []json.RawMessage, files []journal.File) error {
	if err := s.talk.Ask(client.NewIdempotencyKey(), s.place, messages, files); err != nil {
		return unkept(err)
	}
	s.resumed = false
	return s.finish(ctx)
}

// unkept is the error if the conversation can't be written, so that no request is sent.
func unkept(err error) error {
	return hint.With(fmt.Errorf("nothing was sent, because the conversation can't be written: %w", err), "UNITASK_STATE_DIR names a folder for it")
}

// finish submits the open turn, or finds the task that an earlier process submitted, and waits for its answer. A turn
// that is still open after an error isn't waited for until the person asks for it.
func (s *chatSession) finish(ctx context.Context) error {
	err := s.await(ctx)
	if err != nil && s.talk.Open != nil {
		s.paused = true
	}
	return err
}

func (s *chatSession) await(ctx context.Context) error {
	if s.resumed && time.Since(s.talk.Open.At) > journal.MaxAge {
		return errors.Join(s.talk.Fail(chat.Failure{Message: "it is older than the service keeps keys"}),
			errors.New("the last message is older than the service keeps its key, so its answer can't be found; /retry asks again"))
	}
	p := startProgress(s.t, string(s.entry.Name))
	s.progress.Store(p)
	end := sync.OnceFunc(func() {
		s.progress.Store(nil)
		p.stop()
	})
	defer end()
	show := p.show
	if !s.t.outTTY && !s.t.errTTY {
		show = func(api.Task) {}
	}
	sub, known, err := s.submission(ctx, show)
	if err != nil {
		end()
		return s.unsent(err)
	}
	said := &textPrinter{t: s.t, begin: func() { p.hush(); end() }}
	thoughts := &thoughtPrinter{t: s.t, begin: said.begin}
	how := client.CreateOptions{
		OnThought: thoughts.say, OnText: func(piece string) { thoughts.end(); said.say(piece) },
		OnRetry: func(client.Retry) { said.again() },
	}
	s.resumed = true // its request may be out from now on
	var done api.Task
	if known {
		done, err = sub.Resume(ctx)
	} else {
		done, err = sub.Finish(ctx, how)
	}
	end()
	thoughts.end()
	if err == nil {
		err = submit.Ended(done)
	}
	return s.settle(sub, done, said, err)
}

// submission takes over the journal's entry of the open turn, or begins one. known reports that its task is known and
// its request can't be made again.
func (s *chatSession) submission(ctx context.Context, show func(api.Task)) (sub *submit.Submission, known bool, err error) {
	id, err := submit.ByKey(s.service.Journal, s.talk.Open.Key)
	if err != nil {
		return nil, false, submit.Unjournaled(err)
	}
	if id != "" {
		entry, err := s.service.Journal.Take(id)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, journal.ErrUnsent): // it has ended, or was never whole
		case err != nil:
			return nil, false, fmt.Errorf("%s: %w", id, err)
		default:
			_, unread := entry.Load()
			return s.service.Take(entry, show), unread != nil && entry.TaskID != "", entry.SetFailed(false)
		}
	}
	body, files, err := s.talk.Request()
	if err != nil {
		return nil, false, err
	}
	begin := s.service.Begin
	if s.resumed || s.talk.Open.Again {
		begin = s.service.Again
	}
	sub, err = begin(ctx, journal.Submission{Key: s.talk.Open.Key, Body: body, Files: files}, show)
	return sub, false, err
}

// unsent ends a turn whose request wasn't sent; one whose request may be out stays open.
func (s *chatSession) unsent(err error) error {
	if s.resumed || s.talk.Open.Again {
		return err
	}
	return errors.Join(err, s.talk.Fail(chat.Failure{Message: describe(err)}))
}

// settle keeps the answer or the failure of the open turn and shows it.
func (s *chatSession) settle(sub *submit.Submission, done api.Task, said *textPrinter, err error) error {
	switch {
	case err == nil:
		if err = s.talk.Answered(done); err == nil {
			err = s.show(done, said)
		}
		said.end()
		return sub.SettleAlone(err)
	case sub.Open(err):
		said.end()
		s.paused = true
		return s.left(sub.SettleAlone(err))
	}
	said.end()
	why := chat.Failure{TaskID: done.ID, Message: describe(err), Usage: done.Usage}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		why.Code, why.Retryable = f.Code, f.Retryable()
		if f.TaskID != "" {
			why.TaskID = f.TaskID
		}
	}
	return errors.Join(sub.SettleAlone(err), s.talk.Fail(why))
}

// left says that an answer that isn't waited for is made all the same.
func (s *chatSession) left(err error) error {
	next := "unitask chat continue " + s.talk.ID + s.flags.words() + " shows it"
	if s.t.inTTY {
		next = "an empty line waits on, /cancel ends it; " + next
	}
	if interrupted(err) && s.t.inTTY {
		_, _ = io.WriteString(s.t.err, "\r\x1b[K") // over the terminal's ^C
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
			return hint.With(err, "unitask chat show "+s.talk.ID+" prints it")
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
	case changed && s.talk.Open != nil:
		return hint.With(err, "put the file back as it was, or /cancel gives the message up")
	case told, s.talk.Failed == nil:
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
