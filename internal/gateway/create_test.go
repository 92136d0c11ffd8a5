package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

var wholeLife = []task.State{task.Queued, task.Running, task.Transferring, task.Succeeded}

func TestSynchronousTask(t *testing.T) {
	s := &script{submitFn: answer("hi")}
	inWorld(t, []routing.Route{route("text.chat", "a", 1*task.USD, s)}, func(w *world) {
		got := w.create("key-00001", chat, time.Minute)
		if diff := cmp.Diff(wholeLife, publicStates(got.Task)); diff != "" {
			t.Errorf("timeline (-want +got):\n%s", diff)
		}
		want := task.Output{JSON: json.RawMessage(`{"text":"hi","finish_reason":"stop"}`)}
		if diff := cmp.Diff(&want, got.Task.Output); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
		if got.Task.Cost != 30_000 { // 30 tokens at 1 USD a million
			t.Errorf("cost %s", got.Task.Cost)
		}
		if got.Task.Input != nil || got.Replayed {
			t.Errorf("input %q, replayed %v", got.Task.Input, got.Replayed)
		}
		if diff := cmp.Diff([]string{got.Task.ID + "/1"}, s.keys()); diff != "" {
			t.Errorf("submissions (-want +got):\n%s", diff)
		}
	})
}

func TestSameKeyIsSameTask(t *testing.T) {
	release := make(chan struct{})
	s := &script{}
	s.submitFn = func(int, supplier.Request) (supplier.Outcome, error) {
		<-release
		return text("once"), nil
	}
	synctest.Test(t, func(t *testing.T) {
		release = make(chan struct{})
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
		w.start()
		defer w.stop()
		spellings := []string{chat, ` {"input": {"prompt": "hell\u006f"}, "parameters": {}, "capability": "text.chat"} `}
		var ids sync.Map
		var replays, all sync.WaitGroup
		for i := range 50 {
			replays.Add(1)
			all.Go(func() {
				defer replays.Done()
				got := w.create("same-key-1", spellings[i%2], time.Minute)
				ids.Store(got.Task.ID, got.Task.State)
			})
		}
		synctest.Wait()
		close(release)
		all.Wait()
		count := 0
		ids.Range(func(_, state any) bool {
			count++
			if state != task.Succeeded {
				t.Errorf("a joiner saw %v", state)
			}
			return true
		})
		if count != 1 || len(s.keys()) != 1 {
			t.Errorf("%d tasks, %d submissions; want 1 and 1", count, len(s.keys()))
		}
		other := strings.Replace(chat, "hello", "bye", 1)
		_, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "same-key-1", Body: []byte(other)})
		if fault.CodeOf(err) != fault.IdempotencyConflict {
			t.Errorf("another request under the key: %v", err)
		}
		// The record is looked at before the capability and the schema.
		_, err = w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "same-key-1", Body: []byte(`{"capability":"no.such","input":{}}`)})
		if fault.CodeOf(err) != fault.IdempotencyConflict {
			t.Errorf("another capability under the key: %v", err)
		}
		if again := w.create("same-key-1", chat, 0); !again.Replayed {
			t.Error("a replay doesn't say so")
		}
	})
}

// TestAsynchronousAnswerIsTheTaskAsAccepted has the work begin before its request is answered.
func TestAsynchronousAnswerIsTheTaskAsAccepted(t *testing.T) {
	s := jobs{&script{submitFn: job("j"), pollFn: done(t)}}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.engine = &tampered{Store: w.store, createFunc: func(create func() (store.Created, error)) (store.Created, error) {
			defer time.Sleep(500 * time.Millisecond)
			return create()
		}}
		w.start()
		defer w.stop()
		got := w.create("accepted-1", paint, 0).Task
		w.expect(got, outcome{State: task.Queued})
		if now := w.get(got.ID).State; now != task.Running {
			t.Errorf("the work hasn't started: %s", now)
		}
	})
}

// TestConflictNamesNoTaskToAScopedKey repeats a key with another request: whether its task is within the scope
// can't be told.
func TestConflictNamesNoTaskToAScopedKey(t *testing.T) {
	s := &script{submitFn: answer("hi")}
	inWorld(t, []routing.Route{route("text.chat", "a", 1, s), route("image.generate", "a", 1, s)}, func(w *world) {
		held := w.create("scoped-001", chat, time.Minute).Task
		another := strings.Replace(chat, "hello", "another", 1)
		for _, tt := range []struct {
			scopes []string
			body   string
			want   string
		}{
			{nil, another, held.ID},
			{nil, paint, held.ID},
			{[]string{"*"}, paint, held.ID},
			{[]string{"text.chat"}, another, ""},
			{[]string{"image.*"}, paint, ""},
			{[]string{"image.*", "text.*"}, paint, ""},
		} {
			w.caller.Key.Scopes = tt.scopes
			_, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "scoped-001", Body: []byte(tt.body)})
			if e := fault.From(err); e == nil || e.Code != fault.IdempotencyConflict || e.TaskID != tt.want {
				t.Errorf("scopes %v: %+v, want the task %q", tt.scopes, err, tt.want)
			}
		}
	})
}

func TestRefusalsLeaveNoTrace(t *testing.T) {
	s := &script{submitFn: answer("hi")}
	inWorld(t, []routing.Route{route("text.chat", "a", 1, s), route("image.edit", "a", 1, s)}, func(w *world) {
		for name, tt := range map[string]struct {
			body  string
			code  fault.Code
			field string
		}{
			"no JSON":            {`{`, fault.InvalidRequest, ""},
			"unknown capability": {`{"capability":"no.such","input":{}}`, fault.InvalidRequest, "capability"},
			"not served":         {paint, fault.InvalidRequest, "capability"},
			"schema":             {`{"capability":"text.chat","input":{"prompt":7}}`, fault.InvalidRequest, "input.prompt"},
			"big number":         {`{"capability":"text.chat","input":{"prompt":"x"},"parameters":{"seed":9007199254740993}}`, fault.InvalidRequest, "parameters.seed"},
			"person": {
				`{"capability":"image.edit","input":{"prompt":"x","images":[{"url":"https://example.com/a.png"}]}}`,
				fault.AuthorizationRequired, "input.authorization",
			},
			"another's artifact": {
				`{"capability":"image.edit","input":{"prompt":"x","images":[{"artifact":"` + task.NewID(task.PrefixArtifact, time.Now()) + `"}],"authorization":{"person":"none"}}}`,
				fault.InvalidRequest, "input.images.0.artifact",
			},
		} {
			_, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "refused-key", Body: []byte(tt.body)})
			e := fault.From(err)
			if e == nil || e.Code != tt.code {
				t.Errorf("%s: %v, want %s", name, err, tt.code)
				continue
			}
			if tt.field != "" && (len(e.Details) == 0 || e.Details[0].Field != tt.field) {
				t.Errorf("%s: details %+v, want the field %s", name, e.Details, tt.field)
			}
		}
		if got := w.create("refused-key", chat, time.Minute); got.Replayed || got.Task.State != task.Succeeded {
			t.Errorf("the key is used up: %+v", got)
		}
		if n := len(s.keys()); n != 1 {
			t.Errorf("%d submissions", n)
		}
	})
}

// TestBodyIsLetGo: a request that waits for its task holds no more than the task's record: its body's memory is gone,
// as the room that it was granted is.
func TestBodyIsLetGo(t *testing.T) {
	var body weak.Pointer[byte]
	submission := func(prompt string) gateway.Submission {
		b := []byte(strings.Replace(chat, "hello", prompt, 1))
		body = weak.Make(&b[0])
		return gateway.Submission{IdempotencyKey: "key-" + prompt[:5], Body: b}
	}
	s := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		time.Sleep(time.Second) // virtual: the request waits by now
		runtime.GC()
		if body.Value() != nil {
			t.Error("the body is held while its task is at the supplier's")
		}
		return text("done"), nil
	}}
	inWorld(t, []routing.Route{route("text.chat", "one", 1, s)}, func(w *world) {
		for _, prompt := range []string{strings.Repeat("small ", 1000), strings.Repeat("large ", 100_000)} {
			if a, err := w.g.Create(w.t.Context(), w.caller, submission(prompt)); err != nil || a.Task.State != task.Succeeded {
				t.Errorf("%s of %d bytes: %v %v", prompt[:5], len(prompt), a.Task.State, err)
			}
		}
	})
}

func TestCallerThatHangsUp(t *testing.T) {
	s := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		time.Sleep(10 * time.Second) // virtual
		return text("late"), nil
	}}
	inWorld(t, []routing.Route{route("text.chat", "a", 1, s)}, func(w *world) {
		ctx, cancel := context.WithCancel(w.t.Context())
		time.AfterFunc(time.Second, cancel)
		got, err := w.g.Create(ctx, w.caller, gateway.Submission{IdempotencyKey: "hang-up-1", Body: []byte(chat)})
		if err != nil {
			t.Fatal(err)
		}
		if end := w.end(got.Task.ID); end.State != task.Succeeded || len(s.keys()) != 1 {
			t.Errorf("%s after %d submissions", end.State, len(s.keys()))
		}
	})
}

func TestWaitIsOver(t *testing.T) {
	s := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		time.Sleep(40 * time.Second)
		return text("late"), nil
	}}
	inWorld(t, []routing.Route{route("text.chat", "a", 1, s)}, func(w *world) {
		start := time.Now()
		got, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "long-work", Body: []byte(chat)})
		if err != nil || got.Task.State != task.Running || time.Since(start) != 30*time.Second {
			t.Errorf("%s after %s (%v)", got.Task.State, time.Since(start), err)
		}
		if end := w.end(got.Task.ID); end.State != task.Succeeded {
			t.Errorf("the task ended %s", end.State)
		}
	})
}

func TestOpenTasksAreBounded(t *testing.T) {
	s := jobs{&script{submitFn: job("j"), pollFn: func(int, supplier.Job) (supplier.Outcome, error) { return running("j"), nil }}}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, s)})
		w.caller.Key.Limits.OpenTasks = 3
		w.start()
		defer w.stop()
		var last string
		for i := range 3 {
			last = w.create("open-task-"+strconv.Itoa(i), paint, 0).Task.ID
		}
		_, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "open-task-3", Body: []byte(paint)})
		if e := fault.From(err); e == nil || e.Code != fault.RateLimitExceeded || e.RetryAfter == 0 {
			t.Errorf("a fourth open task: %v", err)
		}
		if _, err := w.g.Cancel(w.t.Context(), w.caller, last); err != nil {
			t.Fatal(err)
		}
		if got := w.create("open-task-3", paint, 0); got.Replayed {
			t.Error("the refused request left a record")
		}
	})
}

func TestStoppingRefuses(t *testing.T) {
	s := &script{submitFn: answer("hi")}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, s)})
		w.start()
		w.create("before-stop", chat, time.Minute)
		w.stop()
		_, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: "after-stop", Body: []byte(chat)})
		if fault.CodeOf(err) != fault.CapacityExhausted {
			t.Errorf("a stopped gateway: %v", err)
		}
		if got := w.create("before-stop", chat, 0); !got.Replayed {
			t.Error("a stopped gateway doesn't replay")
		}
		if errors.Is(w.g.Ready(w.t.Context()), nil) {
			t.Error("a stopped gateway is ready")
		}
	})
}
