package operator_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/test/fixture"
)

// slowUsage is a store of which usage of more than a week is read as slow says, and counts these reads.
type slowUsage struct {
	store.Registry
	slow  func(context.Context) error
	reads atomic.Int32
}

func (s *slowUsage) EachUsage(ctx context.Context, q store.UsageQuery, each func(store.UsageKey, store.Usage) bool) error {
	if q.Last-q.First >= account.Date(7) {
		s.reads.Add(1)
		if err := s.slow(ctx); err != nil {
			return err
		}
	}
	return s.Registry.EachUsage(ctx, q, each)
}

// TestKeptReadHangs: a caller leaves when its time is over, another question doesn't wait, and the next to ask gets what
// the first one's reading brings.
func TestKeptReadHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		s := &slowUsage{Registry: memstore.New(time.Now), slow: func(ctx context.Context) error {
			select {
			case <-goOn:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		o := &operator.Operator{Store: s, Now: time.Now}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := o.ByDay(ctx, 14, ""); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 100*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		fixture.Must(o.ByDay(t.Context(), 7, ""))(t)
		if waited := time.Since(start); waited != 100*time.Millisecond {
			t.Errorf("another question waited until %v", waited)
		}
		time.AfterFunc(time.Second, func() { close(goOn) })
		for range 2 {
			if r := fixture.Must(o.ByDay(t.Context(), 14, ""))(t); len(r.Slots) != 14 || s.reads.Load() != 1 {
				t.Errorf("%d days of %d reads", len(r.Slots), s.reads.Load())
			}
		}
	})
}

// TestKeptReadEnds: a reading that never answers ends by itself, and one that panics is an error.
func TestKeptReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowUsage{Registry: memstore.New(time.Now), slow: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		o := &operator.Operator{Store: s, Now: time.Now}
		start := time.Now()
		if _, err := o.ByDay(t.Context(), 14, ""); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		s.slow = func(context.Context) error { panic("planted") }
		_, err := o.ByDay(t.Context(), 14, "")
		wantCode(t, "a panic", err, fault.Internal)
	})
}

// TestKeptReadFails: ten who ask at once share one reading that fails, and the next to ask reads again.
func TestKeptReadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("planted")
		s := &slowUsage{Registry: memstore.New(time.Now), slow: func(context.Context) error { time.Sleep(time.Second); return failed }}
		o := &operator.Operator{Store: s, Now: time.Now}
		start := time.Now()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if _, err := o.ByDay(t.Context(), 14, ""); !errors.Is(err, failed) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took, reads := time.Since(start), s.reads.Load(); took != time.Second || reads != 1 {
			t.Errorf("%v, %d reads", took, reads)
		}
		s.slow = func(context.Context) error { return nil }
		if fixture.Must(o.ByDay(t.Context(), 14, ""))(t); s.reads.Load() != 2 {
			t.Errorf("%d reads", s.reads.Load())
		}
	})
}
