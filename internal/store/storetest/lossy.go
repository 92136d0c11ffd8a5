package storetest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Lossy returns the engine with every third answer lost: the call was made, or it wasn't. It loses those alone that the
// same call finds out about again: a call without its number, and a step that only gives a lease back, it leaves alone.
func Lossy(s store.Store, rng *rand.Rand) store.Store { return &lossy{Store: s, rng: rng} }

type lossy struct {
	store.Store

	mu  sync.Mutex
	rng *rand.Rand
}

func lose[T any](l *lossy, again bool, call func() (T, error)) (T, error) {
	l.mu.Lock()
	n := l.rng.IntN(6)
	l.mu.Unlock()
	var none T
	if again && n == 0 {
		return none, store.ErrUnknown
	}
	out, err := call()
	if again && n == 1 {
		return none, store.ErrUnknown
	}
	return out, err
}

func (l *lossy) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	return lose(l, true, func() (store.Created, error) { return l.Store.CreateTask(ctx, n) })
}

func (l *lossy) RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	return lose(l, true, func() (task.Task, error) { return l.Store.RequestCancel(ctx, s, id) })
}

func (l *lossy) MarkShown(ctx context.Context, shown []task.Task) error {
	_, err := lose(l, true, func() (struct{}, error) { return struct{}{}, l.Store.MarkShown(ctx, shown) })
	return err
}

func (l *lossy) Renew(ctx context.Context, node string, term time.Duration) error {
	_, err := lose(l, true, func() (struct{}, error) { return struct{}{}, l.Store.Renew(ctx, node, term) })
	return err
}

func (l *lossy) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	return lose(l, c.Number > 0, func() ([]store.Lease, error) { return l.Store.Claim(ctx, c) })
}

func (l *lossy) BeginAttempt(ctx context.Context, ref store.LeaseRef, p task.Plan) (task.Task, error) {
	return lose(l, ref.Write > 0, func() (task.Task, error) { return l.Store.BeginAttempt(ctx, ref, p) })
}

func (l *lossy) Advance(ctx context.Context, ref store.LeaseRef, s store.Step) (task.Task, error) {
	released := s.Release != nil && s.Close == nil && s.Moves == nil && s.Submitted == nil && !s.Readopt &&
		s.Progress == nil && s.Takeovers == nil
	return lose(l, ref.Write > 0 && !released, func() (task.Task, error) { return l.Store.Advance(ctx, ref, s) })
}

// Persistent returns the engine with each call whose answer was lost made again until there is one.
func Persistent(s store.Store) store.Store { return persistent{s} }

type persistent struct{ store.Store }

func persist[T any](call func() (T, error)) (T, error) {
	for {
		if out, err := call(); kind(err) != kind(store.ErrUnknown) {
			return out, err
		}
	}
}

func (p persistent) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	return persist(func() (store.Created, error) { return p.Store.CreateTask(ctx, n) })
}

func (p persistent) RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	return persist(func() (task.Task, error) { return p.Store.RequestCancel(ctx, s, id) })
}

func (p persistent) MarkShown(ctx context.Context, shown []task.Task) error {
	_, err := persist(func() (struct{}, error) { return struct{}{}, p.Store.MarkShown(ctx, shown) })
	return err
}

func (p persistent) Renew(ctx context.Context, node string, term time.Duration) error {
	_, err := persist(func() (struct{}, error) { return struct{}{}, p.Store.Renew(ctx, node, term) })
	return err
}

func (p persistent) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	return persist(func() ([]store.Lease, error) { return p.Store.Claim(ctx, c) })
}

func (p persistent) BeginAttempt(ctx context.Context, ref store.LeaseRef, plan task.Plan) (task.Task, error) {
	return persist(func() (task.Task, error) { return p.Store.BeginAttempt(ctx, ref, plan) })
}

func (p persistent) Advance(ctx context.Context, ref store.LeaseRef, s store.Step) (task.Task, error) {
	return persist(func() (task.Task, error) { return p.Store.Advance(ctx, ref, s) })
}
