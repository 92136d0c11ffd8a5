package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// script is an adapter that does as its test says and counts what it was paid for.
type script struct {
	mu       sync.Mutex
	submits  []string // submit keys, in order
	polls    int
	cancels  int
	submitFn func(n int, r supplier.Request) (supplier.Outcome, error)
	pollFn   func(n int, j supplier.Job) (supplier.Outcome, error)
}

func (s *script) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	s.mu.Lock()
	s.submits = append(s.submits, r.SubmitKey)
	n := len(s.submits)
	s.mu.Unlock()
	if ctx.Err() != nil {
		return supplier.Outcome{}, supplier.NewError(supplier.NotSent, fault.ProviderTimeout, "too late", ctx.Err())
	}
	return s.submitFn(n, r)
}

func (s *script) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.submits...)
}

// jobs is a script whose supplier answers with jobs.
type jobs struct{ *script }

func (j jobs) Poll(ctx context.Context, job supplier.Job) (supplier.Outcome, error) {
	if ctx.Err() != nil {
		return supplier.Outcome{}, supplier.NewError(supplier.NotSent, fault.ProviderTimeout, "too late", ctx.Err())
	}
	j.mu.Lock()
	j.polls++
	n := j.polls
	j.mu.Unlock()
	return j.pollFn(n, job)
}

func (j jobs) Cancel(context.Context, supplier.Job) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancels++
	return nil
}

// keyed is a script whose supplier honours the submit key.
type keyed struct{ jobs }

func (keyed) HonorsSubmitKey() bool { return true }

// findable is a script whose supplier can be asked after a submission.
type findable struct {
	jobs
	found bool
}

func (f findable) Find(_ context.Context, key string) (supplier.Job, bool, error) {
	return supplier.Job{ID: "found " + key}, f.found, nil
}

func text(s string) supplier.Outcome {
	return supplier.Outcome{Result: &supplier.Result{
		Text: &s, FinishReason: "stop", Usage: supplier.Usage{InputTokens: 10, OutputTokens: 20},
	}}
}

func answer(s string) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(int, supplier.Request) (supplier.Outcome, error) { return text(s), nil }
}

func refuse(sent supplier.Sent, code fault.Code) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(int, supplier.Request) (supplier.Outcome, error) {
		return supplier.Outcome{}, supplier.NewError(sent, code, "as the test says", nil)
	}
}

func job(id string) func(int, supplier.Request) (supplier.Outcome, error) {
	return func(int, supplier.Request) (supplier.Outcome, error) {
		return supplier.Outcome{Job: &supplier.Job{ID: id, PollAfter: time.Second}}, nil
	}
}

func running(id string) supplier.Outcome {
	return supplier.Outcome{Job: &supplier.Job{ID: id, PollAfter: time.Second}}
}

func picture(t *testing.T) supplier.Outcome {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 8, 4))); err != nil {
		t.Fatal(err)
	}
	return supplier.Outcome{Result: &supplier.Result{Files: []supplier.File{{ContentType: "image/png", Data: buf.Bytes()}}}}
}

// noFetch is a fetcher for tests that fetch nothing.
type noFetch struct{}

func (noFetch) Fetch(context.Context, artifact.FetchRequest) (*artifact.Fetched, error) {
	return nil, errors.New("nothing is fetched here")
}

// world is a gateway over an in-memory store with scripted suppliers.
type world struct {
	t         *testing.T
	store     *memstore.DB
	artifacts artifact.Store
	routes    []routing.Route
	limits    gateway.Limits
	g         *gateway.Gateway
	caller    gate.Caller
}

// route is a live route of a capability at so many USD per million tokens or per image.
func route(name catalog.Name, supplierName string, price task.Money, a supplier.Adapter) routing.Route {
	p := task.Price{Unit: task.PerMillionTokens, Input: price, Output: price}
	if name != "text.chat" {
		p = task.Price{Unit: task.PerImage, Output: price}
	}
	return routing.Route{Capability: name, Supplier: supplierName, Model: "m", Price: p, Approved: true, Mode: task.Live, Adapter: a}
}

// inWorld runs a test in a bubble of virtual time, with a started gateway.
func inWorld(t *testing.T, routes []routing.Route, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, routes)
		w.start()
		defer w.stop()
		f(w)
	})
}

func newWorld(t *testing.T, routes []routing.Route) *world {
	t.Helper()
	folder, err := artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: memstore.New(time.Now), artifacts: folder, routes: routes}
	a := account.Account{ID: task.NewID(task.PrefixAccount, time.Now()), Name: "default", CreatedAt: time.Now()}
	secret := account.NewKeySecret("svc", task.Live)
	k := account.Key{
		ID: task.NewID(task.PrefixKey, time.Now()), Account: a.ID, Mode: task.Live, Hash: account.HashSecret(secret),
		Limits: account.Limits{OpenTasks: -1},
	}
	if err := w.store.PutAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if err := w.store.PutKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	w.caller = gate.Caller{Key: k, Account: a}
	return w
}

// start makes another gateway over the same store, as a restart would.
func (w *world) start() {
	w.t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		w.t.Fatal(err)
	}
	table, err := routing.NewTable(w.routes, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	guard, err := gate.New(gate.Config{Keys: w.store, Prefix: "svc"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.g, err = gateway.New(gateway.Config{
		Catalog: directory, Store: w.store, Gate: guard, Routes: table, Artifacts: w.artifacts, Fetcher: noFetch{}, Limits: w.limits,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.g.Start()
}

func (w *world) stop() {
	w.t.Helper()
	if err := w.g.Shutdown(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

const chat = `{"capability":"text.chat","input":{"prompt":"hello"}}`

const paint = `{"capability":"image.generate","input":{"prompt":"a fox"}}`

// create submits and fails the test on a refusal.
func (w *world) create(key, body string, wait time.Duration) gateway.Accepted {
	w.t.Helper()
	a, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: key, Body: []byte(body), Wait: &wait})
	if err != nil {
		w.t.Fatalf("create: %v", err)
	}
	return a
}

// end waits for a task's terminal state.
func (w *world) end(id string) task.Task {
	w.t.Helper()
	for {
		got, err := w.g.Await(w.t.Context(), w.caller, id, nil, time.Hour)
		if err != nil {
			w.t.Fatal(err)
		}
		if got.State.Terminal() {
			return got
		}
	}
}

func codeOf(t task.Task) fault.Code {
	if t.Failure == nil {
		return ""
	}
	return t.Failure.Code
}

func attemptStates(t task.Task) []task.AttemptState {
	var states []task.AttemptState
	for _, a := range t.Attempts {
		states = append(states, a.State)
	}
	return states
}

func publicStates(t task.Task) []task.State {
	var states []task.State
	for _, m := range t.Timeline {
		states = append(states, m.State)
	}
	return states
}

var (
	_ supplier.Poller   = jobs{}
	_ supplier.Canceler = jobs{}
	_ supplier.Finder   = findable{}
)
