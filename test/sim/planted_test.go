package sim_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// plantedFault is a fault that a control puts into the service; the zero plantedFault is no fault.
type plantedFault struct {
	resubmits bool // every supplier seems to honour keys
	unfenced  bool // leases aren't kept, and a stale one is as good as a fresh one
	late      bool // an intent is written after its submission
	forgets   bool // a crash reverts the latest acknowledged writes
	presumes  bool // a failure counts as shown before it was
	trusts    bool // texts count as clean if the moderation supplier couldn't be asked
}

// reshape has leases run out in the middle of submissions if they are without effect, and every text reviewed
// if reviews are.
func (p plantedFault) reshape(s *shape) {
	if p.unfenced {
		s.nodes, s.lease, s.incidents = 2, time.Second, nil
	}
	if p.trusts {
		s.review = strict
	}
}

// image returns the database that a crash leaves if the engine forgets; nil for the files as they are.
func (p plantedFault) image(w *world) dbImage {
	if !p.forgets {
		return nil
	}
	return w.image()
}

// wrap returns the engine with the planted's fault.
func (p plantedFault) wrap(n *node, s store.Store) store.Store {
	switch {
	case p.unfenced:
		return unfencedStore{s, n.w, new(atomic.Int64)}
	case p.late:
		return &lateStore{Store: s, plans: map[string]task.Plan{}}
	case p.presumes:
		return presumingStore{s}
	default:
		return s
	}
}

// presumingStore counts every failure that a POST finds as shown.
type presumingStore struct{ store.Store }

func (e presumingStore) FindTask(ctx context.Context, s task.Scope, h task.Hash) (task.Task, error) {
	t, err := e.Store.FindTask(ctx, s, h)
	if err != nil || !t.Unshown() {
		return t, err
	}
	return t.Show(), e.MarkShown(ctx, []task.Task{t})
}

// unfencedStore lets every earlier holder of a task's lease write under the latest one, and renews no session although
// it reports success: a worker that knew would stop by itself. It begins another instead, for the leases from then on.
type unfencedStore struct {
	store.Store
	w        *world
	sessions *atomic.Int64
}

// node returns the name that the node's present session is under.
func (e unfencedStore) node(name string) string { return fmt.Sprint(name, "/", e.sessions.Load()) }

func (e unfencedStore) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	if n.First != nil {
		n.First = &store.First{Node: e.node(n.First.Node), Plans: n.First.Plans}
	}
	c, err := e.Store.CreateTask(ctx, n)
	if err == nil && c.Lease != nil {
		e.w.epochs.Store(c.Lease.Ref.TaskID, c.Lease.Ref)
	}
	return c, err
}

func (e unfencedStore) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	c.Node = e.node(c.Node)
	leases, err := e.Store.Claim(ctx, c)
	for _, l := range leases {
		e.w.epochs.Store(l.Ref.TaskID, l.Ref)
	}
	return leases, err
}

// latest returns the lease to write under. A worker with a stale task would write
// for ever: it is fenced off in the end.
func (e unfencedStore) latest(r store.LeaseRef) store.LeaseRef {
	const most = 5
	lease := store.LeaseRef{TaskID: r.TaskID, Epoch: r.Epoch}
	tries, _ := e.w.stale.LoadOrStore(lease, new(atomic.Int64))
	l, ok := e.w.epochs.Load(r.TaskID)
	if !ok || l == lease || tries.(*atomic.Int64).Add(1) > most {
		return r
	}
	return l.(store.LeaseRef)
}

func (e unfencedStore) Renew(ctx context.Context, name string, term time.Duration) error {
	e.sessions.Add(1)
	return e.Store.Renew(ctx, e.node(name), term)
}

func (e unfencedStore) BeginAttempt(ctx context.Context, r store.LeaseRef, p task.Plan) (task.Task, error) {
	return e.Store.BeginAttempt(ctx, e.latest(r), p)
}

func (e unfencedStore) Advance(ctx context.Context, r store.LeaseRef, s store.Step) (task.Task, error) {
	return e.Store.Advance(ctx, e.latest(r), s)
}

// lateStore pretends to write an intent and does so with the step that follows the submission.
type lateStore struct {
	store.Store

	mu    sync.Mutex
	plans map[string]task.Plan // by task, of the intents not yet written
	tasks sync.Map
}

func (e *lateStore) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	if n.First != nil {
		n.First = &store.First{Node: n.First.Node}
	}
	c, err := e.Store.CreateTask(ctx, n)
	if err == nil {
		e.tasks.Store(c.Task.ID, c.Task)
	}
	return c, err
}

func (e *lateStore) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	leases, err := e.Store.Claim(ctx, c)
	for _, l := range leases {
		e.tasks.Store(l.Ref.TaskID, l.Task)
	}
	return leases, err
}

func (e *lateStore) BeginAttempt(_ context.Context, r store.LeaseRef, p task.Plan) (task.Task, error) {
	held, _ := e.tasks.Load(r.TaskID)
	t, err := store.Begin(held.(task.Task), p, time.Now().UTC().Round(0))
	if err != nil {
		return t, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.plans[r.TaskID] = p
	return t, nil
}

func (e *lateStore) Advance(ctx context.Context, r store.LeaseRef, s store.Step) (task.Task, error) {
	e.mu.Lock()
	p, due := e.plans[r.TaskID]
	delete(e.plans, r.TaskID)
	e.mu.Unlock()
	if due {
		begun := store.LeaseRef{TaskID: r.TaskID, Epoch: r.Epoch} // the number is the step's
		if t, err := e.Store.BeginAttempt(ctx, begun, p); err != nil {
			return t, err
		}
	}
	t, err := e.Store.Advance(ctx, r, s)
	if err == nil {
		e.tasks.Store(t.ID, t)
	}
	return t, err
}
