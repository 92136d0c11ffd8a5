package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

func TestAsynchronousTask(t *testing.T) {
	s := jobs{&script{submitFn: job("j1")}}
	s.pollFn = func(n int, j supplier.Job) (supplier.Outcome, error) {
		if j.ID != "j1" {
			t.Errorf("polled %q", j.ID)
		}
		if n < 3 {
			return running("j1"), nil
		}
		return picture(t), nil
	}
	inWorld(t, []routing.Route{route("image.generate", "a", task.USD/100, s)}, func(w *world) {
		got := w.create("async-task", paint, 0)
		if got.Task.State != task.Queued {
			t.Errorf("answered %s", got.Task.State)
		}
		end := w.end(got.Task.ID)
		if diff := cmp.Diff(wholeLife, publicStates(end)); diff != "" {
			t.Errorf("timeline (-want +got):\n%s", diff)
		}
		if end.Cost != task.USD/100 || end.Usage.Images != 1 || len(end.Output.Files) != 1 {
			t.Fatalf("cost %s, usage %+v, output %+v", end.Cost, end.Usage, end.Output)
		}
		kept := end.Output.Files[0]
		meta, body, err := w.artifacts.Open(w.t.Context(), kept.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = body.Close() }()
		if raw, err := io.ReadAll(body); err != nil || int64(len(raw)) != kept.Bytes || meta.Width != 8 || kept.Height != 4 {
			t.Errorf("artifact %+v: %d bytes, %v", kept, len(raw), err)
		}
	})
}

// TestFailover tries every verdict on the first of two routes.
func TestFailover(t *testing.T) {
	for _, tt := range []struct {
		sent    supplier.Sent
		code    fault.Code
		end     fault.Code // "" for success on the second route
		ledger  []task.AttemptState
		submits int // on the second route
	}{
		{supplier.NotSent, fault.ProviderUnavailable, "", []task.AttemptState{task.Rejected, task.OK}, 1},
		{supplier.Refused, fault.CapacityExhausted, "", []task.AttemptState{task.Rejected, task.OK}, 1},
		{supplier.Refused, fault.InvalidRequest, "", []task.AttemptState{task.Rejected, task.OK}, 1},
		{supplier.Refused, fault.ContentPolicyViolation, fault.ContentPolicyViolation, []task.AttemptState{task.Rejected}, 0},
		{supplier.Unknown, fault.ProviderTimeout, fault.ProviderTimeout, []task.AttemptState{task.UnknownOutcome}, 0},
		{supplier.Unknown, fault.ProviderUnavailable, fault.ProviderUnavailable, []task.AttemptState{task.UnknownOutcome}, 0},
	} {
		t.Run(string(tt.sent)+" "+string(tt.code), func(t *testing.T) {
			a, b := &script{submitFn: refuse(tt.sent, tt.code)}, &script{submitFn: answer("b")}
			inWorld(t, []routing.Route{route("text.chat", "b", 2, b), route("text.chat", "a", 1, a)}, func(w *world) {
				got := w.create("failover-1", chat, time.Minute).Task
				if codeOf(got) != tt.end || got.Attempts[0].Supplier != "a" {
					t.Errorf("ended %s %+v, first tried %s", got.State, got.Failure, got.Attempts[0].Supplier)
				}
				if diff := cmp.Diff(tt.ledger, attemptStates(got)); diff != "" {
					t.Errorf("ledger (-want +got):\n%s", diff)
				}
				if n := len(b.keys()); n != tt.submits {
					t.Errorf("%d submissions on the second route, want %d", n, tt.submits)
				}
				if tt.end != "" && (got.Usage != nil || got.Cost != 0) {
					t.Errorf("a failed task costs %s", got.Cost)
				}
			})
		})
	}
}

// TestVerdict fails on every route, each in its way.
func TestVerdict(t *testing.T) {
	for _, tt := range []struct{ a, b, want fault.Code }{
		{fault.InvalidRequest, fault.InvalidRequest, fault.InvalidRequest},
		{fault.InvalidRequest, fault.CapacityExhausted, fault.CapacityExhausted},
		{fault.CapacityExhausted, fault.CapacityExhausted, fault.CapacityExhausted},
		{fault.CapacityExhausted, fault.ProviderUnavailable, fault.ProviderUnavailable},
		{fault.ProviderTimeout, fault.ProviderTimeout, fault.ProviderTimeout},
		{fault.ProviderUnavailable, fault.ProviderUnavailable, fault.ProviderUnavailable},
	} {
		a, b := &script{submitFn: refuse(supplier.Refused, tt.a)}, &script{submitFn: refuse(supplier.Refused, tt.b)}
		inWorld(t, []routing.Route{route("text.chat", "a", 1, a), route("text.chat", "b", 2, b)}, func(w *world) {
			if got := w.create("verdict-1", chat, time.Minute).Task; codeOf(got) != tt.want || got.Failure.Retryable != tt.want.Retryable() {
				t.Errorf("%s and %s give %+v, want %s", tt.a, tt.b, got.Failure, tt.want)
			}
		})
	}
}

func TestJobThatFailsMovesOn(t *testing.T) {
	a := jobs{&script{submitFn: job("a"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) {
		return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "failed", nil)
	}}}
	b := jobs{&script{submitFn: job("b"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) { return picture(t), nil }}}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, a), route("image.generate", "b", 2, b)}, func(w *world) {
		end := w.end(w.create("job-fails-1", paint, 0).Task.ID)
		if diff := cmp.Diff([]task.AttemptState{task.FailedAttempt, task.OK}, attemptStates(end)); diff != "" {
			t.Errorf("ledger (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wholeLife, publicStates(end)); diff != "" {
			t.Errorf("timeline (-want +got):\n%s", diff)
		}
	})
}

func TestPollThatFailsIsRepeated(t *testing.T) {
	s := jobs{&script{submitFn: job("j")}}
	s.pollFn = func(n int, _ supplier.Job) (supplier.Outcome, error) {
		switch {
		case n < 4:
			return supplier.Outcome{}, supplier.NewError(supplier.NotSent, fault.ProviderUnavailable, "no network", nil)
		case n < 6:
			return supplier.Outcome{}, supplier.NewError(supplier.Refused, fault.CapacityExhausted, "429", nil)
		default:
			return picture(t), nil
		}
	}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, s)}, func(w *world) {
		end := w.end(w.create("poll-fails-1", paint, 0).Task.ID)
		if end.State != task.Succeeded || len(s.keys()) != 1 {
			t.Errorf("%s after %d submissions", end.State, len(s.keys()))
		}
	})
}

func TestCancel(t *testing.T) {
	s := jobs{&script{submitFn: job("j"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) { return running("j"), nil }}}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, s)}, func(w *world) {
		id := w.create("cancel-001", paint, 0).Task.ID
		time.Sleep(3 * time.Second)
		got, err := w.g.Cancel(w.t.Context(), w.caller, id)
		if err != nil || got.State != task.Canceled || s.cancels != 1 {
			t.Errorf("%s, %d cancelations at the supplier, %v", got.State, s.cancels, err)
		}
		if diff := cmp.Diff([]task.AttemptState{task.UnknownOutcome}, attemptStates(got)); diff != "" {
			t.Errorf("ledger (-want +got):\n%s", diff)
		}
		again, err := w.g.Cancel(w.t.Context(), w.caller, id)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("canceling again: %v\n%s", err, diff)
		}
		stranger := w.caller
		stranger.Account.ID = "acct_other"
		if _, err := w.g.Cancel(w.t.Context(), stranger, id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a stranger cancels: %v", err)
		}
	})
}

func TestDeadline(t *testing.T) {
	late := false
	s := jobs{&script{submitFn: job("j")}}
	s.pollFn = func(int, supplier.Job) (supplier.Outcome, error) {
		if late {
			return picture(t), nil
		}
		return running("j"), nil
	}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, s)}, func(w *world) {
		start := time.Now()
		end := w.end(w.create("deadline-1", paint, 0).Task.ID)
		if codeOf(end) != fault.ProviderTimeout || time.Since(start) < 15*time.Minute || time.Since(start) > 16*time.Minute {
			t.Errorf("%s %+v after %s", end.State, end.Failure, time.Since(start))
		}
		late = true // the job ended well after all: a retry adopts it without a submission
		again := w.end(w.create("deadline-1", paint, 0).Task.ID)
		if again.State != task.Succeeded || len(s.keys()) != 1 {
			t.Errorf("%s %+v after %d submissions", again.State, again.Failure, len(s.keys()))
		}
	})
}

func TestFullRoutes(t *testing.T) {
	hold := jobs{&script{submitFn: job("j"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) { return running("j"), nil }}}
	r := route("image.generate", "a", 1, hold)
	r.SupplierCap = 1
	chatRoute := route("text.chat", "a", 1, &script{submitFn: answer("hi")})
	chatRoute.SupplierCap = 1
	inWorld(t, []routing.Route{r, chatRoute}, func(w *world) {
		first := w.create("full-0001", paint, 0).Task.ID
		time.Sleep(time.Second)
		second := w.create("full-0002", paint, 0).Task.ID
		start := time.Now()
		got := w.create("full-0003", chat, time.Minute).Task
		if codeOf(got) != fault.CapacityExhausted || len(got.Attempts) != 0 || time.Since(start).Round(time.Second) != 2*time.Second {
			t.Errorf("synchronous work on a full supplier: %s %+v after %s", got.State, got.Failure, time.Since(start))
		}
		waiting, err := w.g.Get(w.t.Context(), w.caller, second)
		if err != nil || waiting.State != task.Queued {
			t.Errorf("asynchronous work on a full supplier: %s %v", waiting.State, err)
		}
		if _, err := w.g.Cancel(w.t.Context(), w.caller, first); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if waiting, err = w.g.Get(w.t.Context(), w.caller, second); err != nil || waiting.State != task.Running {
			t.Errorf("after a place became free: %s %v", waiting.State, err)
		}
		if got = w.end(second); codeOf(got) != fault.ProviderTimeout {
			t.Errorf("the second task ended %+v", got.Failure)
		}
	})
}

func TestQueuedUntilDeadline(t *testing.T) {
	hold := jobs{&script{submitFn: job("j"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) { return running("j"), nil }}}
	r := route("image.generate", "a", 1, hold)
	r.Cap = 1
	inWorld(t, []routing.Route{r}, func(w *world) {
		w.create("queued-001", paint, 0)
		time.Sleep(time.Second)
		// The first task holds the only place a little less long than the second one may wait.
		second := w.create("queued-002", paint, 0).Task.ID
		if got := w.end(second); got.Failure == nil {
			t.Errorf("a task that never had a place ended %s", got.State)
		}
	})
}

func TestTransferIsRepeated(t *testing.T) {
	tries := 0
	s := jobs{&script{submitFn: job("j")}}
	s.pollFn = func(int, supplier.Job) (supplier.Outcome, error) {
		good := picture(t)
		data := good.Result.Files[0].Data
		good.Result.Files[0] = supplier.File{Open: func(context.Context) (io.ReadCloser, error) {
			if tries++; tries < 3 {
				return nil, errors.New("connection reset")
			}
			return io.NopCloser(bytes.NewReader(data)), nil
		}}
		return good, nil
	}
	inWorld(t, []routing.Route{route("image.generate", "a", 1, s)}, func(w *world) {
		if end := w.end(w.create("transfer-1", paint, 0).Task.ID); end.State != task.Succeeded || tries != 3 || len(s.keys()) != 1 {
			t.Errorf("%s after %d tries and %d submissions", end.State, tries, len(s.keys()))
		}
	})
}

func TestResultThatIsNoPicture(t *testing.T) {
	s := jobs{&script{submitFn: job("j"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) {
		return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{{Data: []byte("<svg/>")}}, Usage: supplier.Usage{Images: 1}}}, nil
	}}}
	inWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)}, func(w *world) {
		end := w.end(w.create("no-picture", paint, 0).Task.ID)
		if codeOf(end) != fault.ProviderUnavailable || end.Cost != 0 || end.Attempts[0].Cost != task.USD {
			t.Errorf("%+v, the caller pays %s, the supplier is owed %s", end.Failure, end.Cost, end.Attempts[0].Cost)
		}
	})
}

// TestVoices has the directory offer the voices of the caller's approved routes, and validate none of them.
func TestVoices(t *testing.T) {
	s := &script{submitFn: answer("hi")}
	first, second, hidden := route("audio.speech", "a", 1, s), route("audio.speech", "b", 1, s), route("audio.speech", "c", 1, s)
	first.Voices, second.Voices, hidden.Voices = []string{"nova", "alloy"}, []string{"coral", "nova"}, []string{"secret"}
	hidden.Approved = false
	inWorld(t, []routing.Route{first, second, hidden, route("text.chat", "a", 1, s)}, func(w *world) {
		for _, o := range w.g.Capabilities(w.caller) {
			var voices []string
			for _, f := range o.Capability.Fields() {
				if f.Name == "voice" {
					voices = f.Examples
				} else if f.Examples != nil {
					t.Errorf("examples of %s: %v", f.Name, f.Examples)
				}
			}
			var want []string
			if o.Capability.Name == "audio.speech" {
				want = []string{"alloy", "coral", "nova"}
			}
			if diff := cmp.Diff(want, voices); diff != "" {
				t.Errorf("%s (-want +got):\n%s", o.Capability.Name, diff)
			}
		}
		entry, _ := w.g.Directory().Get("audio.speech")
		if strings.Contains(string(entry.ParametersSchema), "nova") {
			t.Error("the schema that requests are held to has voices")
		}
	})
}

func TestCapabilitiesOfAKey(t *testing.T) {
	s := &script{submitFn: answer("hi")}
	unapproved := route("image.generate", "b", 1, s)
	unapproved.Approved = false
	inWorld(t, []routing.Route{route("text.chat", "a", 1, s), route("text.embed", "a", 1, s), unapproved}, func(w *world) {
		names := func(scopes ...string) (out []string) {
			c := w.caller
			c.Key.Scopes = scopes
			for _, o := range w.g.Capabilities(c) {
				out = append(out, string(o.Capability.Name))
			}
			return out
		}
		if diff := cmp.Diff([]string{"text.chat", "text.embed"}, names()); diff != "" {
			t.Errorf("all (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"text.embed"}, names("image.*", "text.embed")); diff != "" {
			t.Errorf("scoped (-want +got):\n%s", diff)
		}
		w.caller.Key.Mode = task.Test
		if got := names(); got != nil {
			t.Errorf("a test key reaches live routes: %v", got)
		}
		_, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "test-mode", Body: []byte(chat)})
		if fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("a test key calls a live route: %v", err)
		}
	})
}
