package operator

import (
	"maps"
	"sync"
	"time"
)

// keptFor is how long the readings of an operator's first page serve, which refreshes itself: each takes a walk through
// all sums of usage, or all keys.
const keptFor = 20 * time.Second

// kept is the last readings, by the question that they answer. Those who ask at once share one. They must not be changed.
type kept[K comparable, V any] struct {
	mu  sync.Mutex
	all map[K]reading[V]
}

type reading[V any] struct {
	at    time.Time
	value V
}

// get returns an answer that is at most keptFor old. An error isn't kept.
func (k *kept[K, V]) get(now time.Time, of K, read func() (V, error)) (V, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.all, func(_ K, r reading[V]) bool { return now.Sub(r.at).Abs() >= keptFor })
	if r, ok := k.all[of]; ok {
		return r.value, nil
	}
	value, err := read()
	if err != nil {
		return value, err
	}
	if k.all == nil {
		k.all = map[K]reading[V]{}
	}
	k.all[of] = reading[V]{now, value}
	return value, nil
}
