package gateway_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// speaker is a script whose supplier tells its text piece by piece, a second between two.
type speaker struct {
	*script
	pieces []string
	endFn  func() (supplier.Outcome, error) // after the last piece; nil: the whole text
}

func (s speaker) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	s.mu.Lock()
	s.submits = append(s.submits, r.SubmitKey)
	s.mu.Unlock()
	for _, piece := range s.pieces {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "cut short", ctx.Err())
		}
		delta(supplier.Delta{Text: piece})
	}
	if s.endFn != nil {
		return s.endFn()
	}
	return text(strings.Join(s.pieces, "")), nil
}

func speak(pieces ...string) speaker {
	return speaker{script: &script{submitFn: answer(strings.Join(pieces, ""))}, pieces: pieces}
}

func broken(sent supplier.Sent, code fault.Code) func() (supplier.Outcome, error) {
	return func() (supplier.Outcome, error) {
		return supplier.Outcome{}, supplier.NewError(sent, code, "as the test says", nil)
	}
}

// story is the events of a stream, in order: the task's states and the pieces of text.
type story struct {
	Told []string
	Last task.Task
}

// text is the sum of the pieces.
func (s story) text() string {
	var b strings.Builder
	for _, told := range s.Told {
		if piece, ok := strings.CutPrefix(told, "+"); ok {
			b.WriteString(piece)
		}
	}
	return b.String()
}

// hear reads a stream to its end.
func hear(t *testing.T, s *gateway.Stream) story {
	t.Helper()
	defer s.Close()
	var heard story
	for {
		e, err := s.Next(t.Context(), time.Hour)
		switch {
		case errors.Is(err, io.EOF):
			return heard
		case err != nil:
			t.Fatal(err)
		case e.Task != nil:
			if heard.Last.State != e.Task.State { // a change that callers don't see, as of a cancel's request, may be told
				heard.Told = append(heard.Told, string(e.Task.State))
			}
			heard.Last = *e.Task
		case e.Piece.Text != "":
			heard.Told = append(heard.Told, "+"+e.Piece.Text)
		default:
			heard.Told = append(heard.Told, "beat")
		}
	}
}

// open creates a task and returns its stream.
func (w *world) open(key, body string) gateway.Accepted {
	w.t.Helper()
	a, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: key, Body: []byte(body), Stream: true})
	if err != nil {
		w.t.Fatalf("create: %v", err)
	}
	return a
}

// follow returns another stream of the task.
func (w *world) follow(id string) *gateway.Stream {
	w.t.Helper()
	s, err := w.g.Follow(w.t.Context(), w.caller, id, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (s story) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.Told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestStream creates a task, and has another follow it from the middle on.
func TestStream(t *testing.T) {
	s := speak("Once ", "upon ", "a ", "time.")
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		start := time.Now()
		a := w.open("streamed-1", chat)
		if took := time.Since(start); took != time.Second || a.Task.State != task.Running || a.Replayed {
			t.Errorf("answered after %s with %s", took, a.Task.State)
		}
		later := make(chan story)
		go func() {
			time.Sleep(1500 * time.Millisecond)
			later <- hear(w.t, w.follow(a.Task.ID))
		}()
		first := hear(w.t, a.Stream)
		first.expect(t, "running", "+Once ", "+upon ", "+a ", "+time.", "succeeded")
		(<-later).expect(t, "running", "+Once upon ", "+a ", "+time.", "succeeded")
		w.expect(w.get(a.Task.ID), outcome{task.Succeeded, "", 30 * task.USD / 1_000_000, []attemptOutcome{{"a", task.OK, "", 30 * task.USD / 1_000_000, false}}})
		w.expectSent(s.script, a.Task.ID+"/1")

		again := w.open("streamed-1", chat)
		if !again.Replayed {
			t.Error("the same key isn't a replay")
		}
		hear(w.t, again.Stream).expect(t, "succeeded")
		w.expectSent(s.script, a.Task.ID+"/1")
	})
}

// TestStreamJoined follows a task whose first request wants no stream: no text comes before the end,
// and then all of it.
func TestStreamJoined(t *testing.T) {
	s := speak("Once ", "upon ", "a ", "time.")
	s.takes = 3 * time.Second
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		plain := make(chan gateway.Accepted)
		go func() { plain <- w.create("joined-001", chat, time.Minute) }()
		synctest.Wait()
		a := w.open("joined-001", chat)
		if !a.Replayed {
			t.Error("the second request isn't a replay")
		}
		heard := hear(w.t, a.Stream)
		if first := (<-plain).Task; first.State != task.Succeeded || heard.Last.ID != first.ID {
			t.Errorf("%+v and %+v", first, heard.Last)
		}
		w.expectSent(s.script, heard.Last.ID+"/1")
		hear(w.t, w.follow(heard.Last.ID)).expect(t, "succeeded")
		// A task that ended while the answer was held needs no text before it.
		heard.expect(t, "running", "+Once upon a time.", "succeeded")
	})
}

// TestStreamOfSlowWork follows work whose supplier can't stream, a picture's among it.
func TestStreamOfSlowWork(t *testing.T) {
	j := jobs{&script{submitFn: job("j")}}
	j.pollFn = func(n int, job supplier.Job) (supplier.Outcome, error) {
		if n < 40 {
			return running(job.ID), nil
		}
		return picture(t), nil
	}
	inWorld(t, []routing.Route{route("image.generate", "a", task.USD, j)}, func(w *world) {
		a := w.open("slow-work1", paint)
		if a.Task.State != task.Queued && a.Task.State != task.Running { // a worker may be quicker than the answer
			t.Errorf("answered %s", a.Task.State)
		}
		told := hear(w.t, a.Stream).Told
		if passed := []string{"queued", "running", "transferring"}; len(told) == 0 || told[len(told)-1] != "succeeded" ||
			!slices.IsSortedFunc(told[:len(told)-1], func(a, b string) int { return slices.Index(passed, a) - slices.Index(passed, b) }) ||
			slices.ContainsFunc(told[:len(told)-1], func(state string) bool { return !slices.Contains(passed, state) }) {
			t.Errorf("told %q; want the states in their order, but for those that passed too quickly", told)
		}
	})
}

// TestStreamBeats reads a stream without news.
func TestStreamBeats(t *testing.T) {
	s := &script{takes: time.Minute, submitFn: answer("late")}
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)}, func(w *world) {
		start := time.Now()
		a := w.open("beats-0001", chat)
		defer a.Stream.Close()
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("held for %s", took)
		}
		for _, want := range []bool{true, false, false} {
			e, err := a.Stream.Next(w.t.Context(), 5*time.Second)
			if err != nil || (e.Task != nil) != want {
				t.Errorf("told %+v, %v", e, err)
			}
		}
		if took := time.Since(start); took != 40*time.Second {
			t.Errorf("two beats after %s", took)
		}
	})
}

// TestStreamFailure fails with every verdict, before the first piece and after it, on the first of two
// routes.
func TestStreamFailure(t *testing.T) {
	unknown := []task.AttemptState{task.UnknownOutcome}
	rejected := []task.AttemptState{task.Rejected}
	failedOver := []task.AttemptState{task.Rejected, task.OK}
	failed := []task.AttemptState{task.FailedAttempt, task.OK}
	for _, tt := range []struct {
		sent   supplier.Sent
		code   fault.Code
		before []task.AttemptState // the ledger if no text was sent
		after  []task.AttemptState // if some text was sent
	}{
		{supplier.NotSent, fault.ProviderUnavailable, failedOver, unknown},
		{supplier.Refused, fault.CapacityExhausted, failedOver, unknown},
		{supplier.Failed, fault.ProviderUnavailable, failed, unknown},
		{supplier.Unknown, fault.ProviderTimeout, unknown, unknown},
		{supplier.Refused, fault.ContentPolicyViolation, rejected, rejected},
	} {
		t.Run(string(tt.sent)+" "+string(tt.code), func(t *testing.T) {
			for _, told := range []bool{false, true} {
				a, b := speak(), speak("b")
				if told {
					a = speak("a ")
				}
				a.endFn = broken(tt.sent, tt.code)
				inWorld(t, []routing.Route{route("text.chat", "b", 2, b), route("text.chat", "a", 1, a)}, func(w *world) {
					got := w.open("failure-01", chat)
					heard := hear(w.t, got.Stream)
					want, pieces := tt.before, ""
					if told {
						want, pieces = tt.after, "a "
					}
					if len(want) == 2 {
						pieces = "b"
					}
					if diff := cmp.Diff(want, attemptStates(heard.Last)); diff != "" || heard.text() != pieces {
						t.Errorf("told: %v, %q\n%s", told, heard.Told, diff)
					}
					if heard.Last.Cost != 0 && heard.Last.State == task.Failed {
						t.Errorf("a failed task costs %s", heard.Last.Cost)
					}
				})
			}
		})
	}
}

// TestStreamRetried retries a stream that broke off, while the first caller is still there: it was told words of the first
// try, so that the second's text doesn't follow them, nor its end.
func TestStreamRetried(t *testing.T) {
	s := speak("one ", "two ")
	s.endFn = broken(supplier.Unknown, fault.ProviderTimeout)
	routes := []routing.Route{route("text.chat", "a", task.USD, &s)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, routes)
		w.start()
		defer w.stop()
		a := w.open("retried-01", chat)
		w.end(a.Task.ID)
		s.pieces, s.endFn = []string{"three ", "four"}, nil
		b := w.open("retried-01", chat)
		if b.Task.ID != a.Task.ID {
			t.Errorf("another task: %s", b.Task.ID)
		}
		hear(w.t, b.Stream).expect(t, "queued", "running", "+three ", "+four", "succeeded")
		hear(w.t, a.Stream).expect(t, "running", "+one two ")
	})
}

var _ supplier.Streamer = speaker{}
