package gateway

import (
	"context"
	"errors"
	"time"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// Offer is a capability that the caller may call now, with its price.
type Offer struct {
	Capability catalog.Capability
	Price      task.Price
}

// Directory returns the capabilities that there are, whoever they are open to.
func (g *Gateway) Directory() *catalog.Catalog { return g.catalog.Load() }

// Capabilities returns the capabilities that are open on the account, in the key's scope, and served; sorted by name.
func (g *Gateway) Capabilities(c gate.Caller) []Offer {
	routes := g.routes.Load()
	offers := []Offer{}
	for _, entry := range g.catalog.Load().All() {
		if !c.Opens(entry.Name) || !routes.Serves(c.Key.Mode, entry.Name) {
			continue
		}
		if voices := routes.Voices(c.Key.Mode, entry.Name); voices != nil {
			entry = entry.WithExamples("voice", voices)
		}
		size := routing.Estimate(entry, 0, entry.Example, nil)
		offers = append(offers, Offer{entry, routes.ListPrice(c.Key.Mode, entry.Name, size)})
	}
	return offers
}

// Get returns a task of the caller's account, mode and scope, or NOT_FOUND.
func (g *Gateway) Get(ctx context.Context, c gate.Caller, id string) (task.Task, error) {
	if !task.ValidID(task.PrefixTask, id) {
		return task.Task{}, storeFault(store.ErrNotFound)
	}
	t, err := g.store.GetTask(ctx, c.Scope(), id)
	if err == nil && !account.Allows(c.Key.Scopes, t.Capability) {
		err = store.ErrNotFound
	}
	return t, storeFault(err)
}

// Await returns the task once its revision differs from since (nil: from the one at arrival), it is
// terminal, or wait has passed.
func (g *Gateway) Await(ctx context.Context, c gate.Caller, id string, since *int64, wait time.Duration) (task.Task, error) {
	changed, stop := g.store.Wake(id)
	defer stop()
	t, err := g.Get(ctx, c, id)
	if err != nil {
		return t, err
	}
	from := t.Revision
	if since != nil {
		from = *since
	}
	return g.await(ctx, t, changed, wait, func(t task.Task) bool { return t.Revision != from })
}

// awaitEnd waits for a task's terminal state.
func (g *Gateway) awaitEnd(ctx context.Context, t task.Task, wait time.Duration) (task.Task, error) {
	changed, stop := g.store.Wake(t.ID)
	defer stop()
	t, err := g.store.GetTask(context.WithoutCancel(ctx), t.Scope, t.ID)
	if err != nil {
		return t, storeFault(err)
	}
	return g.await(ctx, t, changed, wait, func(task.Task) bool { return false })
}

// recheck is how often a waiting reader looks by itself: wakes are best effort.
const recheck = time.Second

func (g *Gateway) await(
	ctx context.Context, t task.Task, changed <-chan struct{}, wait time.Duration, enough func(task.Task) bool,
) (task.Task, error) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	again := time.NewTicker(recheck)
	defer again.Stop()
	for !t.State.Terminal() && !enough(t) {
		select {
		case <-deadline.C:
			return t, nil
		case <-ctx.Done():
			return t, nil // the caller is gone
		case <-g.haltCtx.Done():
			if !t.Sync {
				return t, nil // a server going down answers its waiting readers
			}
			select {
			case <-changed:
			case <-deadline.C:
				return t, nil
			case <-ctx.Done():
				return t, nil
			case <-g.abortCtx.Done():
				return t, nil
			}
		case <-changed:
		case <-again.C:
		}
		var err error
		if t, err = g.store.GetTask(context.WithoutCancel(ctx), t.Scope, t.ID); err != nil {
			return t, storeFault(err)
		}
	}
	return t, nil
}

// ListQuery selects tasks of the caller's account, mode and scope.
type ListQuery struct {
	Capability   string
	State        task.State
	KeyID        string
	Code         fault.Code
	Metadata     task.Metadata // all of these pairs
	Kept         bool          // as in store.ListQuery
	Since, Until time.Time     // as in store.ListQuery
	Limit        int
	Cursor       string
	OldestFirst  bool
}

// List returns a page of tasks, newest first by default.
func (g *Gateway) List(ctx context.Context, c gate.Caller, q ListQuery) (store.Page, error) {
	if q.Cursor != "" && !task.ValidID(task.PrefixTask, q.Cursor) {
		return store.Page{}, fault.Invalid("cursor", "is not one that a list returned")
	}
	page, err := g.store.ListTasks(ctx, store.ListQuery{
		Scope: c.Scope(), Scopes: c.Key.Scopes, Capability: q.Capability, State: q.State, KeyID: q.KeyID, Code: q.Code,
		Metadata: q.Metadata, Kept: q.Kept, Since: q.Since, Until: q.Until, Limit: q.Limit, Cursor: q.Cursor, OldestFirst: q.OldestFirst,
	})
	return page, storeFault(err)
}

// cancelWait is how long Cancel waits for a worker to stop, so that most answers say "canceled".
const cancelWait = 2 * time.Second

// Cancel asks for a task's end and returns the task as it then is; a terminal task stays as it was.
func (g *Gateway) Cancel(ctx context.Context, c gate.Caller, id string) (task.Task, error) {
	t, err := g.Get(ctx, c, id)
	if err != nil || t.State.Terminal() {
		return t, err
	}
	t, err = g.requestCancel(ctx, t)
	if err != nil || t.State == task.Canceled {
		return t, err
	}
	return g.awaitEnd(ctx, t, cancelWait)
}

// CancelQueued cancels a task that waits, without waiting for a worker that has just claimed it, and reports whether it
// did: one that has begun, or is gone, is left alone.
func (g *Gateway) CancelQueued(ctx context.Context, s task.Scope, id string) (bool, error) {
	t, err := g.store.GetTask(ctx, s, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil || t.State != task.Queued {
		return false, storeFault(err)
	}
	_, err = g.requestCancel(ctx, t)
	return err == nil, err
}

// requestCancel cancels a task or has its worker stop.
func (g *Gateway) requestCancel(ctx context.Context, before task.Task) (task.Task, error) {
	t, err := g.store.RequestCancel(ctx, before.Scope, before.ID)
	if errors.Is(err, store.ErrUnknown) {
		t, err = g.store.RequestCancel(ctx, before.Scope, before.ID)
	}
	switch {
	case err != nil:
		return t, storeFault(err)
	case t.State == task.Canceled:
		g.observe(&before, &t)
		g.eraseInputs(ctx, before)
	default:
		g.interrupt(t.ID)
	}
	return t, nil
}
