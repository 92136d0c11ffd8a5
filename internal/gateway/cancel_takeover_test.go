package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestCancelThatIsTakenOver cancels a task whose worker stops the job and dies: whoever goes on finds a job that failed,
// and its caller owes what it would have owed otherwise.
func TestCancelThatIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := jobs{&script{submitFn: job("j")}}
		s.pollFn = func(_ int, j supplier.Job) (supplier.Outcome, error) {
			if s.canceled() > 0 {
				return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "stopped", nil)
			}
			return running(j.ID), nil
		}
		w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, s)})
		w.engine = &tampered{Store: w.store, advanceFunc: func(_ store.Step, advance call) (task.Task, error) {
			if s.canceled() > 0 {
				return task.Task{}, store.ErrFenced
			}
			return advance()
		}}
		w.start()
		id := w.create("taken-over-1", paint, 0).Task.ID
		time.Sleep(2500 * time.Millisecond)
		if _, err := w.g.Cancel(t.Context(), w.caller, id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		w.stop()
		w.store.Restart()
		w.engine = w.store
		w.start()
		defer w.stop()
		w.expect(w.end(id), outcome{task.Canceled, "", task.USD, []attemptOutcome{{"a", task.UnknownOutcome, "", 0, true}}})
		if n := s.canceled(); n != 1 {
			t.Errorf("the supplier was asked to stop it %d times", n)
		}
	})
}

// TestCancelOfAJobThatCantBeStopped cancels a task after its worker died, whose job fails by itself meanwhile: its
// supplier stops no jobs, so no worker stopped it, and its caller owes nothing.
func TestCancelOfAJobThatCantBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := false
		j := jobs{&script{submitFn: job("j")}}
		j.pollFn = func(_ int, j supplier.Job) (supplier.Outcome, error) {
			if failed {
				return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "no film", nil)
			}
			return running(j.ID), nil
		}
		unstoppable := struct {
			supplier.Adapter
			supplier.Poller
		}{j, j}
		w := newWorld(t, []routing.Route{route("image.generate", "a", task.USD, unstoppable)})
		w.start()
		id := w.create("unstoppable-1", paint, 0).Task.ID
		time.Sleep(2500 * time.Millisecond)
		w.stop()
		w.store.Restart()
		failed = true
		if _, err := w.store.RequestCancel(t.Context(), w.caller.Scope(), id); err != nil {
			t.Fatal(err)
		}
		w.start()
		defer w.stop()
		w.expect(w.end(id), outcome{task.Canceled, "", 0, []attemptOutcome{{"a", task.FailedAttempt, fault.ProviderUnavailable, 0, false}}})
	})
}
