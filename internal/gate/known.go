package gate

import (
	"sync"
	"time"

	"unitask/internal/task"
)

const (
	// keepKnown is how long a key that was read counts as it was: half of the second within which a
	// revocation must take effect.
	keepKnown = 500 * time.Millisecond
	mostKnown = 10_000 // keys; more are read each time they are used
)

// known keeps the keys used a moment ago, so that not every request reads one. A key that doesn't
// exist is never kept.
type known struct {
	mu      sync.RWMutex
	callers map[task.Hash]read
}

type read struct {
	caller Caller
	at     time.Time
}

func (k *known) get(h task.Hash, now time.Time) (Caller, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	r, ok := k.callers[h]
	age := now.Sub(r.at)
	return r.caller, ok && age >= 0 && age < keepKnown
}

func (k *known) put(h task.Hash, c Caller, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.callers == nil || len(k.callers) >= mostKnown {
		k.callers = map[task.Hash]read{}
	}
	k.callers[h] = read{c, now}
}

func (k *known) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.callers = nil
}
