package gateway_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"slices"
	"sync"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// script is an adapter that does as its test says and counts the work it was paid for.
type script struct {
	mu       sync.Mutex
	submits  []string // submit keys, in order
	polls    int
	cancels  int
	takes    time.Duration // of a submission, which honours its context meanwhile
	submitFn func(n int, r supplier.Request) (supplier.Outcome, error)
	pollFn   func(n int, j supplier.Job) (supplier.Outcome, error)
}

func (s *script) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	s.mu.Lock()
	s.submits = append(s.submits, r.SubmitKey)
	n := len(s.submits)
	s.mu.Unlock()
	if ctx.Err() != nil {
		return supplier.Outcome{}, supplier.NewError(supplier.NotSent, fault.ProviderTimeout, "too late", ctx.Err())
	}
	select {
	case <-time.After(s.takes):
		return s.submitFn(n, r)
	case <-ctx.Done():
		return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "cut short", ctx.Err())
	}
}

func (s *script) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.submits...)
}

func (s *script) polled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polls
}

func (s *script) canceled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancels
}

// jobs is a script whose supplier answers with jobs.
type jobs struct{ *script }

func (j jobs) Poll(ctx context.Context, job supplier.Job) (supplier.Outcome, error) {
	if ctx.Err() != nil {
		return supplier.Outcome{}, supplier.NewError(supplier.NotSent, fault.ProviderTimeout, "too late", ctx.Err())
	}
	j.mu.Lock()
	j.polls++
	n := j.polls
	j.mu.Unlock()
	return j.pollFn(n, job)
}

func (j jobs) Cancel(context.Context, supplier.Job) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancels++
	return nil
}

// keyed is a script whose supplier honours the submit key.
type keyed struct{ jobs }

func (keyed) HonorsSubmitKey() bool { return true }

// findable is a script whose supplier can be asked after a submission.
type findable struct {
	jobs
	found bool
}

func (f findable) Find(_ context.Context, key string) (supplier.Job, bool, error) {
	return supplier.Job{ID: "found " + key}, f.found, nil
}

// honest is a script whose supplier finds exactly the submitted work; with err it can't be asked.
type honest struct {
	jobs
	err error
}

func (h honest) Find(_ context.Context, key string) (supplier.Job, bool, error) {
	return supplier.Job{ID: "j"}, slices.Contains(h.keys(), key), h.err
}

func text(s string) supplier.Outcome {
	return supplier.Outcome{Result: &supplier.Result{
		Text: &s, FinishReason: "stop", Usage: supplier.Usage{InputTokens: 10, OutputTokens: 20},
	}}
}

func answer(s string) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(int, supplier.Request) (supplier.Outcome, error) { return text(s), nil }
}

func refuse(sent supplier.Sent, code fault.Code) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(int, supplier.Request) (supplier.Outcome, error) {
		return supplier.Outcome{}, supplier.NewError(sent, code, "as the test says", nil)
	}
}

func job(id string) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(int, supplier.Request) (supplier.Outcome, error) {
		return supplier.Outcome{Job: &supplier.Job{ID: id, PollAfter: time.Second}}, nil
	}
}

func running(id string) supplier.Outcome {
	return supplier.Outcome{Job: &supplier.Job{ID: id, PollAfter: time.Second}}
}

func picture(t *testing.T) supplier.Outcome {
	t.Helper()
	return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{{ContentType: "image/png", Data: mustPNG(t)}}}}
}

func mustPNG(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 8, 4))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// painted answers a submission with a picture.
func painted(t *testing.T) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(int, supplier.Request) (supplier.Outcome, error) { return picture(t), nil }
}

// goesOn answers every poll with a job that still runs.
func goesOn(_ int, j supplier.Job) (supplier.Outcome, error) { return running(j.ID), nil }

// done answers every poll with a picture.
func done(t *testing.T) func(int, supplier.Job) (supplier.Outcome, error) {
	return func(int, supplier.Job) (supplier.Outcome, error) { return picture(t), nil }
}

var (
	_ supplier.Poller   = jobs{}
	_ supplier.Canceler = jobs{}
	_ supplier.Finder   = findable{}
	_ supplier.Finder   = honest{}
)
