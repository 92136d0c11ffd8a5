package gateway_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

const day = 24 * time.Hour

// secretPrompt is a prompt that no other file has.
const secretPrompt = "the plum-coloured fox of Tuesday"

var secretly = strings.Replace(paint, "a fox", secretPrompt, 1)

// inMemory runs a test with one route of pictures and an account that keeps requests for so many days.
func inMemory(t *testing.T, days int, f func(w *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &memory{}
		paints := func(n int, r supplier.Request) (supplier.Outcome, error) {
			if w.away.Load() {
				return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ProviderUnavailable, "away", nil)
			}
			return painted(t)(n, r)
		}
		routes := []routing.Route{
			route("image.generate", "a", 1, &script{submitFn: paints}), route("image.edit", "a", 1, &script{submitFn: painted(t)}),
			route("text.chat", "a", 1, &script{submitFn: answer("hi")}),
		}
		w.world = newWorldAt(t, routes, func() time.Time { return time.Now().Round(0).Add(time.Duration(w.ahead.Load())) })
		w.keep(days)
		w.start()
		defer func() { w.stop() }()
		f(w)
	})
}

// memory is a world whose clock can be put forward: living through days takes long, even those of a bubble.
type memory struct {
	*world
	ahead atomic.Int64
	away  atomic.Bool // the supplier of pictures
}

// skip puts the clock forward.
func (w *memory) skip(d time.Duration) { w.ahead.Add(int64(d)) }

// sweep waits for the next sweep.
func (w *memory) sweep() { time.Sleep(17 * time.Minute) }

// keep has the account keep requests for so many days from now on.
func (w *world) keep(days int) {
	w.t.Helper()
	a, err := w.store.UpdateAccount(w.t.Context(), w.caller.Account.ID, func(a *account.Account) error {
		*a = a.Keeping(days, w.now())
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.caller.Account = a
}

// mustRecall returns a task's kept request as JSON.
func (w *world) mustRecall(id string) gateway.Kept {
	w.t.Helper()
	k, err := w.g.Recall(w.t.Context(), w.caller, w.get(id))
	if err != nil {
		w.t.Fatalf("recall: %v", err)
	}
	return k
}

// expectForgotten expects that a task's request can't be read.
func (w *world) expectForgotten(id string) {
	w.t.Helper()
	if k, err := w.g.Recall(w.t.Context(), w.caller, w.get(id)); fault.CodeOf(err) != fault.NotFound {
		w.t.Errorf("recall: %+v %v, want NOT_FOUND", k, err)
	}
}

// holds reports whether a file of the artifacts' folder has the text.
func (w *world) holds(text string) (found bool) {
	w.t.Helper()
	err := filepath.WalkDir(w.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		found = found || bytes.Contains(raw, []byte(text))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// TestInputIsNotKeptByDefault: an account that didn't ask for it has no copy of a request, at its end or on the
// way there.
func TestInputIsNotKeptByDefault(t *testing.T) {
	inMemory(t, 0, func(w *memory) {
		id := w.create("forgets-01", secretly, 0).Task.ID
		if w.holds(secretPrompt) {
			t.Error("a file has the prompt")
		}
		if end := w.end(id); end.InputUntil != nil || end.Input != nil || w.holds(secretPrompt) {
			t.Errorf("ended with %v, %s; a file has the prompt: %v", end.InputUntil, end.Input, w.holds(secretPrompt))
		}
		w.expectForgotten(id)
	})
}

// TestInputIsKept: a request is read while its task works, after its end and after a restart, until its time is over;
// then it is erased.
func TestInputIsKept(t *testing.T) {
	inMemory(t, 2, func(w *memory) {
		body := strings.Replace(secretly, `}}`, `},"parameters":{"n":1}}`, 1)
		created := w.create("recalls-01", body, 0).Task
		want := gateway.Kept{
			Capability: "image.generate", Input: []byte(`{"prompt":"` + secretPrompt + `"}`), Parameters: []byte(`{"n":1}`),
			Until: created.CreatedAt.Add(2 * day).Truncate(time.Millisecond),
		}
		if diff := cmp.Diff(want, w.mustRecall(created.ID)); diff != "" {
			t.Errorf("under way (-want +got):\n%s", diff)
		}
		if end := w.end(created.ID); end.State != task.Succeeded || end.Input != nil {
			t.Errorf("ended %s with the input %s in its record", end.State, end.Input)
		}
		w.stop()
		w.store.Restart()
		w.start()
		if diff := cmp.Diff(want, w.mustRecall(created.ID)); diff != "" {
			t.Errorf("after a restart (-want +got):\n%s", diff)
		}
		stranger := w.caller
		stranger.Account.ID = "acct_other"
		if k, err := w.g.Recall(t.Context(), stranger, w.get(created.ID)); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("another account reads %+v %v", k, err)
		}
		w.skip(2*day - time.Minute)
		w.mustRecall(created.ID)
		w.skip(time.Minute)
		w.expectForgotten(created.ID)
		w.sweep()
		if w.holds(secretPrompt) {
			t.Error("the prompt is on the disk after its time")
		}
	})
}

// TestLoweringErases: fewer days hold for requests that are kept already, at once for readers and with the next sweep on
// the disk; more days hold for new tasks alone.
func TestLoweringErases(t *testing.T) {
	inMemory(t, 3, func(w *memory) {
		first := w.create("lowered-01", secretly, 0).Task.ID
		w.keep(30)
		second := w.create("lowered-02", paint, 0).Task.ID
		w.end(first)
		w.end(second)
		w.skip(4 * day)
		w.expectForgotten(first)
		w.mustRecall(second)

		w.keep(5) // the second has another day
		time.Sleep(time.Minute)
		third := w.create("lowered-03", paint, 0).Task.ID
		w.skip(20 * time.Hour)
		w.sweep()
		w.mustRecall(second)
		w.skip(5 * time.Hour)
		w.expectForgotten(second)
		w.mustRecall(third)
		w.sweep()
		if left := w.inputs(); len(left) != 1 {
			t.Errorf("%d copies are left, want that of the third task", len(left))
		}

		w.keep(0)
		w.expectForgotten(third)
		w.skip(20 * time.Minute) // a copy may come late: the erasure ends a quarter of an hour after the change
		w.sweep()
		if left := w.inputs(); len(left) != 0 {
			t.Errorf("%d copies are left by an account that keeps none", len(left))
		}
		a, err := w.store.GetAccount(t.Context(), w.caller.Account.ID)
		if err != nil || a.Forgets != nil {
			t.Errorf("the erasure goes on: %+v %v", a.Forgets, err)
		}
		fourth := w.create("lowered-04", secretly, 0).Task.ID
		w.end(fourth)
		w.expectForgotten(fourth)
		if w.holds(secretPrompt) {
			t.Error("the prompt is on the disk")
		}
	})
}

// brokenFiles delete no input while broken is set.
type brokenFiles struct {
	artifact.Store
	broken *bool
}

func (f brokenFiles) Delete(ctx context.Context, id string) error {
	if *f.broken {
		return errors.New("the disk is away")
	}
	return f.Store.Delete(ctx, id)
}

// TestErasureGoesOn: an erasure that a fault or the service's end cut short is done later.
func TestErasureGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.generate", "a", 1, &script{submitFn: painted(t)})})
		broken := false
		w.artifacts = brokenFiles{w.artifacts, &broken}
		w.keep(30)
		w.start()
		defer func() { w.stop() }()
		for i := range 3 {
			w.end(w.create(fmt.Sprintf("erased-%03d", i), secretly, 0).Task.ID)
		}
		broken = true
		w.keep(0)
		time.Sleep(20 * time.Minute)
		if left := w.inputs(); len(left) != 3 {
			t.Fatalf("%d copies are left, want 3", len(left))
		}
		w.stop()
		broken = false
		w.store.Restart()
		w.start()
		time.Sleep(20 * time.Minute)
		if left := w.inputs(); len(left) != 0 {
			t.Errorf("%d copies are left", len(left))
		}
	})
}

// TestLargeInputIsKept: inline media of a large request are told by type, size and hash, and a text that is too large
// has no copy.
func TestLargeInputIsKept(t *testing.T) {
	inMemory(t, 1, func(w *memory) {
		png := append(mustPNG(t), bytes.Repeat([]byte{0}, 50_000)...)
		data := base64.StdEncoding.EncodeToString(png)
		large := w.create("large-input", editOf(`{"content_type":"image/png","data":"`+data+`"},{"url":"https://example.com/<b>.png"}`), 0).Task
		k := w.mustRecall(large.ID)
		want := fmt.Sprintf(`{"images":[{"omitted":{"content_type":"image/png","bytes":%d,"sha256":"%x"}},{"url":"https://example.com/<b>.png"}],"prompt":"a fox"}`,
			len(png), hashOf(png))
		if string(k.Input) != want {
			t.Errorf("kept\n%s, want\n%s", k.Input, want)
		}
		small := w.create("small-input", edit(t), 0).Task
		if k := w.mustRecall(small.ID); !bytes.Contains(k.Input, []byte(base64.StdEncoding.EncodeToString(mustPNG(t)))) || bytes.Contains(k.Input, []byte("authorization")) {
			t.Errorf("kept %s", k.Input)
		}
		text := w.create("large-text", strings.Replace(chat, "hello", strings.Repeat("fox ", 17_000), 1), 0).Task
		if text.InputUntil != nil {
			t.Errorf("a text that is too large is kept until %v", text.InputUntil)
		}
		w.expectForgotten(text.ID)
	})
}

// TestReopenedInputIsKept: the request of a task that is sent again is kept for the whole time once more.
func TestReopenedInputIsKept(t *testing.T) {
	inMemory(t, 2, func(w *memory) {
		w.away.Store(true)
		id := w.create("reopens-01", paint, 0).Task.ID
		w.end(id)
		w.skip(day)
		again := w.create("reopens-01", paint, 0)
		if again.Replayed || again.Task.ID != id {
			t.Fatalf("%+v", again)
		}
		w.end(id)
		w.skip(day + time.Hour)
		w.mustRecall(id)
		w.skip(day)
		w.expectForgotten(id)
	})
}

func hashOf(b []byte) [32]byte { return sha256.Sum256(b) }
