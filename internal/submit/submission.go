package submit

import (
	"context"
	"errors"
	"net"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/fault"
	"unitask/internal/hint"
	"unitask/internal/journal"
	"unitask/internal/shown"
	"unitask/internal/task"
)

// Submission is a request from before its first byte is sent until its result is shown. Its entry in the journal is
// locked meanwhile. It is used by one goroutine.
type Submission struct {
	service  *Service
	entry    *journal.Entry
	onTask   func(api.Task)
	doubtful bool // a try ended without an answer: the service may have a task that isn't known here
}

func newSubmission(s *Service, entry *journal.Entry, onTask func(api.Task)) *Submission {
	if onTask == nil {
		onTask = func(api.Task) {}
	}
	return &Submission{service: s, entry: entry, onTask: onTask}
}

// Create submits the request, lets the service hold its answer for wait and doesn't wait for its end.
func (s *Submission) Create(ctx context.Context, wait time.Duration) (api.Task, error) {
	body, err := s.entry.Load()
	if err != nil {
		return api.Task{}, err
	}
	created, err := s.service.Create(ctx, body, s.options(client.CreateOptions{Wait: &wait}))
	return created.Task, s.left(ctx, created.Task, err)
}

// Finish submits the request as o says, under the entry's own key, and follows the task to its end.
func (s *Submission) Finish(ctx context.Context, o client.CreateOptions) (api.Task, error) {
	body, err := s.entry.Load()
	if err != nil {
		return api.Task{}, err
	}
	last, err := s.service.Finish(ctx, body, s.options(o), s.see)
	return last, s.left(ctx, last, err)
}

// Resume follows the task that the entry names, or submits the request again under its key.
func (s *Submission) Resume(ctx context.Context) (api.Task, error) {
	if s.entry.TaskID == "" {
		return s.Finish(ctx, client.CreateOptions{})
	}
	last, err := s.service.Follow(ctx, s.entry.TaskID, s.see)
	return last, s.left(ctx, last, err)
}

// Retry submits the request of a failed task again: the same task goes on.
func (s *Submission) Retry(ctx context.Context) (api.Task, error) {
	s.doubtful = !s.entry.Failed // else the service's last answer is known
	_, err := s.entry.Load()
	if err == nil {
		err = s.entry.SetFailed(false)
	}
	if err != nil {
		return api.Task{}, err
	}
	return s.Finish(ctx, client.CreateOptions{})
}

// options are o under the entry's key.
func (s *Submission) options(o client.CreateOptions) client.CreateOptions {
	told := o.OnRetry
	o.IdempotencyKey = s.entry.Key
	o.OnRetry = func(r client.Retry) {
		s.doubt(r.Err)
		if told != nil {
			told(r)
		}
	}
	return o
}

// see notes and shows a task's new revision. A fact that can't be noted is asked of the service again.
func (s *Submission) see(now api.Task) {
	s.doubtful = false
	_ = s.entry.Accepted(now.ID)
	s.onTask(now)
}

// left says of a wait that ended early that the task goes on.
func (s *Submission) left(ctx context.Context, last api.Task, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	left := &LeftRunningError{TaskID: s.entry.TaskID, Cause: context.Cause(ctx)}
	if !errors.Is(err, ctx.Err()) {
		left.Last = err
	}
	if last.ID != "" {
		left.TaskID = last.ID
	}
	return left
}

// doubt notes whether an answer leaves the task's state open.
func (s *Submission) doubt(err error) {
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

// Open reports whether err leaves the service with work whose end isn't known here: the same request under the same key
// finds it.
func (s *Submission) Open(err error) bool { return err != nil && s.open(err) }

// open reports whether err leaves the service with work whose end isn't known here.
func (s *Submission) open(err error) bool {
	s.doubt(err)
	f, coded := errors.AsType[*fault.Error](err)
	_, left := errors.AsType[*LeftRunningError](err)
	_, answered := errors.AsType[*client.Error](err)
	return left || s.doubtful && (!coded || f.Retryable() || f.Code == fault.Unauthenticated || !answered)
}

// Settle leaves an unfinished entry in the journal, and adds the command that finishes it to the error. It is called
// once, when the result was shown or err is why it is missing.
func (s *Submission) Settle(err error) error {
	f, coded := errors.AsType[*fault.Error](err)
	end, ended := errors.AsType[*EndedError](err)
	_, changed := errors.AsType[*journal.ChangedError](err)
	switch {
	case err == nil:
		return s.entry.Erase()
	case changed:
		return hint.With(errors.Join(err, s.entry.Close()),
			"put the file back as it was; unitask tasks list shows whether the task exists")
	case failedBefore(err) != nil:
		return s.settleFailed(err, failedBefore(err))
	case s.open(err):
		return hint.With(errors.Join(err, s.entry.Close()), "unitask tasks resume "+s.entry.Name()+s.service.Flags)
	case coded && f.Retryable():
		return s.settleFailed(err, f)
	case ended && end.Task.State == task.Canceled, coded:
		return errors.Join(err, s.entry.Erase())
	default: // the result couldn't be shown
		return errors.Join(err, s.entry.Close())
	}
}

// settleFailed leaves the entry for another try of its task.
func (s *Submission) settleFailed(err error, f *fault.Error) error {
	_ = s.entry.Accepted(f.TaskID)
	again := "unitask tasks retry " + s.entry.Name() + s.service.Flags
	if f.RetryAfter > time.Minute {
		again += ", in " + shown.Duration(f.RetryAfter) + " at the earliest"
	}
	return hint.With(errors.Join(err, s.entry.SetFailed(true), s.entry.Close()), again)
}

// failedBefore returns the failure of a task before whose next try the wait ended; nil for any other error.
func failedBefore(err error) *fault.Error {
	left, _ := errors.AsType[*LeftRunningError](err)
	if left == nil {
		return nil
	}
	f, _ := errors.AsType[*fault.Error](left.Last)
	if f == nil || f.TaskID == "" || !f.Retryable() {
		return nil
	}
	return f
}

// SettleAlone is Settle for a submission whose key its caller keeps for another try, such as one of a batch: the entry
// stays only while the service may have work whose end isn't known.
func (s *Submission) SettleAlone(err error) error {
	if err != nil && s.open(err) {
		return errors.Join(err, s.entry.Close())
	}
	return errors.Join(err, s.entry.Erase())
}

// Erase forgets the submission: whoever submitted it was told its task's id.
func (s *Submission) Erase() error { return s.entry.Erase() }
