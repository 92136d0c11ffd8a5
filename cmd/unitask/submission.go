package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/journal"
	"unitask/internal/task"
)

// submission is a request from before its first byte is sent until its result is shown. Its entry in
// the journal is locked meanwhile. It is used by one goroutine.
type submission struct {
	service  service
	flags    string // to write after a command so that it reaches the same service
	entry    *journal.Entry
	show     func(api.Task)
	doubtful bool // a try ended without an answer: the service may have a task that isn't known here
}

// begin writes a request to the journal, durably.
func begin(s service, flags string, sub journal.Submission, req api.CreateRequest, show func(api.Task)) (*submission, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	sub.Body, sub.BaseURL, sub.Profile, sub.Mode = body, s.BaseURL(), s.target.Name, string(s.mode)
	if sub.Profile == "" {
		sub.DataDir = s.target.Profile.DataDir
	}
	entry, err := journal.Open(journal.StateDir()).Begin(sub)
	if err != nil {
		return nil, unjournaled(err)
	}
	return &submission{service: s, flags: flags, entry: entry, show: show}, nil
}

// unjournaled is the error if the journal can't be written, so that no request is sent.
func unjournaled(err error) error {
	return &hinted{
		fmt.Errorf("nothing was sent, because the journal of submissions can't be written: %w", err),
		"UNITASK_STATE_DIR names a folder for it",
	}
}

// create submits the request and doesn't wait for its end.
func (s *submission) create(ctx context.Context) (api.Task, error) {
	req, o, err := s.request()
	if err != nil {
		return api.Task{}, err
	}
	o.Wait = new(time.Duration(0))
	created, err := s.service.Create(ctx, req, o)
	return created.Task, s.left(ctx, created.Task, err)
}

// finish submits the request as o says, under the entry's own key, and follows the task to its end.
func (s *submission) finish(ctx context.Context, o client.CreateOptions) (api.Task, error) {
	req, own, err := s.request()
	if err != nil {
		return api.Task{}, err
	}
	own.Wait, own.OnText = o.Wait, o.OnText
	if o.OnRetry != nil {
		doubt := own.OnRetry
		own.OnRetry = func(r client.Retry) { doubt(r); o.OnRetry(r) }
	}
	last, err := s.service.Finish(ctx, req, own, s.see)
	return last, s.left(ctx, last, err)
}

// taken is an entry that another process left, which may have sent it.
func taken(s service, flags string, entry *journal.Entry, show func(api.Task)) *submission {
	return &submission{service: s, flags: flags, entry: entry, show: show, doubtful: true}
}

// resume follows the task that the entry names, or submits the request again under its key.
func (s *submission) resume(ctx context.Context) (api.Task, error) {
	if s.entry.TaskID == "" {
		return s.finish(ctx, client.CreateOptions{})
	}
	last, err := s.service.Follow(ctx, s.entry.TaskID, s.see)
	return last, s.left(ctx, last, err)
}

func (s *submission) request() (api.CreateRequest, client.CreateOptions, error) {
	var req api.CreateRequest
	body, err := s.entry.Load()
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	return req, client.CreateOptions{IdempotencyKey: s.entry.Key, OnRetry: func(r client.Retry) { s.doubt(r.Err) }}, err
}

// see notes and shows a task's new revision. A fact that can't be noted is asked of the service again.
func (s *submission) see(now api.Task) {
	s.doubtful = false
	_ = s.entry.Accepted(now.ID)
	s.show(now)
}

// left says of a wait that ended early that the task goes on.
func (s *submission) left(ctx context.Context, last api.Task, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	left := &leftRunning{id: s.entry.TaskID, cause: context.Cause(ctx)}
	if !errors.Is(err, ctx.Err()) {
		left.last = err
	}
	if last.ID != "" {
		left.id = last.ID
	}
	return left
}

// doubt notes whether an answer leaves the task's state open.
func (s *submission) doubt(err error) {
	e, answered := errors.AsType[*client.Error](err)
	_, lost := errors.AsType[*client.UnreachableError](err)
	dial, ok := errors.AsType[*net.OpError](err)
	unsent := ok && dial.Op == "dial"
	if answered && e.Fault.TaskID != "" && e.Fault.Code != fault.IdempotencyConflict {
		s.doubtful = false // it is known which task this is, and how it ended
		return
	}
	s.doubtful = s.doubtful || lost && !unsent || answered && (e.Foreign || e.Fault.Code == fault.Internal)
}

// open reports whether err leaves the service with work whose end isn't known here.
func (s *submission) open(err error) bool {
	s.doubt(err)
	f, coded := errors.AsType[*fault.Error](err)
	_, left := errors.AsType[*leftRunning](err)
	_, answered := errors.AsType[*client.Error](err)
	return left || s.doubtful && (!coded || f.Retryable() || f.Code == fault.Unauthenticated || !answered)
}

// settle leaves an unfinished entry in the journal, and adds the command that finishes it to the error. It is called
// once, when the result was shown or err is why it is missing.
func (s *submission) settle(err error) error {
	f, coded := errors.AsType[*fault.Error](err)
	end, ended := errors.AsType[*taskEnded](err)
	_, changed := errors.AsType[*journal.ChangedError](err)
	switch {
	case err == nil:
		return s.entry.Erase()
	case changed:
		return &hinted{errors.Join(err, s.entry.Close()), "put the file back as it was; unitask tasks list shows whether the task exists"}
	case s.open(err):
		return &hinted{errors.Join(err, s.entry.Close()), "unitask tasks resume " + s.entry.Name() + s.flags}
	case coded && f.Retryable():
		_ = s.entry.Accepted(f.TaskID)
		again := "unitask tasks retry " + s.entry.Name() + s.flags
		if f.RetryAfter > time.Minute {
			again += ", in " + seconds(f.RetryAfter) + " at the earliest"
		}
		return &hinted{errors.Join(err, s.entry.SetFailed(true), s.entry.Close()), again}
	case ended && end.task.State == task.Canceled, coded:
		return errors.Join(err, s.entry.Erase())
	default: // the result couldn't be shown
		return errors.Join(err, s.entry.Close())
	}
}

// part is settle for one of a batch, which has the key for another try.
func (s *submission) part(err error) error {
	if err != nil && s.open(err) {
		return errors.Join(err, s.entry.Close())
	}
	return errors.Join(err, s.entry.Erase())
}
