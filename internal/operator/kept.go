package operator

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"unitask/internal/fault"
)

const (
	// keptFor is how long the readings of an operator's first page serve, which refreshes itself: each takes a walk through
	// all sums of usage, or all budgets.
	keptFor = 20 * time.Second
	// readTime bounds a reading.
	readTime = 10 * time.Second
)

// kept is the last readings, by the question that they answer. They must not be changed.
type kept[K comparable, V any] struct {
	reads singleflight.Group // by the question's Go syntax
	mu    sync.Mutex         // of all, not held while one reads
	all   map[K]reading[V]
}

type reading[V any] struct {
	at    time.Time
	value V
}

// get returns an answer that is at most keptFor old. Those who ask at once share one reading and its error, which isn't
// kept. A caller whose ctx ends leaves without it; it goes on for the others, and for the next to ask.
func (k *kept[K, V]) get(ctx context.Context, now time.Time, of K, read func(context.Context) (V, error)) (value V, err error) {
	done := k.reads.DoChan(fmt.Sprintf("%#v", of), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
		defer cancel()
		return k.refresh(ctx, now, of, read)
	})
	select {
	case <-ctx.Done():
		return value, ctx.Err()
	case r := <-done:
		value, _ = r.Val.(V)
		return value, r.Err
	}
}

// refresh returns the last reading, or makes one if that is too old.
func (k *kept[K, V]) refresh(ctx context.Context, now time.Time, of K, read func(context.Context) (V, error)) (value V, err error) {
	if value, ok := k.last(now, of); ok {
		return value, nil
	}
	defer func() {
		if v := recover(); v != nil { // in a goroutine of its own, in which it would end the process
			err = fault.Wrap(fault.Internal, fmt.Errorf("panic: %v\n%s", v, debug.Stack()), "the numbers could not be read")
		}
	}()
	if value, err = read(ctx); err != nil {
		return value, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[K]reading[V]{}
	}
	k.all[of] = reading[V]{now, value}
	return value, nil
}

func (k *kept[K, V]) last(now time.Time, of K) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.all, func(_ K, r reading[V]) bool { return now.Sub(r.at).Abs() >= keptFor })
	r, ok := k.all[of]
	return r.value, ok
}
