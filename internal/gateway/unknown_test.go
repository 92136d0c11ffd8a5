package gateway_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// loses is how an engine loses answers: those of its first calls of a kind, made or not.
type loses struct {
	made bool

	mu   sync.Mutex
	left int
}

func lost[T any](l *loses, do func() (T, error)) (T, error) {
	l.mu.Lock()
	lose := l.left > 0
	l.left--
	l.mu.Unlock()
	if !lose {
		return do()
	}
	if l.made {
		_, _ = do()
	}
	var none T
	return none, store.ErrUnknown
}

// eitherWay runs a test with calls that were made before their answers were lost, and with calls that weren't.
func eitherWay(t *testing.T, test func(t *testing.T, made bool)) {
	t.Helper()
	for name, made := range map[string]bool{"made": true, "not made": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, made) })
		})
	}
}

// TestLostAnswersOfAWorker loses two answers to each write of a worker: all are made once.
func TestLostAnswersOfAWorker(t *testing.T) {
	eitherWay(t, func(t *testing.T, made bool) {
		s := jobs{&script{submitFn: job("j"), pollFn: done(t)}}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		var mu sync.Mutex
		seen := map[string]*loses{}
		lose := func(kind string) *loses {
			mu.Lock()
			defer mu.Unlock()
			if seen[kind] == nil {
				seen[kind] = &loses{made: made, left: 2}
			}
			return seen[kind]
		}
		w.engine = &tampered{
			Store:     w.store,
			beginFunc: func(begin call) (task.Task, error) { return lost(lose("begin"), begin) },
			advanceFunc: func(s store.Step, advance call) (task.Task, error) {
				kind := "end"
				if s.Submitted != nil {
					kind = "submitted"
				}
				return lost(lose(kind), advance)
			},
		}
		w.start()
		defer w.stop()
		id := w.create("lost-writes", paint, 0).Task.ID
		w.expect(w.end(id), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
		w.expectSent(s.script, id+"/1")
		for kind, l := range seen {
			if l.left > 0 {
				t.Errorf("no answer to %q was lost", kind)
			}
		}
		if len(seen) != 3 {
			t.Errorf("answers to %d kinds of writes were lost, want 3", len(seen))
		}
	})
}

// TestLostAnswerOfAClaim: a task whose lease was lost on its way goes on, long before its session ends.
func TestLostAnswerOfAClaim(t *testing.T) {
	eitherWay(t, func(t *testing.T, made bool) {
		s := jobs{&script{submitFn: job("j"), pollFn: done(t)}}
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.limits.LeaseTerm = time.Hour
		l := &loses{made: made}
		w.engine = &tampered{Store: w.store, claimFunc: func(claim func() ([]store.Lease, error)) ([]store.Lease, error) {
			return lost(l, claim)
		}}
		w.start()
		defer w.stop()
		synctest.Wait()
		l.mu.Lock()
		l.left = 3
		l.mu.Unlock()
		id := w.create("lost-claim", paint, 0).Task.ID
		time.Sleep(10 * time.Second)
		w.expect(w.get(id), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
		w.expectSent(s.script, id+"/1")
	})
}

// TestLostAnswerOfACreation: a creation whose outcome is known in time is answered as usual.
func TestLostAnswerOfACreation(t *testing.T) {
	eitherWay(t, func(t *testing.T, made bool) {
		s := &script{submitFn: answer("hello")}
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
		l := &loses{made: made, left: 3}
		w.engine = &tampered{Store: w.store, createFunc: func(create func() (store.Created, error)) (store.Created, error) {
			return lost(l, create)
		}}
		w.start()
		defer w.stop()
		got := w.create("lost-create", chat, time.Minute)
		if got.Replayed {
			t.Error("the caller's own task passes for another's")
		}
		w.expect(got.Task, outcome{task.Succeeded, "", 2, []attemptOutcome{{"a", task.OK, "", 2, false}}})
		w.expectSent(s, got.Task.ID+"/1")
	})
}

// TestCreationOfUnknownOutcome: a caller isn't kept waiting, and the task that may have been leased isn't left alone,
// with its large input and whether a route had room for it at once.
func TestCreationOfUnknownOutcome(t *testing.T) {
	large := strings.Replace(chat, "hello", strings.Repeat("hello ", 20_000), 1)
	for name, tt := range map[string]struct {
		body string
		full bool // no route has room at first
	}{"started": {chat, false}, "leased alone": {chat, true}, "large": {large, false}} {
		t.Run(name, func(t *testing.T) {
			eitherWay(t, func(t *testing.T, made bool) {
				s := &script{submitFn: answer("hello")}
				first := route("text.chat", "a", 1, s)
				first.SupplierCap = 1
				w := newWorld(t, []routing.Route{first})
				w.limits.LeaseTerm, w.limits.PlaceWait = time.Hour, time.Minute
				l := &loses{made: made, left: 8}
				w.engine = &tampered{Store: w.store, createFunc: func(create func() (store.Created, error)) (store.Created, error) {
					return lost(l, create)
				}}
				w.start()
				defer w.stop()
				var holder store.Lease
				if tt.full {
					holder = w.leave("text.chat", `{"prompt":"hello"}`)
				}
				start := time.Now()
				_, err := w.g.Create(t.Context(), w.caller, gateway.Submission{IdempotencyKey: "lost-for-long", Body: []byte(tt.body)})
				e := fault.From(err)
				if e.Code != fault.CapacityExhausted || !e.Retryable() || e.RetryAfter <= 0 || time.Since(start) > 3*time.Second {
					t.Fatalf("after %s: %v", time.Since(start), err)
				}
				if tt.full {
					fails := task.Fail(task.FailureOf(fault.New(fault.ProviderUnavailable, "gone")))
					closed := &task.Closing{State: task.Rejected}
					if _, err := w.store.Advance(t.Context(), holder.Ref, store.Step{Close: closed, Moves: []task.Transition{fails}}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				got := w.create("lost-for-long", tt.body, 0)
				if !got.Replayed {
					t.Error("the task was made by the retry alone")
				}
				if got.Task.State != task.Succeeded {
					t.Errorf("the task is %s", got.Task.State)
				}
				w.expectSent(s, got.Task.ID+"/1")
			})
		})
	}
}

// TestUnavailableStoreKeepsNoInput: a creation that the store never saw leaves no large input behind, and one of unknown
// outcome is found out although the store can't be reached at first.
func TestUnavailableStoreKeepsNoInput(t *testing.T) {
	large := strings.Replace(chat, "hello", strings.Repeat("hello ", 20_000), 1)
	synctest.Test(t, func(t *testing.T) {
		s := &script{submitFn: answer("hello")}
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
		calls := 0
		w.engine = &tampered{Store: w.store, createFunc: func(create func() (store.Created, error)) (store.Created, error) {
			switch calls++; calls {
			case 1, 3, 4:
				return store.Created{}, store.ErrUnavailable
			case 2:
				if _, err := create(); err != nil {
					return store.Created{}, err
				}
				return store.Created{}, store.ErrUnknown
			default:
				return create()
			}
		}}
		w.start()
		defer w.stop()
		send := func() error {
			_, err := w.g.Create(t.Context(), w.caller, gateway.Submission{IdempotencyKey: "unavailable", Body: []byte(large)})
			return err
		}
		if err := send(); fault.CodeOf(err) != fault.CapacityExhausted {
			t.Errorf("a store that can't be reached: %v", err)
		}
		if kept, err := filepath.Glob(filepath.Join(w.folder, "in", "*", "in_*")); err != nil || len(kept) > 0 {
			t.Errorf("inputs that are left: %v, %v", kept, err)
		}
		if err := send(); err != nil {
			t.Errorf("a lost answer, and a store that can't be reached for a moment: %v", err)
		}
		if sent := len(s.keys()); sent != 1 || calls != 5 {
			t.Errorf("%d submissions after %d calls, want 1 after 5", sent, calls)
		}
	})
}

// TestStopWithACreationOfUnknownOutcome: the node ends although the engine doesn't answer any more.
func TestStopWithACreationOfUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, &script{submitFn: answer("hello")})})
		l := &loses{made: true, left: 1 << 30}
		w.engine = &tampered{Store: w.store, createFunc: func(create func() (store.Created, error)) (store.Created, error) {
			return lost(l, create)
		}}
		w.start()
		_, err := w.g.Create(t.Context(), w.caller, gateway.Submission{IdempotencyKey: "never-known", Body: []byte(chat)})
		if fault.CodeOf(err) != fault.CapacityExhausted {
			t.Errorf("got %v", err)
		}
		w.stop()
	})
}

// TestLostAnswerOfACancellation: it is asked for once more, and a second loss is the caller's to repeat.
func TestLostAnswerOfACancellation(t *testing.T) {
	for left, want := range map[int]fault.Code{1: "", 2: fault.CapacityExhausted} {
		eitherWay(t, func(t *testing.T, made bool) {
			w := newWorld(t, []routing.Route{route("image.generate", "a", 1, jobs{&script{submitFn: job("j"), pollFn: goesOn}})})
			w.engine = &cancelLosing{Store: w.store, loses: loses{made: made, left: left}}
			w.start()
			defer w.stop()
			id := w.create("lost-cancel", paint, 0).Task.ID
			if _, err := w.g.Cancel(t.Context(), w.caller, id); err == nil && want != "" || err != nil && fault.CodeOf(err) != want {
				t.Errorf("with %d losses: %v, want %q", left, err, want)
			}
			if _, err := w.g.Cancel(t.Context(), w.caller, id); err != nil {
				t.Errorf("again: %v", err)
			}
			if got := w.end(id); got.State != task.Canceled {
				t.Errorf("the task is %s", got.State)
			}
		})
	}
}

type cancelLosing struct {
	store.Store
	loses
}

func (c *cancelLosing) RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	return lost(&c.loses, func() (task.Task, error) { return c.Store.RequestCancel(ctx, s, id) })
}
