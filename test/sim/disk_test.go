package sim_test

import (
	"context"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// disk is the engine as one node has it: slow now and then, full for a while, its answers lost as if it were beyond a
// network, and gone when the node dies. A write under way at that moment may have been applied.
type disk struct {
	store.Store
	n *node
}

// write makes one write, or one claim, at the disk's present speed, and maybe with a failure. A dead node's
// writes never reach the engine. No two writes begin at one moment: the seed decides their order.
func write[T any](d disk, kind, about string, refusable bool, do func() (T, error)) (T, error) {
	var none T
	if d.n.dead.Load() {
		return none, store.ErrFenced
	}
	d.n.thaw()
	lost, made := false, false
	rng := d.n.w.choices.of("disk/"+kind, d.n.name+about, time.Now().UnixNano())
	time.Sleep(between(rng, 1, time.Microsecond))
	if !d.n.w.calm.Load() {
		if pause := d.n.w.shape.slow; pause > 0 && oneIn(rng, 4) {
			time.Sleep(between(rng, 0, pause))
		}
		if refusable && d.n.w.full() {
			return none, store.ErrFull
		}
		lost, made = d.n.w.loses(rng), oneIn(rng, 2)
	}
	d.n.crashPoint(beforeWrite)
	if d.n.dead.Load() {
		return none, store.ErrFenced
	}
	if lost && !made {
		return none, store.ErrUnknown
	}
	out, err := do()
	d.n.crashPoint(afterWrite)
	if d.n.dead.Load() {
		return none, store.ErrFenced
	}
	if lost {
		return none, store.ErrUnknown
	}
	return out, err
}

func (d disk) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	return write(d, "create", n.IdempotencyHash.String(), true, func() (store.Created, error) { return d.Store.CreateTask(ctx, n) })
}

func (d disk) BeginAttempt(ctx context.Context, r store.LeaseRef, p task.Plan) (task.Task, error) {
	return write(d, "begin", r.TaskID, true, func() (task.Task, error) { return d.Store.BeginAttempt(ctx, r, p) })
}

func (d disk) Advance(ctx context.Context, r store.LeaseRef, s store.Step) (task.Task, error) {
	return write(d, "advance", r.TaskID, true, func() (task.Task, error) { return d.Store.Advance(ctx, r, s) })
}

func (d disk) RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	return write(d, "cancel", id, true, func() (task.Task, error) { return d.Store.RequestCancel(ctx, s, id) })
}

func (d disk) MarkShown(ctx context.Context, shown []task.Task) error {
	_, err := write(d, "shown", shown[0].ID, true, func() (struct{}, error) { return struct{}{}, d.Store.MarkShown(ctx, shown) })
	return err
}

func (d disk) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	return write(d, "claim", "", false, func() ([]store.Lease, error) { return d.Store.Claim(ctx, c) })
}

func (d disk) Renew(ctx context.Context, name string, term time.Duration) error {
	_, err := write(d, "renew", "", false, func() (struct{}, error) { return struct{}{}, d.Store.Renew(ctx, name, term) })
	return err
}

func (d disk) Sweep(ctx context.Context, r store.SweepRequest) (store.Swept, error) {
	return write(d, "sweep", "", true, func() (store.Swept, error) { return d.Store.Sweep(ctx, r) })
}

func (d disk) FindTask(ctx context.Context, s task.Scope, h task.Hash) (task.Task, error) {
	if d.n.dead.Load() {
		return task.Task{}, errDead
	}
	d.n.thaw()
	return d.Store.FindTask(ctx, s, h)
}

func (d disk) GetTask(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	if d.n.dead.Load() {
		return task.Task{}, errDead
	}
	d.n.thaw()
	return d.Store.GetTask(ctx, s, id)
}

// keyring is the keys' part of the engine as a node has it.
type keyring struct {
	store.Callers
	n *node
}

func (k keyring) MarkUsed(ctx context.Context, at map[string]time.Time) error {
	if k.n.dead.Load() {
		return store.ErrFenced
	}
	return k.Callers.MarkUsed(ctx, at)
}
