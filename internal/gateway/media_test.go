package gateway_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// inputs returns the ids of all that is kept of callers' inputs, found on the disk itself.
func (w *world) inputs() []string {
	w.t.Helper()
	ids := map[string]bool{}
	err := filepath.WalkDir(w.folder, func(_ string, d fs.DirEntry, err error) error {
		if id, _, _ := strings.Cut(d.Name(), "."); err == nil && task.ValidID(task.PrefixInput, id) {
			ids[id] = true
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(ids))
}

// slowly puts some polls before the answer.
func slowly(poll func(int, supplier.Job) (supplier.Outcome, error)) func(int, supplier.Job) (supplier.Outcome, error) {
	return func(n int, j supplier.Job) (supplier.Outcome, error) {
		if n < 10 {
			return goesOn(n, j)
		}
		return poll(n, j)
	}
}

// pictureOf returns the id of the copy of a task's only picture.
func pictureOf(id string, reopenings int) string {
	return task.DeriveID(task.PrefixInput, id, strconv.Itoa(reopenings)+"/images/0")
}

// TestWaitingTaskFetchesNothing has tasks wait for a full route: the callers' addresses are left alone
// until there is something to send.
func TestWaitingTaskFetchesNothing(t *testing.T) {
	r := route("image.edit", "a", 1, jobs{&script{submitFn: job("j"), pollFn: goesOn}})
	r.Cap = 1
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{r})
		f := &fetcher{data: mustPNG(t)}
		w.fetcher = f
		w.start()
		defer w.stop()
		for i := range 10 {
			w.create("fetches-0"+strconv.Itoa(i), editByURL, 0)
		}
		time.Sleep(time.Minute)
		if n := f.fetched(); n != 1 {
			t.Errorf("%d fetches for one task under way and nine that wait", n)
		}
	})
}

// TestInputsAreErasedAtTheEnd ends tasks in every way. Their input is large, so that it is kept apart
// from the record, and so is the copy of its picture.
func TestInputsAreErasedAtTheEnd(t *testing.T) {
	body := strings.Replace(editByURL, "a fox", strings.Repeat("🦊", 20_000), 1)
	for name, tt := range map[string]struct {
		submit func(int, supplier.Request) (supplier.Outcome, error)
		poll   func(int, supplier.Job) (supplier.Outcome, error)
		kept   int // objects while the task is under way
		during func(w *world, id string)
		end    task.State
	}{
		"success": {job("j"), slowly(done(t)), 2, func(*world, string) {}, task.Succeeded},
		"failure": {job("j"), slowly(func(int, supplier.Job) (supplier.Outcome, error) {
			return supplier.Outcome{}, supplier.NewError(supplier.Failed, fault.ContentPolicyViolation, "refused", nil)
		}), 2, func(*world, string) {}, task.Failed},
		"deadline":          {job("j"), goesOn, 2, func(*world, string) {}, task.Failed},
		"cancel":            {job("j"), goesOn, 2, func(w *world, id string) { w.cancel(w.g, id) }, task.Canceled},
		"cancel in queue":   {nil, nil, 1, func(w *world, id string) { w.cancel(w.g, id) }, task.Canceled},
		"deadline in queue": {nil, nil, 1, func(*world, string) {}, task.Failed},
		"takeover": {job("j"), slowly(done(t)), 2, func(w *world, _ string) {
			w.stop()
			w.store.Restart()
			w.start()
		}, task.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := route("image.edit", "a", 1, jobs{&script{submitFn: tt.submit, pollFn: tt.poll}})
				busy := route("image.generate", "a", 1, jobs{&script{submitFn: job("j"), pollFn: goesOn}})
				r.SupplierCap, busy.SupplierCap = 1, 1
				w := newWorld(t, []routing.Route{r, busy})
				w.fetcher = &fetcher{data: mustPNG(t)}
				w.start()
				defer func() { w.stop() }()
				if tt.submit == nil {
					w.create("keeps-busy", paint, 0)
					time.Sleep(time.Second)
				}
				id := w.create("erased-001", body, 0).Task.ID
				time.Sleep(3 * time.Second)
				if kept := w.inputs(); len(kept) != tt.kept {
					t.Errorf("%d objects are kept while the task is under way, want %d", len(kept), tt.kept)
				}
				tt.during(w, id)
				if end := w.end(id); end.State != tt.end || end.Input != nil || end.InputRef != "" {
					t.Errorf("ended %s %+v with the input %q %q", end.State, end.Failure, end.Input, end.InputRef)
				}
				synctest.Wait()
				if diff := cmp.Diff([]string(nil), w.inputs()); diff != "" {
					t.Errorf("kept after the end (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestReopenedTaskKeepsItsPicture retries a task while its earlier worker is still cleaning up. Its leftovers belong
// to the retry: its picture, and its place within reach of a cancellation.
func TestReopenedTaskKeepsItsPicture(t *testing.T) {
	s := &script{takes: 10 * time.Second, submitFn: refuse(supplier.Refused, fault.ProviderUnavailable)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.edit", "a", 1, s)})
		w.artifacts = slowFiles{Store: w.artifacts, remove: 500 * time.Millisecond}
		w.fetcher = &fetcher{data: mustPNG(t)}
		w.start()
		defer w.stop()
		id := w.end(w.create("reopened-1", editByURL, 0).Task.ID).ID
		w.create("reopened-1", editByURL, 0)
		time.Sleep(5 * time.Second)
		refused := attemptOutcome{"a", task.Rejected, fault.ProviderUnavailable, 0, false}
		w.expect(w.get(id), outcome{task.Running, "", 0, []attemptOutcome{refused, {"a", task.Intent, "", 0, false}}})
		if diff := cmp.Diff([]string{pictureOf(id, 1)}, w.inputs()); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		w.expect(w.cancel(w.g, id), outcome{task.Canceled, "", 1, []attemptOutcome{refused, {"a", task.UnknownOutcome, "", 0, true}}})
		w.expectSent(s, id+"/1", id+"/2")
	})
}

func TestNoLimitKeepsEveryResult(t *testing.T) {
	s := &script{submitFn: painted(t)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.edit", "a", 1, s)})
		w.limits.ArtifactBytes, w.limits.InlineMedia = math.MaxInt64, math.MaxInt64
		w.fetcher = &fetcher{data: mustPNG(t)}
		w.start()
		defer w.stop()
		for key, body := range map[string]string{"no-limit-1": edit(t), "no-limit-2": editByURL} {
			w.expect(w.end(w.create(key, body, 0).Task.ID), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
		}
	})
}

// TestUnsoundDataIsNotSent: a record that another version left holds data that are no base64. No supplier gets them, who
// might be sent them as they stand.
func TestUnsoundDataIsNotSent(t *testing.T) {
	s := &script{submitFn: painted(t)}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.edit", "a", 1, keyed{jobs{s}})})
		id := w.leave("image.edit", `{"images":[{"content_type":"image/png","data":"`+
			base64.StdEncoding.EncodeToString(append(mustPNG(t), make([]byte, 60_000)...))[:80_000]+`\"}],\"n\":9,\"a\":[{\""}],"prompt":"a fox"}`).Task.ID
		w.start()
		defer w.stop()
		if got := w.end(id); codeOf(got) != fault.InvalidRequest {
			t.Errorf("%s %+v", got.State, got.Failure)
		}
		w.expectSent(s)
	})
}

// stubbornFiles ignores deletions, as a crash between a task's end and the deletion of its input does.
type stubbornFiles struct{ artifact.Store }

func (stubbornFiles) Delete(context.Context, string) error { return errors.New("the node is gone") }

// TestOrphansAreSwept leaves the input of an ended task behind: it goes when its time is over.
func TestOrphansAreSwept(t *testing.T) {
	body := strings.Replace(editByURL, "a fox", strings.Repeat("🦊", 20_000), 1)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, []routing.Route{route("image.edit", "a", 1, &script{submitFn: painted(t)})})
		w.artifacts, w.fetcher = stubbornFiles{w.artifacts}, &fetcher{data: mustPNG(t)}
		w.start()
		defer w.stop()
		w.expect(w.end(w.create("orphans-01", body, 0).Task.ID), outcome{task.Succeeded, "", 1, []attemptOutcome{{"a", task.OK, "", 1, false}}})
		time.Sleep(time.Hour)
		if left := w.inputs(); len(left) != 2 {
			t.Errorf("%d objects are left behind, want 2", len(left))
		}
		time.Sleep(30 * time.Minute)
		if left := w.inputs(); len(left) != 0 {
			t.Errorf("%v stay for ever", left)
		}
	})
}
