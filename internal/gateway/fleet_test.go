package gateway_test

import (
	"context"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// shared is an engine that several nodes are on.
type shared struct {
	store.Store

	mu       sync.Mutex
	runs     map[string]string
	canceled []string
	worker   string // of every task
}

func (e *shared) Renew(ctx context.Context, node string, term time.Duration) error {
	e.mu.Lock()
	if _, known := e.runs[node]; !known && term > 0 {
		e.runs[node] = ""
	}
	e.mu.Unlock()
	return e.Store.Renew(ctx, node, term)
}

func (e *shared) Announce(_ context.Context, node, runs string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs[node] = runs
	return nil
}

func (e *shared) Nodes(context.Context) (map[string]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.runs), nil
}

func (e *shared) ListCanceled(context.Context, string) ([]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.canceled, nil
}

func (e *shared) Worker(context.Context, string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.worker, nil
}

// TestMixedFleet has an attempt taken over by a node without its route: while another node runs something else, the
// attempt is left to it; once all run the same, its outcome is unknown.
func TestMixedFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := findable{jobs{&script{submitFn: job("j"), pollFn: goesOn}}, true}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		e := &shared{Store: w.store, runs: map[string]string{"another": "other settings"}}
		w.engine = e
		id := w.leave("image.generate", `{"prompt":"a fox"}`).Ref.TaskID
		w.routes = nil
		time.Sleep(59*time.Second + 500*time.Millisecond) // the session that left it runs out just after the start
		w.start()
		defer w.stop()
		time.Sleep(5 * time.Minute)
		if got := w.get(id); got.OpenAttempt() == nil || got.Takeovers != 0 {
			t.Errorf("while another node may have the route: %+v", outcomeOf(got))
		}
		if all := w.g.Fleet(); len(all) != 2 || all["other settings"] != 1 {
			t.Errorf("the fleet: %v", all)
		}
		e.mu.Lock()
		delete(e.runs, "another")
		e.mu.Unlock()
		time.Sleep(10 * time.Second)
		if got := w.get(id); got.State != task.Failed || codeOf(got) != fault.ProviderTimeout {
			t.Errorf("once all nodes run the same: %+v", outcomeOf(got))
		}
	})
}

// TestCancelThroughAnotherNode cancels in the store: the worker hears of it.
func TestCancelThroughAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &script{submitFn: answer("hi"), takes: time.Minute}
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, slow)})
		e := &shared{Store: w.store, runs: map[string]string{}}
		w.engine = e
		w.start()
		defer w.stop()
		id := w.create("canceled-elsewhere", chat, 0).Task.ID
		time.Sleep(2 * time.Second)
		if _, err := w.store.RequestCancel(t.Context(), w.caller.Scope(), id); err != nil {
			t.Fatal(err)
		}
		e.mu.Lock()
		e.canceled = []string{id, "task_of_another_node"}
		e.mu.Unlock()
		time.Sleep(time.Second)
		if got := w.get(id); got.State != task.Canceled {
			t.Errorf("a second later it is %s", got.State)
		}
	})
}
