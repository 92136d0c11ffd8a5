package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestResultInHandOutlivesTheDeadline has a result arrive two seconds before it. Its bytes may take
// another minute; after that the supplier is owed all the same.
func TestResultInHandOutlivesTheDeadline(t *testing.T) {
	for name, tt := range map[string]struct {
		keep time.Duration
		want outcome
	}{
		"for a moment": {3 * time.Second, outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}}},
		"not for long": {2 * time.Minute, outcome{
			task.Failed, fault.ProviderTimeout, 0, []attemptOutcome{{"a", task.FailedAttempt, fault.ProviderTimeout, task.USD, false}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{takes: 15*time.Minute - 2*time.Second, submitFn: painted(t)}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
				w.artifacts = slowFiles{Store: w.artifacts, keep: tt.keep}
				w.start()
				defer w.stop()
				end := w.end(w.create("in-hand-01", paint, 0).Task.ID)
				w.expect(end, tt.want)
				w.expectSent(s, end.ID+"/1")
			})
		})
	}
}

// TestResultWaitsForTheDisk has a result arrive while the disk of the artifacts is full or fails.
func TestResultWaitsForTheDisk(t *testing.T) {
	full := fault.New(fault.CapacityExhausted, "no room")
	failing := fault.Wrap(fault.Internal, fmt.Errorf("%w: %w", artifact.ErrDisk, syscall.EIO), "an artifact could not be kept")
	succeeded := outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}}
	failed := func(code fault.Code) outcome {
		return outcome{task.Failed, code, 0, []attemptOutcome{{"a", task.FailedAttempt, code, task.USD, false}}}
	}
	for name, tt := range map[string]struct {
		err   error
		lasts time.Duration
		want  outcome
	}{
		"full for a while":    {full, 5 * time.Minute, succeeded},
		"full too long":       {full, time.Hour, failed(fault.CapacityExhausted)},
		"failing for a while": {failing, 5 * time.Minute, succeeded},
		"failing too long":    {failing, time.Hour, failed(fault.Internal)},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{submitFn: painted(t)}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
				w.artifacts = badFiles{Store: w.artifacts, until: time.Now().Add(tt.lasts), err: tt.err}
				w.start()
				defer w.stop()
				end := w.end(w.create("bad-disk-01", paint, 0).Task.ID)
				w.expect(end, tt.want)
				w.expectSent(s, end.ID+"/1")
			})
		})
	}
}

func TestJobResumedAfterARestartIsCharged(t *testing.T) {
	finished := false
	s := jobs{&script{submitFn: job("j")}}
	s.pollFn = func(_ int, j supplier.Job) (supplier.Outcome, error) {
		if finished {
			return picture(t), nil
		}
		return running(j.ID), nil
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD/100, s)})
		w.start()
		id := w.create("charged-01", paint, 0).Task.ID
		time.Sleep(5 * time.Second)
		w.stop()
		finished = true
		w.start()
		defer w.stop()
		w.expect(w.end(id), outcome{task.Succeeded, "", task.USD / 100, []attemptOutcome{{"a", task.OK, "", task.USD / 100, false}}})
		w.expectSent(s.script, id+"/1")
	})
}

// TestKnownJobIsFetchedAgainNotPaidAgain retries a task whose job ended well, but whose result
// couldn't be had.
func TestKnownJobIsFetchedAgainNotPaidAgain(t *testing.T) {
	broken := true
	s := jobs{&script{submitFn: job("j")}}
	s.pollFn = func(int, supplier.Job) (supplier.Outcome, error) {
		out := picture(t)
		data := out.Result.Files[0].Data
		out.Result.Files[0] = supplier.File{ContentType: "image/png", Open: func(context.Context) (io.ReadCloser, error) {
			if broken {
				return nil, errors.New("connection reset")
			}
			return io.NopCloser(bytes.NewReader(data)), nil
		}}
		return out, nil
	}
	inWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)}, func(w *world) {
		first := w.end(w.create("fetched-01", paint, 0).Task.ID)
		w.expect(first, outcome{task.Failed, fault.ProviderUnavailable, 0, []attemptOutcome{
			{"a", task.UnknownOutcome, fault.ProviderUnavailable, task.USD, false},
		}})
		broken = false
		again := w.end(w.create("fetched-01", paint, 0).Task.ID)
		w.expect(again, outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}})
		w.expectSent(s.script, first.ID+"/1")
	})
}

// TestAddressOfAResultIsTriedAgain has only an address: no job to ask for another one.
func TestAddressOfAResultIsTriedAgain(t *testing.T) {
	s := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{{URL: "https://files.example.com/1.png"}}}}, nil
	}}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
		f := &fetcher{data: mustPNG(t), failures: 3}
		w.fetcher = f
		w.start()
		defer w.stop()
		end := w.end(w.create("address-01", paint, 0).Task.ID)
		w.expect(end, outcome{task.Succeeded, "", task.USD, []attemptOutcome{{"a", task.OK, "", task.USD, false}}})
		w.expectSent(s, end.ID+"/1")
		if n := f.fetched(); n != 4 {
			t.Errorf("%d fetches, want 4", n)
		}
	})
}

// TestFailedWorkIsOwed has a supplier charge for a job that it ended without a result: the ledger has the charge, and the
// failure is shown before a retry, which pays again.
func TestFailedWorkIsOwed(t *testing.T) {
	s := jobs{&script{submitFn: job("j"), pollFn: stoppedAs(&supplier.Usage{Images: 1}, new(int64(task.USD/2)))}}
	inWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)}, func(w *world) {
		id := w.submit("owed-001", paint, 0).Task.ID
		time.Sleep(time.Minute)
		got := w.get(id)
		w.expect(got, outcome{task.Failed, fault.ProviderUnavailable, 0, []attemptOutcome{
			{"a", task.FailedAttempt, fault.ProviderUnavailable, task.USD / 2, false},
		}})
		if got.Spent() != task.USD/2 || !got.Unshown() {
			t.Errorf("suppliers charged %s, to be shown: %v", got.Spent(), got.Unshown())
		}
	})
}

// TestTemplateIsPaidFor has a model whose template makes 31 tokens of 8 characters, as Ollama measures them: all of
// them are paid for, but those beyond the route's setting aren't.
func TestTemplateIsPaidFor(t *testing.T) {
	const body = `{"capability":"text.chat","input":{"prompt":"8 chars."},"parameters":{"max_output_tokens":1}}`
	for name, tt := range map[string]struct {
		measured int64
		want     task.Money
	}{
		"Ollama's":            {31, 32_000},
		"as large as is said": {21 + routing.DefaultTemplate, (21 + routing.DefaultTemplate + 1) * 1000},
		"larger":              {1000, (21 + routing.DefaultTemplate + 1) * 1000},
	} {
		t.Run(name, func(t *testing.T) {
			hi := "hi"
			s := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
				return supplier.Outcome{Result: &supplier.Result{
					Text: &hi, FinishReason: "length", Usage: supplier.Usage{InputTokens: tt.measured, OutputTokens: 1},
				}}, nil
			}}
			r := route("text.chat", "a", task.USD, s)
			r.Template = routing.DefaultTemplate
			inWorld(t, []routing.Route{r}, func(w *world) {
				if end := w.create("template-01", body, time.Minute).Task; end.Cost != tt.want {
					t.Errorf("the task cost %s, want %s", end.Cost, tt.want)
				}
			})
		})
	}
}

// TestToolCallsNobodyAskedFor has a text end with the wish to call tools: the task fails at the supplier's cost, its
// caller isn't charged, no other route has it, and a retry may end well.
func TestToolCallsNobodyAskedFor(t *testing.T) {
	said := "Let me look that up."
	s, next := &script{}, &script{submitFn: answer("next")}
	s.submitFn = func(n int, r supplier.Request) (supplier.Outcome, error) {
		if n > 1 {
			return text("hi"), nil
		}
		return supplier.Outcome{Result: &supplier.Result{
			Text: &said, FinishReason: supplier.FinishToolCalls, Usage: supplier.Usage{InputTokens: 10, OutputTokens: 20},
		}}, nil
	}
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, s), route("text.chat", "b", 2*task.USD, next)}, func(w *world) {
		failed, worked := attemptOutcome{"a", task.FailedAttempt, fault.ProviderUnavailable, 30_000, false}, attemptOutcome{"a", task.OK, "", 30_000, false}
		end := w.create("unasked-01", chat, time.Minute).Task
		w.expect(end, outcome{task.Failed, fault.ProviderUnavailable, 0, []attemptOutcome{failed}})
		if end.Failure != nil && !end.Failure.Retryable {
			t.Error("the caller may not try again")
		}
		w.expectSent(next)
		w.expect(w.create("unasked-01", chat, time.Minute).Task, outcome{task.Succeeded, "", 30_000, []attemptOutcome{failed, worked}})
	})
}
