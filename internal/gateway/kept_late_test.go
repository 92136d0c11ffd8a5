package gateway_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/gateway"
	"unitask/internal/task"
)

// TestLateRequestIsNotKept: a request that was judged before its account chose to keep none, and is recorded after that,
// has no copy, and none once the account keeps requests again.
func TestLateRequestIsNotKept(t *testing.T) {
	inMemory(t, 30, func(w *memory) {
		caller := w.caller
		w.keep(0)
		time.Sleep(time.Minute) // a slow body
		w.caller = caller
		id := w.create("late-request-01", secretly, 0).Task.ID
		if end := w.end(id); end.InputUntil == nil {
			t.Fatal("the request isn't one that was promised to be kept")
		}
		if w.holds(secretPrompt) {
			t.Error("the prompt is on the disk")
		}
		w.keep(30)
		second := w.create("late-request-02", secretly, 0).Task.ID
		w.end(second)
		w.expectForgotten(second) // days that are added hold a little later
		if w.holds(secretPrompt) {
			t.Error("the prompt of the second request is on the disk")
		}
	})
}

// TestNoRecallWithoutKeep: a copy that is there can't be read once its account keeps none.
func TestNoRecallWithoutKeep(t *testing.T) {
	inMemory(t, 30, func(w *memory) {
		id := w.create("no-recall-01", secretly, 0).Task.ID
		w.end(id)
		w.mustRecall(id)
		w.caller.Account.KeepInputs = 0
		w.expectForgotten(id)
	})
}

// lateFiles store kept requests when they are told to.
type lateFiles struct {
	artifact.Store
	late *artifact.PutRequest
}

func (f lateFiles) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	if r.ContentType != "application/json" {
		return f.Store.Put(ctx, r)
	}
	raw, err := io.ReadAll(r.Body)
	r.Body = bytes.NewReader(raw)
	*f.late = r
	return artifact.Meta{}, err
}

// TestLateCopyIsErased: a copy that comes when an erasure has been through is erased too.
func TestLateCopyIsErased(t *testing.T) {
	inMemory(t, 30, func(w *memory) {
		w.stop()
		var late artifact.PutRequest
		files := w.artifacts
		w.artifacts = lateFiles{files, &late}
		w.start()
		w.end(w.create("late-copy-01", secretly, 0).Task.ID)
		w.keep(0)
		w.skip(11 * time.Minute)
		gateway.Forget(t.Context(), w.g)
		if _, err := files.Put(t.Context(), late); err != nil || !w.holds(secretPrompt) {
			t.Fatalf("the copy isn't there: %v", err)
		}
		w.skip(10 * time.Minute)
		gateway.Forget(t.Context(), w.g)
		if w.holds(secretPrompt) {
			t.Error("the prompt is on the disk")
		}
		a, err := w.store.GetAccount(t.Context(), w.caller.Account.ID)
		if err != nil || a.Forgets != nil {
			t.Errorf("the erasure goes on: %+v %v", a.Forgets, err)
		}
	})
}

// TestReopenedCopyIsErased: a task that is sent again when its account keeps none loses its first copy at once.
func TestReopenedCopyIsErased(t *testing.T) {
	inMemory(t, 2, func(w *memory) {
		w.away.Store(true)
		id := w.create("reopens-02", secretly, 0).Task.ID
		w.end(id)
		w.caller.Account.KeepInputs = 0
		if again := w.create("reopens-02", secretly, 0); again.Replayed || again.Task.ID != id || again.Task.InputUntil != nil {
			t.Fatalf("%+v", again)
		}
		w.end(id)
		if w.holds(secretPrompt) {
			t.Error("the prompt is on the disk")
		}
	})
}

// hungFiles answer no call about a kept request.
type hungFiles struct{ artifact.Store }

func (f hungFiles) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	if r.ContentType != "application/json" {
		return f.Store.Put(ctx, r)
	}
	<-ctx.Done()
	return artifact.Meta{}, ctx.Err()
}

// TestHungCopy: a caller waits some seconds at most for the storing of its request's copy, and has its task.
func TestHungCopy(t *testing.T) {
	inMemory(t, 2, func(w *memory) {
		w.stop()
		w.artifacts = hungFiles{w.artifacts}
		w.start()
		began := time.Now()
		id := w.create("hung-copy-01", paint, 0).Task.ID
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the caller waited %v", took)
		}
		if end := w.end(id); end.State != task.Succeeded {
			t.Errorf("ended %s", end.State)
		}
		w.expectForgotten(id)
	})
}
