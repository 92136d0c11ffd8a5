package boltstore_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

func TestOfflineWhileAnotherWorks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	mustOpen(t, boltstore.Config{Path: path})
	_, openErr := boltstore.OpenOffline(path)
	_, _, compactErr := boltstore.Compact(path)
	for what, err := range map[string]error{"OpenOffline": openErr, "Compact": compactErr} {
		if _, locked := errors.AsType[*boltstore.LockedError](err); !locked {
			t.Errorf("%s: got %v, want a *LockedError", what, err)
		}
	}
}

// TestImage compares an image under load, and one of a store at rest, with the store.
func TestImage(t *testing.T) {
	path, old := mustUpgrade(t)
	db := mustOpen(t, boltstore.Config{Path: path, Now: func() time.Time { return afterOldStore }})
	const acknowledged = 50
	for range acknowledged {
		mustCreate(t, db)
	}
	stop, writing := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(writing)
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := db.CreateTask(t.Context(), freshTask()); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	image, size, err := db.Image(t.Context())
	close(stop)
	<-writing
	if err != nil {
		t.Fatal(err)
	}
	hot := filepath.Join(t.TempDir(), "unitask.db")
	mustCopy(t, hot, image, size)
	if err := old.compare(hot); err != nil {
		t.Error(err)
	}
	if got := mustCheck(t, hot, boltstore.CheckConfig{}); got.Tasks < int64(len(old.Tasks)+acknowledged) || len(got.Findings) > 0 {
		t.Errorf("the image: %+v", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o, err := boltstore.OpenOffline(path)
	if err != nil {
		t.Fatal(err)
	}
	image, size, err = o.Image(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustCopy(t, hot, image, size)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := old.compare(hot); err != nil {
		t.Error(err)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left in the folder: %v", left)
	}
}

func mustCopy(t *testing.T, path string, from io.ReadCloser, size int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(f, from)
	if err := errors.Join(err, f.Close(), from.Close()); err != nil || n != size {
		t.Fatalf("%d bytes of %d: %v", n, size, err)
	}
}

func TestEndOpen(t *testing.T) {
	path, old := mustUpgrade(t)
	db := mustOpen(t, boltstore.Config{Path: path, Now: func() time.Time { return afterOldStore }})
	failure := task.Failure{Code: "PROVIDER_TIMEOUT", Message: "nobody knows", Retryable: true}
	n, err := db.EndOpen(t.Context(), failure)
	if err != nil || n != 12 {
		t.Fatalf("EndOpen: %d, %v, want 12", n, err)
	}
	for _, was := range old.Tasks {
		got, err := db.GetTask(t.Context(), was.Scope, was.ID)
		if err != nil {
			t.Fatal(err)
		}
		if was.State.Terminal() {
			if diff := cmp.Diff(was.State, got.State); diff != "" {
				t.Errorf("%s has changed: %s", was.ID, diff)
			}
			continue
		}
		want := failure
		want.Unshown = true
		if diff := cmp.Diff(&want, got.Failure); diff != "" || got.Reopenable() || !got.Show().Reopenable() {
			t.Errorf("%s: failure (-want +got):\n%s", was.ID, diff)
		}
		if a := was.OpenAttempt(); a != nil {
			last := got.Attempts[len(got.Attempts)-1]
			if !got.LastUnknown() || !last.CostUnknown || !bytes.Equal(last.Job, a.Job) {
				t.Errorf("%s: its attempt is %+v", was.ID, last)
			}
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := mustCheck(t, path, boltstore.CheckConfig{}); got.Open != 0 || len(got.Findings) > 0 {
		t.Errorf("afterwards: %+v", got)
	}
}
