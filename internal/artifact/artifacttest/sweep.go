package artifacttest

import (
	"sync"
	"testing"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/task"
)

func mustSweep(t *testing.T, s artifact.Store, after time.Duration, limit, want int) {
	t.Helper()
	if got, err := s.Sweep(t.Context(), Start.Add(after), limit); got != want || err != nil {
		t.Errorf("after %v: %d deleted, %v; want %d", after, got, err, want)
	}
}

// testSweep: an object goes when its time has come by the caller's clock, not before, and at most so many at once.
func testSweep(t *testing.T, h Harness) {
	put := func(prefix string, ttl time.Duration) string {
		r := Request(task.NewID(prefix, Start), PNG1)
		r.TTL = ttl
		return MustPut(t, h.Store, r).ID
	}
	soon, input := put(task.PrefixArtifact, time.Hour), put(task.PrefixInput, time.Hour)
	later, never := put(task.PrefixArtifact, 48*time.Hour), put(task.PrefixArtifact, 0)
	mustSweep(t, h.Store, time.Hour-time.Millisecond, 10, 0)
	h.Hold(t, soon, input, later, never)
	mustSweep(t, h.Store, time.Hour, 1, 1)
	mustSweep(t, h.Store, time.Hour, 10, 1)
	mustSweep(t, h.Store, time.Hour, 10, 0)
	h.Hold(t, later, never)
	mustSweep(t, h.Store, 48*time.Hour, 10, 1)
	h.Hold(t, never)
}

// testSweepAgain: of an id that is kept again after its deletion the second time counts.
func testSweepAgain(t *testing.T, h Harness) {
	id := NewID()
	MustPut(t, h.Store, Request(id, PNG1))
	mustSweep(t, h.Store, 0, 10, 0)
	if err := h.Store.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	r := Request(id, PNG2)
	r.TTL = 3 * time.Hour
	MustPut(t, h.Store, r)
	mustSweep(t, h.Store, time.Hour, 10, 0)
	if _, body := MustOpen(t, h.Store, id); string(body) != PNG2 {
		t.Errorf("kept again, it is %q", body)
	}
	mustSweep(t, h.Store, 3*time.Hour, 10, 1)
	h.Hold(t)
}

// testSweepAtOnce: sweeps at the same time as others, and as deletions, delete what is due and no more.
func testSweepAtOnce(t *testing.T, h Harness) {
	var due []string
	for range 30 {
		due = append(due, MustPut(t, h.Store, Request(NewID(), PNG1)).ID)
	}
	r := Request(NewID(), PNG2)
	r.TTL = 2 * time.Hour
	kept := MustPut(t, h.Store, r).ID
	mustSweep(t, h.Store, 0, 10, 0) // a store that walks knows them now
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := h.Store.Sweep(t.Context(), Start.Add(time.Hour), 1000); err != nil {
				t.Error(err)
			}
		})
	}
	for _, id := range due[:5] {
		all.Go(func() {
			if err := h.Store.Delete(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.Hold(t, kept)
}
