package operator

import (
	"context"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/gate"
	"unitask/internal/store"
	"unitask/internal/task"
)

// budgetHolders is the active accounts that have budgets, and the live keys of active accounts that do, oldest first.
type budgetHolders struct {
	changes  uint64 // of keys and accounts, before they were read
	accounts []account.Account
	keys     []account.Key
}

// budgetHolders returns those of now, and reads the store only after a change of a key or an account. They must not be
// changed.
func (o *Operator) budgetHolders(ctx context.Context) (*budgetHolders, error) {
	changes := o.Store.Changes() // before they are read: a change meanwhile has the next look read them again
	if h := o.holders.Load(); h != nil && h.changes == changes {
		return h, nil
	}
	accounts, err := o.Store.ListAccounts(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := o.Store.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	h := &budgetHolders{changes: changes}
	active := map[string]bool{}
	for _, a := range accounts {
		if state, _ := a.State(); state != account.Active {
			continue
		}
		if active[a.ID] = true; a.Limits.Budget > 0 {
			h.accounts = append(h.accounts, a)
		}
	}
	for _, k := range keys {
		if active[k.Account] && k.Mode == task.Live && k.RevokedAt == nil && k.Limits.Budget > 0 {
			h.keys = append(h.keys, k)
		}
	}
	o.holders.Store(h)
	return h, nil
}

// open returns the keys that are usable at the given time. Of those whose spending counts against one and the same budget,
// as within the overlap of a rotation, it is the newest.
func (h *budgetHolders) open(now time.Time) (keys []account.Key) {
	type shared struct {
		counter store.Counter
		amount  task.Money
	}
	seen := map[shared]bool{}
	for _, k := range slices.Backward(h.keys) {
		of := shared{gate.KeyBudget(k, now), k.Limits.Budget}
		if k.Usable(now) && !seen[of] {
			seen[of] = true
			keys = append(keys, k)
		}
	}
	slices.Reverse(keys)
	return keys
}
