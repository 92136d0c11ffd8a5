package talk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"unitask/internal/api"
	"unitask/internal/chat"
	"unitask/internal/client"
	"unitask/internal/journal"
	"unitask/internal/submit"
)

// Listener is told of an answer while it is made. Each function may be nil; they are called by one goroutine.
type Listener struct {
	Task    func(api.Task)     // each revision of the task
	Text    func(piece string) // the text as it comes
	Thought func(piece string) // likewise
	Retry   func()             // the text comes from its beginning again
	Ended   func()             // the wait is over, however it ended
	Answer  func(done api.Task) error
}

// OpenError is a wait that ended before the turn did: its task may go on.
type OpenError struct{ Err error }

// Error says why.
func (e *OpenError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *OpenError) Unwrap() error { return e.Err }

func age(t *chat.Turn) time.Duration { return time.Since(t.At) }

// Wait submits the open turn, or finds the task that an earlier process submitted, and waits for its answer, which is
// kept before Listener.Answer gets it. A turn that is still open after an error isn't lost: Wait may be called again.
func (s *Session) Wait(ctx context.Context, l Listener) error {
	ended := func() {
		if l.Ended != nil {
			l.Ended()
		}
	}
	if s.Resumed && age(s.Talk.Open) > journal.MaxAge {
		ended()
		return errors.Join(s.Talk.Fail(chat.Failure{Message: "it is older than the service keeps keys"}),
			errors.New("the last message is older than the service keeps its key, so its answer can't be found; /retry asks again"))
	}
	sub, known, err := s.submission(ctx, l.Task)
	if err != nil {
		ended()
		return s.unsent(err)
	}
	how := client.CreateOptions{OnThought: l.Thought, OnText: l.Text}
	if l.Retry != nil {
		how.OnRetry = func(client.Retry) { l.Retry() }
	}
	s.Resumed = true // its request may be out from now on
	var done api.Task
	if known {
		done, err = sub.Resume(ctx)
	} else {
		done, err = sub.Finish(ctx, how)
	}
	ended()
	if err == nil {
		err = submit.Ended(done)
	}
	return s.settle(sub, done, err, l.Answer)
}

// submission takes over the journal's entry of the open turn, or begins one. known reports that its task is known and
// its request can't be made again.
func (s *Session) submission(ctx context.Context, show func(api.Task)) (sub *submit.Submission, known bool, err error) {
	id, err := submit.ByKey(s.Service.Journal, s.Talk.Open.Key)
	if err != nil {
		return nil, false, submit.Unjournaled(err)
	}
	if id != "" {
		entry, err := s.Service.Journal.Take(id)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, journal.ErrUnsent): // it has ended, or was never whole
		case err != nil:
			return nil, false, fmt.Errorf("%s: %w", id, err)
		default:
			_, unread := entry.Load()
			return s.Service.Take(entry, show), unread != nil && entry.TaskID != "", entry.SetFailed(false)
		}
	}
	body, files, err := s.Talk.Request()
	if err != nil {
		return nil, false, err
	}
	begin := s.Service.Begin
	if s.Resumed || s.Talk.Open.Again {
		begin = s.Service.Again
	}
	sub, err = begin(ctx, journal.Submission{Key: s.Talk.Open.Key, Body: body, Files: files}, show)
	return sub, false, err
}

// unsent ends a turn whose request wasn't sent; one whose request may be out stays open.
func (s *Session) unsent(err error) error {
	if s.Resumed || s.Talk.Open.Again {
		return err
	}
	return errors.Join(err, s.Talk.Fail(chat.Failure{Message: s.Describe(err)}))
}

// settle keeps the answer or the failure of the open turn and shows it.
func (s *Session) settle(sub *submit.Submission, done api.Task, err error, show func(api.Task) error) error {
	switch {
	case err == nil:
		if err = s.Talk.Answered(done); err == nil && show != nil {
			err = show(done)
		}
		return sub.SettleAlone(err)
	case sub.Open(err):
		return &OpenError{sub.SettleAlone(err)}
	}
	failed := s.Talk.Fail(s.failure(done, err)) // first: an open turn without an entry would be sent again
	return errors.Join(sub.SettleAlone(err), failed)
}
