package server_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
)

// troubled is a store with a trouble of its own, which its counts tell.
type troubled struct {
	*memstore.DB
	full, broken atomic.Bool
	waiting      atomic.Int64
}

func (s *troubled) Stats(ctx context.Context) (store.Stats, error) {
	if s.broken.Load() {
		return store.Stats{}, errors.New("the disk is gone")
	}
	got, err := s.DB.Stats(ctx)
	got.Full = s.full.Load()
	got.ByState[task.Queued] += s.waiting.Load()
	return got, err
}

// smallDisk is artifacts whose disk has so much room.
type smallDisk struct {
	artifact.Store
	room   atomic.Int64
	broken atomic.Bool
}

func (d *smallDisk) Room() (int64, error) {
	if d.broken.Load() {
		return 0, errors.New("the disk is gone")
	}
	return d.room.Load(), nil
}

// TestReadiness: the service isn't ready while a creation would be refused, and ready again as soon as it wouldn't
// be.
func TestReadiness(t *testing.T) {
	db := &troubled{DB: memstore.New(time.Now)}
	disk := &smallDisk{}
	disk.room.Store(1 << 30)
	w := newWorld(t, options{engine: db, defaults: gate.Defaults{Queue: 10}, files: func(s artifact.Store) artifact.Store {
		disk.Store = s
		return disk
	}})
	ready := func(when string, want bool) {
		t.Helper()
		got := w.do(request{path: api.PathReady})
		if (got.StatusCode == 200) != want || !want && (got.StatusCode != 503 || got.error(t).Error.Code != fault.CapacityExhausted) {
			t.Errorf("%s: %d %s", when, got.StatusCode, got.body)
		}
		if got := w.do(request{path: api.PathHealth}); got.StatusCode != 200 {
			t.Errorf("health %s: %d", when, got.StatusCode)
		}
	}
	ready("at first", true)
	db.full.Store(true)
	ready("without room", false)
	db.full.Store(false)
	db.waiting.Store(9)
	ready("with one place in the queue", true)
	db.waiting.Store(10)
	ready("with a full queue", false)
	db.waiting.Store(0)
	db.broken.Store(true)
	ready("without a disk", false)
	db.broken.Store(false)
	disk.room.Store(1 << 20)
	ready("without room for a large input", false)
	disk.room.Store(1 << 30)
	ready("with room again", true)
	disk.broken.Store(true)
	ready("without the artifacts' disk", false)
	disk.broken.Store(false)
	ready("in the end", true)
}
