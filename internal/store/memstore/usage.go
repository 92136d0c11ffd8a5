package memstore

import (
	"context"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// count brings the sums of usage along.
func (db *DB) count(before, after *task.Task) {
	store.UsageChanges(before, after, func(c store.UsageChange) {
		sums, by := db.usage[c.UsageKey].Numbers(), c.By.Numbers()
		store.AddSums(sums[:], by[:])
		db.usage[c.UsageKey] = store.UsageOf(sums)
	})
	store.SpendChanges(before, after, func(c store.SpendChange) {
		sums, by := db.spend[c.SpendKey].Numbers(), c.By.Numbers()
		store.AddSums(sums[:], by[:])
		db.spend[c.SpendKey] = store.SpendOf(sums)
	})
}

// EachUsage implements store.UsageLog.
func (db *DB) EachUsage(ctx context.Context, q store.UsageQuery, visit func(store.UsageKey, store.Usage) bool) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	for k, u := range db.usage {
		if q.Holds(k.Account, k.Day) && q.HoldsPair(k.Pair) && !visit(k, u) {
			return nil
		}
	}
	return nil
}

// EachSpend implements store.UsageLog.
func (db *DB) EachSpend(ctx context.Context, q store.UsageQuery, visit func(store.SpendKey, store.Spend) bool) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	for k, s := range db.spend {
		if q.Holds(k.Supplier, k.Day) && !visit(k, s) {
			return nil
		}
	}
	return nil
}

// sweepUsage removes at most limit sums of days that ended longer ago than kept, and returns how many.
func (db *DB) sweepUsage(kept time.Duration, limit int) (removed int) {
	if kept <= 0 {
		return 0
	}
	first := account.DateOf(db.now().Add(-kept))
	for k := range db.usage {
		if removed < limit && k.Day < first {
			delete(db.usage, k)
			removed++
		}
	}
	for k := range db.spend {
		if removed < limit && k.Day < first {
			delete(db.spend, k)
			removed++
		}
	}
	return removed
}
