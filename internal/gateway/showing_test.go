package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestPostDuringAnAnswer sends a POST while an answer that carries the failure is being written: its client may have
// read that answer. Only its writing counts, and no reader holds the POST up for ever.
func TestPostDuringAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		end   func(*gateway.Showing)
		takes time.Duration
		opens bool
	}{
		"written":     {func(s *gateway.Showing) { time.Sleep(time.Second); s.End(true) }, time.Second, true},
		"broken off":  {func(s *gateway.Showing) { time.Sleep(time.Second); s.End(false) }, time.Second, false},
		"takes long":  {func(s *gateway.Showing) { time.Sleep(time.Hour); s.End(true) }, 5 * time.Second, false},
		"none at all": {func(s *gateway.Showing) { s.End(false) }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{submitFn: func(n int, _ supplier.Request) (supplier.Outcome, error) {
				if n == 1 {
					return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderTimeout, "reset", nil)
				}
				return text("here"), nil
			}}
			inWorld(t, []routing.Route{route("text.chat", "a", 1, s)}, func(w *world) {
				failed := w.submit("during-001", chat, time.Minute).Task
				first := w.g.Show(failed)
				go tt.end(first)
				synctest.Wait()
				start := time.Now()
				got := w.submit("during-001", chat, time.Minute)
				if took := time.Since(start); took != tt.takes || got.Replayed == tt.opens {
					t.Errorf("after %s replayed %v, want %s and reopened %v", took, got.Replayed, tt.takes, tt.opens)
				}
				if again := w.g.Show(got.Task); (again == nil) != tt.opens {
					t.Errorf("%s is to be shown: %v", got.Task.State, again != nil)
				} else {
					again.End(false)
				}
				time.Sleep(2 * time.Hour) // the first answer's end
			})
		})
	}
}

// TestPaidResultThatIsLost: a result that was paid for and couldn't be kept is work that a retry pays for
// again, so its failure is shown first too.
func TestPaidResultThatIsLost(t *testing.T) {
	s := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{{Data: []byte("no picture"), ContentType: "image/png"}}}}, nil
	}}
	inWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)}, func(w *world) {
		id := w.submit("lost-paid-1", paint, 0).Task.ID
		time.Sleep(time.Hour)
		if got := w.get(id); got.State != task.Failed || !got.Failure.Retryable || got.Attempts[0].State != task.FailedAttempt {
			t.Fatalf("%s %+v %+v", got.State, got.Failure, got.Attempts)
		}
		if told := w.create("lost-paid-1", paint, 0); !told.Replayed || len(s.keys()) != 1 {
			t.Errorf("before it was told: replayed %v, %d submissions", told.Replayed, len(s.keys()))
		}
		if again := w.create("lost-paid-1", paint, 0); again.Replayed {
			t.Error("once it was told, no retry goes on")
		}
	})
}

// TestPaidResultBeforeARefusal: a result that was paid for and didn't fit is work that a retry pays for again, whoever
// refuses the task after that.
func TestPaidResultBeforeARefusal(t *testing.T) {
	unfit := results(supplier.Result{Text: new("a"), FinishReason: "tired", Usage: supplier.Usage{InputTokens: 1_000_000}})
	refuses := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		return supplier.Outcome{}, supplier.NewError(supplier.Refused, fault.ProviderUnavailable, "no", nil)
	}}
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, unfit), route("text.chat", "b", 2*task.USD, refuses)}, func(w *world) {
		got := w.submit("paid-refused", chat, time.Minute).Task
		w.expect(got, outcome{task.Failed, fault.ProviderUnavailable, 0, []attemptOutcome{
			{"a", task.FailedAttempt, fault.ProviderUnavailable, task.USD, false}, {"b", task.Rejected, fault.ProviderUnavailable, 0, false},
		}})
		if told := w.create("paid-refused", chat, time.Minute); !told.Replayed || len(unfit.keys()) != 1 {
			t.Errorf("before it was told: replayed %v, %d paid submissions", told.Replayed, len(unfit.keys()))
		}
		if again := w.create("paid-refused", chat, time.Minute); again.Replayed {
			t.Error("once it was told, no retry goes on")
		}
	})
}
