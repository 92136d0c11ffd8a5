package boltstore

import (
	"context"
	"errors"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Claim implements store.Store. It costs no commit: leases end with the process, and no epoch is
// given twice, because each start counts a session in the file.
func (db *DB) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	var leases []store.Lease
	err := db.do(ctx, &op{run: func(x *txn) error {
		leases = nil
		s := x.session(c.Node)
		if s == nil {
			return store.ErrFenced
		}
		if c.Number > 0 && c.Number == s.claim {
			leases = x.standing(s.claimed)
			return nil
		}
		var err error
		leases, err = x.claim(s, c)
		return err
	}})
	if err != nil {
		return nil, err
	}
	return leases, nil
}

func (x *txn) claim(s *session, c store.ClaimRequest) (leases []store.Lease, _ error) {
	var given []claimedLease
	for len(leases) < c.Limit {
		classes, places := x.db.index.open(c.Lines)
		e := x.db.index.next(classes)
		if e == nil {
			break
		}
		t, err := x.load(e.row)
		if err != nil {
			return nil, err
		}
		l := &lease{session: s, epoch: x.db.nextEpoch(), task: &t}
		if !e.urgent(x.now) {
			l.position = places[e.of.Value().line]
		}
		x.serve(e.tenant)
		x.replace(e, e.leased(l, 0))
		leases, given = append(leases, x.given(e, l)), append(given, claimedLease{e.row, l.epoch})
	}
	if c.Number > 0 {
		x.remember(s, c.Number, given)
	}
	return leases, nil
}

// open returns the classes that a claim may take from now, and the place that the next task of each
// line takes up.
func (x *index) open(lines []store.Line) (classes []string, places map[string][]string) {
	classes, places = append(make([]string, 0, len(lines)+1), urgentClass), map[string][]string{}
	for _, l := range lines {
		class := lineOf(l.Mode, l.Capability)
		if _, twice := places[class]; twice || x.classes[class] == nil {
			continue // or no task waits there
		}
		if place, ok := l.Place(x.inUse); ok {
			classes, places[class] = append(classes, class), place
		}
	}
	return classes, places
}

// serve gives the tenant a turn, undoably.
func (x *txn) serve(t *tenant) {
	old := t.served
	x.db.index.served++
	x.db.index.serve(t, x.db.index.served)
	x.undo.note(changed{back: func() { x.db.index.serve(t, old) }})
}

// BeginAttempt implements store.Store.
func (db *DB) BeginAttempt(ctx context.Context, ref store.LeaseRef, p task.Plan) (task.Task, error) {
	var t task.Task
	err := db.do(ctx, &op{writes: true, run: func(x *txn) error {
		e, l, err := x.leaseFor(ref, &t)
		if err != nil || e == nil {
			return err
		}
		if t, err = store.Begin(*l.task, p, x.wall); err != nil {
			return err
		}
		if !store.Room(p.Caps, x.inFlight) {
			return store.ErrRouteFull
		}
		ref.Sign(&t)
		return x.save(e.row, l.task, &t, l, 0)
	}})
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// Advance implements store.Store.
func (db *DB) Advance(ctx context.Context, ref store.LeaseRef, s store.Step) (task.Task, error) {
	a, ok := db.advances.Get().(*advance)
	if !ok {
		a = &advance{}
		a.run = a.advance
	}
	a.writes, a.ref, a.step = true, ref, s
	err := db.do(ctx, &a.op)
	t := a.task
	*a = advance{op: op{run: a.run}}
	db.advances.Put(a)
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// advance is an Advance and its result, as creation is of a CreateTask.
type advance struct {
	op
	ref  store.LeaseRef
	step store.Step
	task task.Task
}

func (a *advance) advance(x *txn) error {
	e, l, err := x.leaseFor(a.ref, &a.task)
	if err != nil || e == nil {
		return err
	}
	var changed bool
	if a.task, changed, err = a.step.Apply(*l.task, x.wall); err != nil {
		return err
	}
	if changed {
		a.ref.Sign(&a.task)
	}
	after := &a.task
	if !after.State.Terminal() {
		after = new(a.task) // the lease keeps it
	}
	before, pause := l.task, tick(0)
	if a.step.Release != nil {
		l, pause = nil, x.now.after(*a.step.Release)
		x.wake(store.TopicQueue)
	}
	if changed {
		return x.save(e.row, before, after, l, pause)
	}
	if a.step.Release != nil {
		x.replace(e, e.leased(nil, pause))
	}
	return nil
}

// leaseFor returns the entry and the lease that ref names; ErrFenced if it was lost. If the write that ref names was
// made already and no other lease was granted since, made is set to the task, and the entry is nil.
func (x *txn) leaseFor(ref store.LeaseRef, made *task.Task) (*openTask, *lease, error) {
	row, ok := parseID(ref.TaskID)
	if !ok {
		return nil, nil, store.ErrFenced
	}
	if e := x.db.index.tasks[row]; e != nil {
		switch l := x.db.index.leaseOf(e); {
		case l != nil && l.epoch != ref.Epoch:
			return nil, nil, store.ErrFenced
		case l != nil && ref.Repeats(l.task):
			*made = *l.task
			return nil, nil, nil
		case l != nil:
			return e, l, nil
		}
	}
	if ref.Write == 0 {
		return nil, nil, store.ErrFenced
	}
	t, err := x.load(row)
	if errors.Is(err, store.ErrNotFound) || err == nil && !ref.Repeats(&t) {
		return nil, nil, store.ErrFenced
	}
	*made = t
	return nil, nil, err
}

// RequestCancel implements store.Store.
func (db *DB) RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	row, ok := parseID(id)
	if !ok {
		return task.Task{}, store.ErrNotFound
	}
	var t task.Task
	err := db.do(ctx, &op{writes: true, run: func(x *txn) error {
		before, err := x.load(row)
		if err != nil {
			return err
		}
		if before.Scope != s {
			return store.ErrNotFound
		}
		var l *lease
		e := db.index.tasks[row]
		if e != nil {
			l = db.index.leaseOf(e)
		}
		var changed bool
		if t, changed, err = store.Cancel(before, l != nil, x.wall); err != nil || !changed {
			return err
		}
		return x.save(row, &before, &t, l, pauseOf(e))
	}})
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// MarkShown implements store.Store.
func (db *DB) MarkShown(ctx context.Context, shown []task.Task) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		for i := range shown {
			if err := x.markShown(&shown[i]); err != nil {
				return err
			}
		}
		return nil
	}})
}

func (x *txn) markShown(shown *task.Task) error {
	row, ok := parseID(shown.ID)
	if !ok {
		return nil
	}
	before, err := x.load(row)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	t, changed := store.Show(before, *shown)
	if !changed {
		return nil
	}
	return x.save(row, &before, &t, nil, 0)
}

func pauseOf(e *openTask) tick {
	if e == nil {
		return 0
	}
	return e.pause
}
