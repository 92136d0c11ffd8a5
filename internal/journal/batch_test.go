package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/journal"
)

func mustBatch(t *testing.T, j *journal.Journal, name string) *journal.Batch {
	t.Helper()
	b, err := j.Batch(name, "unitask run x", 3)
	must(t, err)
	return b
}

// TestBatch is a batch that is interrupted and started again: the same keys, and finished lines stay finished.
func TestBatch(t *testing.T) {
	state := t.TempDir()
	j := journal.Open(state)
	name := journal.BatchName("a", "b")
	first := mustBatch(t, j, name)
	keys := []string{first.Key(0), first.Key(1), first.Key(2)}
	must(t, first.SetDone(1))
	if _, err := j.Batch(name, "", 3); !errors.Is(err, journal.ErrBusy) {
		t.Errorf("started twice at once: %v", err)
	}
	if live, err := j.Batches(); err != nil || len(live) != 0 {
		t.Errorf("a live batch is offered: %+v, %v", live, err)
	}
	must(t, first.Close())

	left, err := j.Batches()
	must(t, err)
	if diff := cmp.Diff([]journal.BatchInfo{{Command: "unitask run x", All: 3, Done: 1}}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	again := mustBatch(t, j, name)
	if diff := cmp.Diff(keys, []string{again.Key(0), again.Key(1), again.Key(2)}); diff != "" {
		t.Errorf("keys (-first +second):\n%s", diff)
	}
	if again.IsDone(0) || !again.IsDone(1) || again.IsDone(2) || again.Done != 1 {
		t.Errorf("done: %v %v %v, %d in all", again.IsDone(0), again.IsDone(1), again.IsDone(2), again.Done)
	}
	if other := mustBatch(t, j, journal.BatchName("ab")); other.Key(0) == keys[0] || keys[0] == keys[1] {
		t.Error("two requests have one key")
	}
	must(t, again.Erase())
	if anew := mustBatch(t, j, name); anew.Key(0) == keys[0] || anew.IsDone(1) {
		t.Error("a batch that has ended goes on")
	}
}

// TestBatchManyAtOnce: however often a batch ends and begins again, one process has it at a time.
func TestBatchManyAtOnce(t *testing.T) {
	state, name := t.TempDir(), journal.BatchName("a")
	var holders, turns atomic.Int32
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			j := journal.Open(state)
			for turns.Load() < 60 && !t.Failed() {
				b, err := j.Batch(name, "c", 3)
				if errors.Is(err, journal.ErrBusy) {
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d have it at once", n)
				}
				turns.Add(1)
				runtime.Gosched()
				holders.Add(-1)
				if err := b.Erase(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestBatchDamaged(t *testing.T) {
	state := t.TempDir()
	j := journal.Open(state)
	name := journal.BatchName("a")
	path := filepath.Join(state, "journal", "batch_"+name+".jsonl")
	must(t, mustBatch(t, j, name).Close())
	must(t, os.WriteFile(path, []byte("broken\n"), 0o600))
	_, err := j.Batch(name, "", 3)
	if _, damaged := errors.AsType[*journal.DamagedError](err); !damaged {
		t.Errorf("got %v, want that it is damaged", err)
	}
	must(t, os.WriteFile(path, []byte(`{"version":1,"se`), 0o600)) // never finished: nothing was sent
	b := mustBatch(t, j, name)
	must(t, b.SetDone(2))
	must(t, b.Close())
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("{\"done\":99}\n{\"done\":-1}\n{\"done\":")
	must(t, errors.Join(err, f.Close()))
	if b = mustBatch(t, j, name); !b.IsDone(2) || b.Done != 1 {
		t.Errorf("%d are done, want the one that was noted", b.Done)
	}
	must(t, b.Close())
	old := time.Now().Add(-journal.MaxAge)
	must(t, os.Chtimes(path, old, old))
	if gone, err := j.Sweep(time.Now()); err != nil || gone != 1 {
		t.Errorf("%d gone, %v, want the old batch", gone, err)
	}
}

// FuzzBatch gives any bytes the place of a batch.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"version":1,"seed":"ab","command":"c","all":3}` + "\n" + `{"done":1}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Add([]byte(""))
	state := f.TempDir()
	j := journal.Open(state)
	name := journal.BatchName("a")
	path := filepath.Join(state, "journal", "batch_"+name+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		must(t, os.WriteFile(path, raw, 0o600))
		b, err := j.Batch(name, "c", 3)
		if _, damaged := errors.AsType[*journal.DamagedError](err); damaged {
			return
		}
		must(t, err)
		if b.Done < 0 || b.Done > b.All {
			t.Fatalf("%d of %d are done", b.Done, b.All)
		}
		key := b.Key(0)
		must(t, b.SetDone(0))
		must(t, b.Close())
		again, err := j.Batch(name, "c", 3)
		must(t, err)
		if !again.IsDone(0) || again.Key(0) != key || again.BatchInfo != b.BatchInfo {
			t.Fatalf("read again: %+v, want %+v", again.BatchInfo, b.BatchInfo)
		}
		must(t, again.Close())
	})
}
