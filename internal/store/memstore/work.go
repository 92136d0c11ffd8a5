package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Claim implements store.Store.
func (db *DB) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	var leases []store.Lease
	for len(leases) < c.Limit {
		ready := slices.DeleteFunc(db.all(), func(t task.Task) bool { return !db.claimable(t, c.Lines) })
		if len(ready) == 0 {
			break
		}
		t := slices.MinFunc(ready, func(a, b task.Task) int {
			return cmp.Or(
				cmp.Compare(db.turns[a.Scope.Account], db.turns[b.Scope.Account]),
				cmp.Compare(a.Scope.Account, b.Scope.Account),
				cmp.Compare(a.ID, b.ID),
			)
		})
		db.turn++
		db.turns[t.Scope.Account] = db.turn
		db.epoch++
		l := lease{node: c.Node, epoch: db.epoch, expires: db.now().Add(c.Term)}
		if !db.urgent(t) {
			l.place, _ = db.place(t, c.Lines)
		}
		db.leases[t.ID] = l
		delete(db.pauses, t.ID)
		leases = append(leases, store.Lease{
			Ref: store.LeaseRef{TaskID: t.ID, Epoch: db.epoch}, Task: t, Left: t.DeadlineAt.Sub(db.now()),
		})
	}
	return leases, nil
}

// claimable is the sentence in ClaimRequest's comment.
func (db *DB) claimable(t task.Task, lines []store.Line) bool {
	if t.State.Terminal() || db.held(t.ID) || db.now().Before(db.pauses[t.ID]) {
		return false
	}
	_, placed := db.place(t, lines)
	return placed || db.urgent(t)
}

func (db *DB) urgent(t task.Task) bool {
	return t.OpenAttempt() != nil || !db.now().Before(t.DeadlineAt) || t.CancelRequested
}

// place returns the place that the task would take up in its line; false if it is missing.
func (db *DB) place(t task.Task, lines []store.Line) (keys []string, ok bool) {
	for _, l := range lines {
		if l.Mode == t.Scope.Mode && l.Capability == t.Capability {
			if keys, ok = l.Place(db.inUse); ok {
				return keys, true
			}
		}
	}
	return nil, false
}

func (db *DB) held(id string) bool {
	l, ok := db.leases[id]
	return ok && db.now().Before(l.expires)
}

// Renew implements store.Store.
func (db *DB) Renew(ctx context.Context, node string, term time.Duration) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	for id, l := range db.leases {
		if l.node == node && db.held(id) {
			l.expires = db.now().Add(term)
			db.leases[id] = l
		}
	}
	return nil
}

// leased returns the task that ref has the right to work on, or ErrFenced.
func (db *DB) leased(ref store.LeaseRef) (task.Task, error) {
	if !db.held(ref.TaskID) || db.leases[ref.TaskID].epoch != ref.Epoch {
		return task.Task{}, store.ErrFenced
	}
	return decode(db.tasks[ref.TaskID]), nil
}

// BeginAttempt implements store.Store.
func (db *DB) BeginAttempt(ctx context.Context, ref store.LeaseRef, p task.Plan) (task.Task, error) {
	if err := db.lock(ctx); err != nil {
		return task.Task{}, err
	}
	defer db.mu.Unlock()
	before, err := db.leased(ref)
	if err != nil {
		return task.Task{}, err
	}
	t, err := store.Begin(before, p, db.wall())
	if err != nil {
		return task.Task{}, err
	}
	if !store.Room(p.Caps, db.inFlight) {
		return task.Task{}, store.ErrRouteFull
	}
	return t, db.save(before, t)
}

// Advance implements store.Store.
func (db *DB) Advance(ctx context.Context, ref store.LeaseRef, s store.Step) (task.Task, error) {
	if err := db.lock(ctx); err != nil {
		return task.Task{}, err
	}
	defer db.mu.Unlock()
	before, err := db.leased(ref)
	if err != nil {
		return task.Task{}, err
	}
	t, changed, err := s.Apply(before, db.wall())
	if err != nil {
		return task.Task{}, err
	}
	if s.Release != nil {
		delete(db.leases, t.ID)
		db.pauses[t.ID] = db.now().Add(*s.Release)
		db.bell.Ring(store.TopicQueue)
	}
	if !changed {
		return t, nil
	}
	return t, db.save(before, t)
}

// RequestCancel implements store.Store.
func (db *DB) RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	if err := db.lock(ctx); err != nil {
		return task.Task{}, err
	}
	defer db.mu.Unlock()
	before, err := db.get(s, id)
	if err != nil {
		return task.Task{}, err
	}
	t, changed, err := store.Cancel(before, db.held(id), db.wall())
	if err != nil || !changed {
		return t, err
	}
	return t, db.save(before, t)
}

// MarkShown implements store.Store.
func (db *DB) MarkShown(ctx context.Context, shown []task.Task) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	for _, s := range shown {
		before, err := db.get(s.Scope, s.ID)
		if err != nil {
			continue
		}
		if t, changed := store.Show(before, s); changed {
			if err := db.save(before, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sweep implements store.Store.
func (db *DB) Sweep(ctx context.Context, r store.SweepRequest) (store.Swept, error) {
	if err := db.lock(ctx); err != nil {
		return store.Swept{}, err
	}
	defer db.mu.Unlock()
	limit := max(r.Limit, 1)
	var s store.Swept
	if r.Retention > 0 {
		s.Removed = db.sweepTasks(db.now().Add(-r.Retention), limit)
	}
	s.Removed += db.sweepUsage(r.Usage, limit-s.Removed)
	s.Removed += db.sweepSessions(limit - s.Removed)
	return s, nil
}

// sweepTasks removes at most limit tasks and counters that are over since before the given time, and
// returns how many.
func (db *DB) sweepTasks(before time.Time, limit int) (removed int) {
	for _, t := range db.all() {
		if removed < limit && t.State.Terminal() && t.UpdatedAt.Before(before) {
			delete(db.tasks, t.ID)
			removed++
		}
	}
	for c, end := range db.ends {
		if removed < limit && end.Before(before) {
			delete(db.counters, c)
			delete(db.ends, c)
			removed++
		}
	}
	return removed
}
