package gateway_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// tampered is an engine that its test stands before; a nil func lets every call through.
type tampered struct {
	store.Store
	createFunc  func(create func() (store.Created, error)) (store.Created, error)
	claimFunc   func(claim func() ([]store.Lease, error)) ([]store.Lease, error)
	renewFunc   func(ctx context.Context, renew func() error) error
	getFunc     func() // before a task is read
	beginFunc   func(begin call) (task.Task, error)
	advanceFunc func(s store.Step, advance call) (task.Task, error)
}

// call is a write on its way to the engine.
type call func() (task.Task, error)

func (e *tampered) CreateTask(ctx context.Context, n store.NewTask) (store.Created, error) {
	create := func() (store.Created, error) { return e.Store.CreateTask(ctx, n) }
	if e.createFunc != nil {
		return e.createFunc(create)
	}
	return create()
}

func (e *tampered) Claim(ctx context.Context, c store.ClaimRequest) ([]store.Lease, error) {
	claim := func() ([]store.Lease, error) { return e.Store.Claim(context.WithoutCancel(ctx), c) }
	if e.claimFunc != nil {
		return e.claimFunc(claim)
	}
	return claim()
}

func (e *tampered) Renew(ctx context.Context, node string, term time.Duration) error {
	renew := func() error { return e.Store.Renew(context.WithoutCancel(ctx), node, term) }
	if e.renewFunc != nil {
		return e.renewFunc(ctx, renew)
	}
	return renew()
}

func (e *tampered) GetTask(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	if e.getFunc != nil {
		e.getFunc()
	}
	return e.Store.GetTask(ctx, s, id)
}

func (e *tampered) BeginAttempt(ctx context.Context, r store.LeaseRef, p task.Plan) (task.Task, error) {
	begin := func() (task.Task, error) { return e.Store.BeginAttempt(ctx, r, p) }
	if e.beginFunc != nil {
		return e.beginFunc(begin)
	}
	return begin()
}

func (e *tampered) Advance(ctx context.Context, r store.LeaseRef, s store.Step) (task.Task, error) {
	advance := func() (task.Task, error) { return e.Store.Advance(ctx, r, s) }
	if e.advanceFunc != nil {
		return e.advanceFunc(s, advance)
	}
	return advance()
}

// refusals answers the first calls with an error and counts them.
type refusals struct {
	err error

	mu   sync.Mutex
	left int
}

// or returns the error while there are refusals left, else does the call.
func (r *refusals) or(do call) (task.Task, error) {
	r.mu.Lock()
	refuse := r.left > 0
	if refuse {
		r.left--
	}
	r.mu.Unlock()
	if refuse {
		return task.Task{}, r.err
	}
	return do()
}

// unused returns how many refusals weren't used.
func (r *refusals) unused() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

// slowFiles is an artifact store that takes its time: to keep a result, and to delete.
type slowFiles struct {
	artifact.Store
	keep, remove time.Duration
}

func (s slowFiles) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	if task.ValidID(task.PrefixArtifact, r.ID) {
		select {
		case <-time.After(s.keep):
		case <-ctx.Done():
			return artifact.Meta{}, ctx.Err()
		}
	}
	return s.Store.Put(ctx, r)
}

func (s slowFiles) Delete(ctx context.Context, id string) error {
	time.Sleep(s.remove)
	return s.Store.Delete(ctx, id)
}

// badFiles is an artifact store that keeps no file before a moment and answers with err until then.
type badFiles struct {
	artifact.Store
	until time.Time
	err   error
}

func (f badFiles) Put(ctx context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	if time.Now().Before(f.until) {
		return artifact.Meta{}, f.err
	}
	return f.Store.Put(ctx, r)
}

// fetcher brings the same bytes from every address and counts; takes is how long each fetch lasts.
type fetcher struct {
	data  []byte
	takes time.Duration

	mu       sync.Mutex
	failures int // left
	fetches  int
}

func (f *fetcher) Fetch(ctx context.Context, _ artifact.FetchRequest) (*artifact.Fetched, error) {
	f.mu.Lock()
	f.fetches++
	fails := f.failures > 0
	f.failures = max(f.failures-1, 0)
	f.mu.Unlock()
	select {
	case <-time.After(f.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if fails {
		return nil, fault.New(fault.ProviderUnavailable, "no connection")
	}
	return &artifact.Fetched{ReadCloser: io.NopCloser(bytes.NewReader(f.data))}, nil
}

func (f *fetcher) RefusesURL(string) string { return "" }

func (f *fetcher) fetched() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fetches
}
