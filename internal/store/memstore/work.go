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
	if !db.live(c.Node) {
		return nil, store.ErrFenced
	}
	n := db.nodes[c.Node]
	if c.Number > 0 && c.Number == n.claim {
		return db.standing(n.claimed), nil
	}
	leases := db.claim(c)
	if c.Number > 0 {
		n.claim, n.claimed = c.Number, nil
		for _, l := range leases {
			n.claimed = append(n.claimed, l.Ref)
		}
	}
	return leases, nil
}

func (db *DB) claim(c store.ClaimRequest) (leases []store.Lease) {
	for len(leases) < c.Limit {
		ready := slices.DeleteFunc(db.all(), func(t *task.Task) bool { return !db.claimable(t, c.Lines) })
		if len(ready) == 0 {
			break
		}
		t := slices.MinFunc(ready, func(a, b *task.Task) int {
			return cmp.Or(
				cmp.Compare(db.turns[a.Scope.Account], db.turns[b.Scope.Account]),
				cmp.Compare(a.Scope.Account, b.Scope.Account),
				cmp.Compare(a.ID, b.ID),
			)
		})
		db.turn++
		db.turns[t.Scope.Account] = db.turn
		db.epoch++
		l := lease{node: c.Node, epoch: db.epoch}
		if !db.urgent(t) {
			l.place, _ = db.place(t, c.Lines)
		}
		db.leases[t.ID] = l
		delete(db.pauses, t.ID)
		leases = append(leases, store.Lease{
			Ref: store.LeaseRef{TaskID: t.ID, Epoch: db.epoch}, Task: db.tasks[t.ID].copy(), Left: t.DeadlineAt.Sub(db.now()),
		})
	}
	return leases
}

// standing returns those of the leases that haven't ended.
func (db *DB) standing(refs []store.LeaseRef) (leases []store.Lease) {
	for _, ref := range refs {
		if db.held(ref.TaskID) && db.leases[ref.TaskID].epoch == ref.Epoch {
			t := db.tasks[ref.TaskID].copy()
			leases = append(leases, store.Lease{Ref: ref, Task: t, Left: t.DeadlineAt.Sub(db.now())})
		}
	}
	return leases
}

// leaseOf returns the lease of the task if the node that first names has it.
func (db *DB) leaseOf(t task.Task, first *store.First) *store.Lease {
	if first == nil || db.leases[t.ID].node != first.Node {
		return nil
	}
	for _, l := range db.standing([]store.LeaseRef{{TaskID: t.ID, Epoch: db.leases[t.ID].epoch}}) {
		return &l
	}
	return nil
}

// claimable is the sentence in ClaimRequest's comment.
func (db *DB) claimable(t *task.Task, lines []store.Line) bool {
	if t.State.Terminal() || db.held(t.ID) || db.now().Before(db.pauses[t.ID]) {
		return false
	}
	_, placed := db.place(t, lines)
	return placed || db.urgent(t)
}

func (db *DB) urgent(t *task.Task) bool {
	return t.OpenAttempt() != nil || !db.now().Before(t.DeadlineAt) || t.CancelRequested
}

// place returns the place that the task would take up in its line; false if it is missing.
func (db *DB) place(t *task.Task, lines []store.Line) (keys []string, ok bool) {
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
	return ok && db.live(l.node)
}

// live reports whether the node has a session.
func (db *DB) live(name string) bool {
	n, ok := db.nodes[name]
	return ok && db.now().Before(n.expires)
}

// Renew implements store.Store.
func (db *DB) Renew(ctx context.Context, name string, term time.Duration) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	n, ok := db.nodes[name]
	if ok && !db.live(name) {
		return store.ErrFenced
	}
	if !ok {
		n = &node{}
		db.nodes[name] = n
	}
	n.expires = db.now().Add(term)
	return nil
}

// leased returns the task that ref has the right to work on, or ErrFenced. again: the write that ref names was made
// already, and no other lease was granted since.
func (db *DB) leased(ref store.LeaseRef) (t task.Task, again bool, _ error) {
	r, ok := db.tasks[ref.TaskID]
	if !ok {
		return task.Task{}, false, store.ErrFenced
	}
	t = r.copy()
	held := db.held(ref.TaskID)
	mine := held && db.leases[ref.TaskID].epoch == ref.Epoch
	switch {
	case ref.Repeats(&t) && (mine || !held):
		return t, true, nil
	case !mine:
		return task.Task{}, false, store.ErrFenced
	default:
		return t, false, nil
	}
}

// BeginAttempt implements store.Store.
func (db *DB) BeginAttempt(ctx context.Context, ref store.LeaseRef, p task.Plan) (task.Task, error) {
	if err := db.lock(ctx); err != nil {
		return task.Task{}, err
	}
	defer db.mu.Unlock()
	before, again, err := db.leased(ref)
	if err != nil || again {
		return before, err
	}
	t, err := store.Begin(before, p, db.wall())
	if err != nil {
		return task.Task{}, err
	}
	if !store.Room(p.Caps, db.inFlight) {
		return task.Task{}, store.ErrRouteFull
	}
	ref.Sign(&t)
	return t, db.save(before, t)
}

// Advance implements store.Store.
func (db *DB) Advance(ctx context.Context, ref store.LeaseRef, s store.Step) (task.Task, error) {
	if err := db.lock(ctx); err != nil {
		return task.Task{}, err
	}
	defer db.mu.Unlock()
	before, again, err := db.leased(ref)
	if err != nil || again {
		return before, err
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
	ref.Sign(&t)
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
	s.Removed += db.sweepWebhooks(db.wall(), limit-s.Removed)
	s.Disabled = db.disableFull(r, db.wall())
	return s, nil
}

// sweepTasks removes at most limit tasks and counters that are over since before the given time, and
// returns how many.
func (db *DB) sweepTasks(before time.Time, limit int) (removed int) {
	for _, t := range db.all() {
		if removed < limit && t.State.Terminal() && t.UpdatedAt.Before(before) && (db.Keep == nil || !db.Keep(db.tasks[t.ID].copy())) {
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
