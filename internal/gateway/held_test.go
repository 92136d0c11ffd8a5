package gateway_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// longChat is a request whose input is kept apart from its task's record.
var longChat = fmt.Sprintf(`{"capability":"text.chat","input":{"prompt":%q}}`, strings.Repeat("x", 100_000))

// countedFiles counts what is stored, and fails as often as it is told.
type countedFiles struct {
	artifact.Store
	puts, fail atomic.Int64
	takes      time.Duration
}

func (c *countedFiles) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	c.puts.Add(1)
	time.Sleep(c.takes)
	if c.fail.Add(-1) >= 0 {
		return artifact.Meta{}, errors.New("as the test says")
	}
	return c.Store.Put(ctx, r)
}

// expectInput fails unless the request has the whole input.
func expectInput(t *testing.T, r supplier.Request) {
	t.Helper()
	if want := 100_000 + len(`{"prompt":""}`); len(r.Input) != want {
		t.Errorf("a supplier gets an input of %d bytes, want %d", len(r.Input), want)
	}
}

// TestInputIsHeld runs synchronous work whose input is large. It is stored only where the work takes long, or the caller
// hears of the task before its end; it is gone after the end, and so is its room.
func TestInputIsHeld(t *testing.T) {
	for name, tt := range map[string]struct {
		takes  time.Duration
		wait   time.Duration
		stores time.Duration // it takes to store
		during int           // stored inputs a moment before the work ends
		puts   int64
	}{
		"quick":             {takes: time.Second, wait: time.Minute},
		"long":              {takes: 5 * time.Second, wait: time.Minute, during: 1, puts: 1},
		"ends meanwhile":    {takes: 3 * time.Second, wait: time.Minute, stores: 2 * time.Second, puts: 1},
		"not waited for":    {takes: time.Second, wait: 0, during: 1, puts: 1},
		"soon left":         {takes: time.Second, wait: 2 * time.Second, during: 1, puts: 1},
		"longer than waits": {takes: 5 * time.Second, wait: 3 * time.Second, during: 1, puts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w *world
				s := &script{takes: tt.takes, submitFn: func(_ int, r supplier.Request) (supplier.Outcome, error) {
					expectInput(t, r)
					if n := len(w.inputs()); n != tt.during {
						t.Errorf("%d inputs are stored at the end, want %d", n, tt.during)
					}
					return text("hi"), nil
				}}
				w = newWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)})
				files := &countedFiles{Store: w.artifacts, takes: tt.stores}
				w.artifacts = files
				w.start()
				defer w.stop()
				id := w.create("held-00001", longChat, tt.wait).Task.ID
				w.expect(w.end(id), outcome{task.Succeeded, "", 30_000, []attemptOutcome{{"a", task.OK, "", 30_000, false}}})
				time.Sleep(5 * time.Second)
				if n := files.puts.Load(); n != tt.puts || len(w.inputs()) != 0 || !gateway.Unloaded(w.g) {
					t.Errorf("%d inputs were stored, want %d; %v stay; the room is back: %v", n, tt.puts, w.inputs(), gateway.Unloaded(w.g))
				}
			})
		})
	}
}

// TestHeldInputNeedsRoom: where another one has the room, an input is stored as it is accepted.
func TestHeldInputNeedsRoom(t *testing.T) {
	s := &script{takes: time.Second, submitFn: answer("hi")}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)})
		files := &countedFiles{Store: w.artifacts}
		w.artifacts, w.limits.WorkMemory = files, 500_000
		w.start()
		defer w.stop()
		go w.create("held-00007", longChat, time.Minute)
		synctest.Wait()
		if got := w.create("held-00008", longChat, time.Minute).Task; got.State != task.Succeeded || files.puts.Load() != 1 {
			t.Errorf("%s %+v, %d inputs were stored", got.State, got.Failure, files.puts.Load())
		}
		synctest.Wait()
		if len(w.inputs()) != 0 || !gateway.Unloaded(w.g) {
			t.Errorf("%v stay; the room is back: %v", w.inputs(), gateway.Unloaded(w.g))
		}
	})
}

// TestHeldInputServesEveryRoute: the next route gets the input that is in memory alone. With a picture that is fetched it
// isn't for long, and both are deleted at the end.
func TestHeldInputServesEveryRoute(t *testing.T) {
	const picture = `{"type":"image","image":{"url":"https://example.com/a.png"}}`
	body := strings.Replace(longChat, `"prompt":`, `"messages":[{"role":"user","content":[`+picture+`,{"type":"text","text":`, 1)
	body = strings.TrimSuffix(body, `}}`) + `}]}]}}`
	for name, tt := range map[string]struct {
		body  string
		media int
		puts  int64
	}{"a text": {longChat, 0, 0}, "with a picture": {body, 1, 2}} {
		t.Run(name, func(t *testing.T) { testEveryRoute(t, tt.body, tt.media, tt.puts) })
	}
}

func testEveryRoute(t *testing.T, body string, media int, puts int64) {
	t.Helper()
	a := &script{takes: time.Second, submitFn: refuse(supplier.Refused, fault.ProviderUnavailable)}
	b := &script{submitFn: func(_ int, r supplier.Request) (supplier.Outcome, error) {
		if len(r.Input) < 100_000 || len(r.Media) != media {
			t.Errorf("a supplier gets an input of %d bytes with %d media", len(r.Input), len(r.Media))
		}
		return text("hi"), nil
	}}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, a), route("text.chat", "b", 2, b)})
		files := &countedFiles{Store: w.artifacts}
		w.artifacts, w.fetcher = files, &fetcher{data: mustPNG(t)}
		w.start()
		defer w.stop()
		if got := w.create("held-00002", body, time.Minute).Task; got.State != task.Succeeded || len(got.Attempts) != 2 {
			t.Errorf("%s %+v after %d attempts", got.State, got.Failure, len(got.Attempts))
		}
		synctest.Wait()
		if n := files.puts.Load(); n != puts || len(w.inputs()) != 0 || !gateway.Unloaded(w.g) {
			t.Errorf("%d files were stored, want %d; %v stay; the room is back: %v", n, puts, w.inputs(), gateway.Unloaded(w.g))
		}
	})
}

// TestHeldInputWithARefusedDocument: a document that is refused once it was fetched doesn't stay.
func TestHeldInputWithARefusedDocument(t *testing.T) {
	body := strings.Replace(longChat, `"prompt":`, `"messages":[{"role":"user","content":[`+
		`{"type":"document","document":{"url":"https://example.com/a.pdf"}},{"type":"text","text":`, 1)
	body = strings.TrimSuffix(body, `}}`) + `}]}]}}`
	s := &script{submitFn: answer("hi")}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
		w.fetcher = &fetcher{data: []byte("%PDF-1.7\ntrailer << /Encrypt 5 0 R >>")}
		w.start()
		defer w.stop()
		if got := w.create("held-00009", body, time.Minute).Task; codeOf(got) != fault.InvalidRequest || len(s.keys()) != 0 {
			t.Errorf("%s %+v", got.State, got.Failure)
		}
		synctest.Wait()
		if len(w.inputs()) != 0 || !gateway.Unloaded(w.g) {
			t.Errorf("%v stay; the room is back: %v", w.inputs(), gateway.Unloaded(w.g))
		}
	})
}

// TestHeldInputIsHandedOver stops a node before its work ends: the next one has the input, stored once.
func TestHeldInputIsHandedOver(t *testing.T) {
	for _, grace := range []time.Duration{time.Second, 5 * time.Second} {
		t.Run(grace.String(), func(t *testing.T) { testHandedOver(t, grace) })
	}
}

func testHandedOver(t *testing.T, grace time.Duration) {
	t.Helper()
	s := &script{takes: time.Hour}
	synctest.Test(t, func(t *testing.T) {
		s.submitFn = func(_ int, r supplier.Request) (supplier.Outcome, error) {
			expectInput(t, r)
			return text("hi"), nil
		}
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, keyed{jobs{s}})})
		files := &countedFiles{Store: w.artifacts}
		w.artifacts, w.limits.Grace = files, grace
		w.start()
		go func() {
			_, _ = w.g.Create(t.Context(), w.caller, gateway.Submission{IdempotencyKey: "held-00003", Body: []byte(longChat)})
		}()
		synctest.Wait()
		w.stop()
		if n := files.puts.Load(); n != 1 || len(w.inputs()) != 1 {
			t.Errorf("%d inputs were stored, %v are, want 1", n, w.inputs())
		}
		s.mu.Lock()
		s.takes = 0
		s.mu.Unlock()
		w.store.Restart()
		w.start()
		defer w.stop()
		got := w.create("held-00003", longChat, time.Minute)
		w.expect(got.Task, outcome{task.Succeeded, "", 30_000, []attemptOutcome{{"a", task.OK, "", 30_000, false}}})
		w.expectSent(s, got.Task.ID+"/1", got.Task.ID+"/1")
	})
}

// TestLostInput: a node died that held a task's input. Nothing is sent for it, its outcome is unknown, and the caller's
// retry, which has the input, starts it again.
func TestLostInput(t *testing.T) {
	for name, honours := range map[string]bool{"a supplier that honours keys": true, "one that doesn't": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{submitFn: func(_ int, r supplier.Request) (supplier.Outcome, error) {
					expectInput(t, r)
					return text("hi"), nil
				}}
				var adapter supplier.Adapter = s
				if honours {
					adapter = keyed{jobs{s}}
				}
				w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, adapter)})
				id := w.loseInput("held-00004")
				w.start()
				defer w.stop()
				lost := attemptOutcome{"a", task.UnknownOutcome, fault.ProviderTimeout, 0, true}
				got := w.end(id)
				w.expect(got, outcome{task.Failed, fault.ProviderTimeout, 0, []attemptOutcome{lost}})
				w.expectSent(s)
				if !got.Failure.Retryable {
					t.Errorf("%+v", got.Failure)
				}
				again := w.create("held-00004", longChat, time.Minute).Task
				if again.ID != id || again.State != task.Succeeded || len(s.keys()) != 1 {
					t.Errorf("the retry: %s %s %+v", again.ID, again.State, again.Failure)
				}
			})
		})
	}
}

// loseInput records a synchronous task as a node leaves it that dies with its input in memory.
func (w *world) loseInput(key string) (id string) {
	w.t.Helper()
	dead := task.NewID("node_", time.Now())
	if err := w.store.Renew(w.t.Context(), dead, time.Minute); err != nil {
		w.t.Fatal(err)
	}
	req, refused := catalog.Decode([]byte(longChat), catalog.Limits{})
	if refused != nil {
		w.t.Fatal(refused)
	}
	id = task.NewID(task.PrefixTask, time.Now())
	_, err := w.store.CreateTask(w.t.Context(), store.NewTask{
		ID: id, Scope: w.caller.Scope(), Capability: "text.chat", Sync: true, IdempotencyHash: sha256.Sum256([]byte(key)), Fingerprint: req.Fingerprint(),
		InputRef: task.NewID(task.PrefixInput, time.Now()), Parameters: req.Parameters, Deadline: time.Hour,
		First: &store.First{Node: dead, Plans: []task.Plan{routing.Choice{Route: &w.routes[0]}.Plan(nil)}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// TestHeldInputOfARefusal: a task that isn't recorded gives its input's room back. One that may be recorded has its
// input stored first, because another worker may have it.
func TestHeldInputOfARefusal(t *testing.T) {
	for name, tt := range map[string]struct {
		errs []error // of the store's calls
		want task.State
		puts int64
	}{
		"no room":            {[]error{store.ErrFull}, "", 0},
		"an unknown outcome": {[]error{store.ErrUnknown}, task.Succeeded, 1},
		"another error":      {[]error{errors.New("as the test says")}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, &script{submitFn: answer("hi")})})
				files, calls := &countedFiles{Store: w.artifacts}, 0
				w.artifacts = files
				w.engine = &tampered{Store: w.store, createFunc: func(create func() (store.Created, error)) (store.Created, error) {
					if calls++; calls <= len(tt.errs) {
						return store.Created{}, tt.errs[calls-1]
					}
					return create()
				}}
				w.start()
				defer w.stop()
				a, err := w.g.Create(t.Context(), w.caller, gateway.Submission{IdempotencyKey: "held-00006", Body: []byte(longChat)})
				synctest.Wait()
				if a.Task.State != tt.want || (err == nil) != (tt.want != "") {
					t.Errorf("%s %v, want %s", a.Task.State, err, tt.want)
				}
				if n := files.puts.Load(); n != tt.puts || len(w.inputs()) != 0 || !gateway.Unloaded(w.g) {
					t.Errorf("%d inputs were stored, want %d; %v stay; the room is back: %v", n, tt.puts, w.inputs(), gateway.Unloaded(w.g))
				}
			})
		})
	}
}

// TestHeldInputCannotBeStored: work goes on without its copy.
func TestHeldInputCannotBeStored(t *testing.T) {
	s := &script{takes: 5 * time.Second, submitFn: answer("hi")}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", task.USD, s)})
		files := &countedFiles{Store: w.artifacts}
		files.fail.Store(1)
		w.artifacts = files
		w.start()
		defer w.stop()
		if got := w.create("held-00005", longChat, time.Minute).Task; got.State != task.Succeeded || files.puts.Load() != 1 {
			t.Errorf("%s %+v, tried %d times", got.State, got.Failure, files.puts.Load())
		}
		synctest.Wait()
		if !gateway.Unloaded(w.g) {
			t.Error("the room isn't back")
		}
	})
}
