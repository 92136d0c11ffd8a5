package gate

import (
	"sync"
	"sync/atomic"

	"unitask/internal/account"
	"unitask/internal/task"
)

// mostKnown is how many callers are kept in each of two generations, in about 600 bytes each.
const mostKnown = 128 << 10

// callerCache keeps the callers that were read, as long as no key and no account changes. The older generation
// goes when the newer one is full, so that those in use stay. A key that doesn't exist is never kept.
type callerCache struct {
	mu         sync.RWMutex
	changes    uint64 // of the store, when these were read
	young, old map[task.Hash]*cachedCaller
	owners     map[string]account.Account // of these, so that keys of one account share its memory
}

// cachedCaller is a caller, and the second of its last use that was noted.
type cachedCaller struct {
	Caller
	used atomic.Int64
}

func (k *callerCache) get(h task.Hash, changes uint64) (*cachedCaller, bool) {
	k.mu.RLock()
	r, ok := k.young[h]
	aged := !ok && k.old[h] != nil
	ok = ok && k.changes == changes
	k.mu.RUnlock()
	if aged {
		return k.renew(h, changes)
	}
	return r, ok
}

// renew moves a caller to the newer generation.
func (k *callerCache) renew(h task.Hash, changes uint64) (*cachedCaller, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.old[h]
	if !ok || k.changes != changes {
		return nil, false
	}
	delete(k.old, h)
	k.addLocked(h, r)
	return r, true
}

// put keeps a caller that was read after the given number of changes.
func (k *callerCache) put(h task.Hash, r *cachedCaller, changes uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changes > changes {
		return
	}
	if k.changes < changes || k.owners == nil {
		k.changes, k.young, k.old, k.owners = changes, nil, nil, map[string]account.Account{}
	}
	if owner, ok := k.owners[r.Account.ID]; ok {
		r.Account = owner
	} else {
		k.owners[r.Account.ID] = r.Account
	}
	k.addLocked(h, r)
}

func (k *callerCache) addLocked(h task.Hash, r *cachedCaller) {
	if len(k.young) >= mostKnown {
		k.young, k.old = nil, k.young
		clear(k.owners)
	}
	if k.young == nil {
		k.young = map[task.Hash]*cachedCaller{}
	}
	k.young[h] = r
}
