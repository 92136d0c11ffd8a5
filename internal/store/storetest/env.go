package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// env is one test's engine with short forms of common operations.
type env struct {
	*testing.T
	Engine
	clock *Clock
	node  string // with a session
	names int    // it had so far
}

func newEnv(t *testing.T, open Open) *env {
	clock := NewClock()
	e := &env{T: t, Engine: open(t, clock.Now), clock: clock}
	e.session()
	return e
}

// session begins a session under a new name.
func (e *env) session() {
	e.Helper()
	e.names++
	e.node = fmt.Sprint("node-", e.names)
	e.wantErr("Renew", e.Store.Renew(e.Context(), e.node, term), nil)
}

// lapse lets so much time pass that the session runs out, and begins another.
func (e *env) lapse(d time.Duration) {
	e.Helper()
	e.clock.Advance(d)
	e.session()
}

var acme = task.Scope{Account: "acct_acme", Mode: task.Live}

const (
	chat  = "text.chat"
	image = "image.generate"
	term  = time.Minute // of a session
)

// hashOf returns a hash that stands for the text.
func hashOf(text string) (h task.Hash) {
	copy(h[:], text)
	return h
}

// request returns a new chat task of acme under the idempotency key, an hour before its deadline.
func (e *env) request(key string) store.NewTask {
	e.clock.Advance(time.Millisecond) // ids sort by the millisecond
	return store.NewTask{
		ID: task.NewID(task.PrefixTask, e.clock.Now()), Scope: acme, KeyID: "key_1", Capability: chat,
		IdempotencyHash: hashOf(key), Fingerprint: hashOf("request"),
		Input: json.RawMessage(`{"prompt":"<a & b>"}`), Deadline: time.Hour,
	}
}

func (e *env) create(n store.NewTask) store.Created {
	e.Helper()
	c, err := e.Store.CreateTask(e.Context(), n)
	if err != nil {
		e.Fatalf("CreateTask: %v", err)
	}
	return c
}

// first asks for the lease of a new task, and for its start by one of the plans.
func (e *env) first(plans ...task.Plan) *store.First { return &store.First{Node: e.node, Plans: plans} }

func (e *env) claim(limit int, capabilities ...string) []store.Lease {
	e.Helper()
	leases, err := e.Store.Claim(e.Context(), store.ClaimRequest{Node: e.node, Lines: lines(capabilities...), Limit: limit})
	if err != nil {
		e.Fatalf("Claim: %v", err)
	}
	return leases
}

// lines returns the lines of live tasks, without places.
func lines(capabilities ...string) []store.Line {
	var out []store.Line
	for _, c := range capabilities {
		out = append(out, store.Line{Mode: task.Live, Capability: c})
	}
	return out
}

// claimOne claims the one task that can be claimed.
func (e *env) claimOne(capabilities ...string) store.Lease {
	e.Helper()
	leases := e.claim(10, capabilities...)
	if len(leases) != 1 {
		e.Fatalf("Claim: got %d leases, want 1", len(leases))
	}
	return leases[0]
}

func (e *env) begin(l store.Lease, p task.Plan) task.Task {
	e.Helper()
	t, err := e.Store.BeginAttempt(e.Context(), l.Ref, p)
	if err != nil {
		e.Fatalf("BeginAttempt: %v", err)
	}
	return t
}

func (e *env) advance(l store.Lease, s store.Step) task.Task {
	e.Helper()
	t, err := e.Store.Advance(e.Context(), l.Ref, s)
	if err != nil {
		e.Fatalf("Advance: %v", err)
	}
	return t
}

func (e *env) get(id string) task.Task {
	e.Helper()
	t, err := e.Store.GetTask(e.Context(), acme, id)
	if err != nil {
		e.Fatalf("GetTask: %v", err)
	}
	return t
}

// held reads a counter through a hold that can't be taken.
func (e *env) held(scope string, kind task.HoldKind) int64 {
	e.Helper()
	n := e.request("held " + scope + string(kind))
	n.Holds = []task.Hold{{Scope: scope, Kind: kind, Amount: math.MaxInt64, Limit: 1}}
	_, err := e.Store.CreateTask(e.Context(), n)
	he, ok := errors.AsType[*store.HoldError](err)
	if !ok {
		e.Fatalf("CreateTask with an impossible hold: got %v, want a *HoldError", err)
	}
	read, err := e.Registry.Held(e.Context(), []store.Counter{{Scope: scope + " without", Kind: kind}, {Scope: scope, Kind: kind}})
	e.wantErr("Held", err, nil)
	e.wantSame("Held of an unused counter and of "+scope, read, []int64{0, he.Held})
	return he.Held
}

func (e *env) wantErr(what string, got, want error) {
	e.Helper()
	if !errors.Is(got, want) {
		e.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

func (e *env) wantSame(what string, got, want any) {
	e.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// plan returns a plan for a supplier with an in-flight limit, 0 for no limit.
func plan(supplier string, limit int) task.Plan {
	return task.Plan{
		Supplier: supplier, Model: "m", Reason: "cheapest",
		Caps: []task.Cap{{Key: "supplier:" + supplier, Limit: limit}},
	}
}

func closing(s task.AttemptState) *task.Closing {
	c := &task.Closing{State: s}
	if s != task.OK {
		c.Code = fault.ProviderTimeout
	}
	return c
}

// failed is a step that ends a task in a failure that may be retried, with its open attempt.
func failed(s task.AttemptState) store.Step {
	return store.Step{
		Close: closing(s),
		Moves: []task.Transition{task.Fail(task.FailureOf(fault.New(fault.ProviderTimeout, "no answer in time")))},
	}
}

// succeeded is a step that ends a running task well.
func succeeded(u task.Usage) store.Step {
	return store.Step{
		Close: closing(task.OK),
		Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"hello"}`)}, u)},
	}
}

func ids(tasks []task.Task) []string {
	var out []string
	for _, t := range tasks {
		out = append(out, t.ID)
	}
	return out
}

func leaseIDs(leases []store.Lease) []string {
	var out []string
	for _, l := range leases {
		out = append(out, l.Task.ID)
	}
	return out
}

// background is for calls that outlive a test's own context.
func background() context.Context { return context.Background() }
