package gateway_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/store"
)

// sweeps notes when something is swept.
type sweeps struct {
	mu      sync.Mutex
	started time.Time
	at      []time.Duration
}

func (s *sweeps) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Since(s.started))
}

// longSweeps is a store that has tasks to remove for longer than the test lasts.
type longSweeps struct {
	store.Store
	*sweeps
}

func (s longSweeps) Sweep(ctx context.Context, _ store.SweepRequest) (store.Swept, error) {
	s.note()
	<-ctx.Done()
	return store.Swept{}, ctx.Err()
}

// sweptFiles notes when files are swept.
type sweptFiles struct {
	artifact.Store
	*sweeps
}

func (s sweptFiles) Sweep(context.Context, time.Time, int) (int, error) {
	s.note()
	return 0, nil
}

// TestLongSweep: sweeps begin a quarter of an hour after a start, and files are swept each minute from then on,
// however long the removal of many tasks takes.
func TestLongSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		tasks, files := &sweeps{started: time.Now()}, &sweeps{started: time.Now()}
		w.engine, w.artifacts = longSweeps{w.store, tasks}, sweptFiles{w.artifacts, files}
		w.start()
		time.Sleep(17*time.Minute + time.Second)
		w.stop()
		if want := []time.Duration{15 * time.Minute}; !slices.Equal(tasks.at, want) {
			t.Errorf("tasks were swept at %v, want %v", tasks.at, want)
		}
		if want := []time.Duration{15 * time.Minute, 16 * time.Minute, 17 * time.Minute}; !slices.Equal(files.at, want) {
			t.Errorf("files were swept at %v, want %v", files.at, want)
		}
	})
}
