package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/node"
	"unitask/internal/policy"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// noFetch is a fetcher for tests without a fetch.
type noFetch struct{}

func (noFetch) Fetch(context.Context, artifact.FetchRequest) (*artifact.Fetched, error) {
	return nil, errors.New("nothing is fetched here")
}

func (noFetch) RefusesURL(string) string { return "" }

// world is a gateway over an in-memory store with scripted suppliers. A test sets members before start.
type world struct {
	t         *testing.T
	store     *memstore.DB
	engine    store.Store // the gateway's view of the store
	folder    string      // the artifacts' folder
	artifacts artifact.Store
	fetcher   gateway.Fetcher
	now       func() time.Time
	routes    []routing.Route
	prices    map[catalog.Name]task.Price // of callers
	limits    gateway.Limits
	policy    *policy.Policy
	address   string // of its nodes, for each other
	log       *slog.Logger
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
	inWorldWith(t, gateway.Limits{}, routes, f)
}

// inWorldWith is inWorld with limits.
func inWorldWith(t *testing.T, limits gateway.Limits, routes []routing.Route, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, routes)
		w.limits = limits
		w.start()
		defer func() {
			w.stop()
			if n := gateway.Followed(w.g); n != 0 {
				t.Errorf("%d texts are kept for nobody", n)
			}
		}()
		f(w)
	})
}

func newWorld(t *testing.T, routes []routing.Route) *world {
	t.Helper()
	return newWorldAt(t, routes, time.Now)
}

// newWorldAt is newWorld on a clock of the test's own.
func newWorldAt(t *testing.T, routes []routing.Route, now func() time.Time) *world {
	t.Helper()
	w := &world{t: t, folder: t.TempDir(), store: memstore.New(now), fetcher: noFetch{}, now: now, routes: routes}
	w.engine = w.store
	var err error
	if w.artifacts, err = artifact.NewFolder(artifact.FolderConfig{Dir: w.folder}); err != nil {
		t.Fatal(err)
	}
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
	w.g = w.node()
}

// node starts a gateway beside those that run already.
func (w *world) node() *gateway.Gateway {
	w.t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		w.t.Fatal(err)
	}
	_, g, err := node.NewGateway(node.Parts{
		Catalog: directory, Store: w.engine, Keys: w.store, Suppliers: node.Suppliers{Routes: w.routes, Prices: w.prices, Policy: w.policy},
		Artifacts: w.artifacts, Fetcher: w.fetcher, Limits: node.Limits{Gateway: w.limits}, KeyPrefix: "svc", Now: w.now, Runs: "a test", Address: w.address, Logger: w.log,
		StateSecret: []byte("a secret of a store, of 32 bytes."[:gateway.StateSecretSize]),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	g.Start()
	return g
}

func (w *world) stop() { mustStop(w.t, w.g) }

func mustStop(t *testing.T, g *gateway.Gateway) {
	t.Helper()
	if err := g.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
}

const chat = `{"capability":"text.chat","input":{"prompt":"hello"}}`

const paint = `{"capability":"image.generate","input":{"prompt":"a fox"}}`

// edit is a request whose picture is inline.
func edit(t *testing.T) string {
	t.Helper()
	return editOf(`{"content_type":"image/png","data":"` + base64.StdEncoding.EncodeToString(mustPNG(t)) + `"}`)
}

// editByURL is a request whose picture is at an address.
var editByURL = editOf(`{"url":"https://example.com/a.png"}`)

func editOf(media string) string {
	return `{"capability":"image.edit","input":{"prompt":"a fox","images":[` + media + `],"authorization":{"person":"none"}}}`
}

// leave records a task with an open intent on the first route, as a crash between the commit and the
// answer leaves it behind.
func (w *world) leave(capability, input string) store.Lease {
	w.t.Helper()
	dead := task.NewID("node_", time.Now())
	if err := w.store.Renew(w.t.Context(), dead, time.Minute); err != nil {
		w.t.Fatal(err)
	}
	return w.beginAt(dead, capability, input)
}

// beginAt has a node with a session begin a task on the first route.
func (w *world) beginAt(node, capability, input string) store.Lease {
	w.t.Helper()
	created, err := w.store.CreateTask(w.t.Context(), store.NewTask{
		ID: task.NewID(task.PrefixTask, time.Now()), Scope: w.caller.Scope(), Capability: capability,
		IdempotencyHash: sha256.Sum256([]byte(input)), Input: []byte(input), Parameters: []byte(`{}`), Deadline: time.Hour,
		First: &store.First{Node: node, Plans: []task.Plan{routing.Choice{Route: &w.routes[0]}.Plan(nil)}},
	})
	if err != nil || created.Task.OpenAttempt() == nil {
		w.t.Fatalf("%+v %v", created, err)
	}
	return *created.Lease
}

// create submits, fails the test on a refusal, and has read the answer.
func (w *world) create(key, body string, wait time.Duration) gateway.Accepted {
	w.t.Helper()
	a := w.submit(key, body, wait)
	w.g.Show(a.Task).End(true)
	return a
}

// submit is create by a caller that gets no answer.
func (w *world) submit(key, body string, wait time.Duration) gateway.Accepted {
	w.t.Helper()
	a, err := w.g.Create(w.t.Context(), w.caller, gateway.Submission{IdempotencyKey: key, Body: []byte(body), Wait: &wait})
	if err != nil {
		w.t.Fatalf("create: %v", err)
	}
	return a
}

// end waits for a task's terminal state, two days at most: no deadline is as far away.
func (w *world) end(id string) task.Task {
	w.t.Helper()
	var got task.Task
	for until := time.Now().Add(48 * time.Hour); time.Now().Before(until); {
		var err error
		if got, err = w.g.Await(w.t.Context(), w.caller, id, nil, time.Hour); err != nil {
			w.t.Fatal(err)
		}
		if got.State.Terminal() {
			w.g.Show(got).End(true)
			return got
		}
	}
	w.t.Fatalf("the task stays %s: %+v", got.State, outcomeOf(got))
	return got
}

// get returns the task as it is stored.
func (w *world) get(id string) task.Task {
	w.t.Helper()
	got, err := w.store.GetTask(w.t.Context(), w.caller.Scope(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// cancel asks the given gateway for the task's end.
func (w *world) cancel(g *gateway.Gateway, id string) task.Task {
	w.t.Helper()
	got, err := g.Cancel(w.t.Context(), w.caller, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// outcome is how a task stands, for its caller and in the ledger.
type outcome struct {
	State  task.State
	Code   fault.Code
	Cost   task.Money
	Ledger []attemptOutcome
}

// attemptOutcome is one attempt without its times and texts.
type attemptOutcome struct {
	Supplier    string
	State       task.AttemptState
	Code        fault.Code
	Cost        task.Money
	CostUnknown bool
}

func outcomeOf(t task.Task) outcome {
	o := outcome{State: t.State, Code: codeOf(t), Cost: t.Cost}
	for _, a := range t.Attempts {
		o.Ledger = append(o.Ledger, attemptOutcome{a.Supplier, a.State, a.Code, a.Cost, a.CostUnknown})
	}
	return o
}

// expect compares a task's state with the expected one.
func (w *world) expect(got task.Task, want outcome) {
	w.t.Helper()
	if diff := cmp.Diff(want, outcomeOf(got)); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", got.ID, diff)
	}
}

// expectSent compares the submissions at a supplier with the submit keys that are due.
func (w *world) expectSent(s *script, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, s.keys(), cmpopts.EquateEmpty()); diff != "" {
		w.t.Errorf("submissions (-want +got):\n%s", diff)
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
