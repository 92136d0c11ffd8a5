package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// client is a supplier as one node reaches it.
type client struct {
	n *node
	f simSupplier
}

// The adapters: each class is a type, because the gateway distinguishes them by type.
type (
	plainClient      struct{ client }
	keyedClient      struct{ plainClient }
	findingClient    struct{ plainClient }
	jobClient        struct{ plainClient }
	findingJobClient struct{ jobClient }
	keyedJobClient   struct{ jobClient }
)

var (
	_ supplier.KeyHonorer = keyedClient{}
	_ supplier.Finder     = findingClient{}
	_ supplier.Poller     = findingClient{}
	_ supplier.Canceler   = jobClient{}
	_ supplier.Finder     = findingJobClient{}
	_ supplier.KeyHonorer = keyedJobClient{}
)

func (d plainClient) Submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	return d.submit(ctx, r)
}

func (d findingClient) Poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	return d.poll(ctx, j)
}

func (d jobClient) Poll(ctx context.Context, j supplier.Job) (supplier.Outcome, error) {
	return d.poll(ctx, j)
}
func (d jobClient) Cancel(ctx context.Context, j supplier.Job) error { return d.cancel(ctx, j) }

func (d findingClient) Find(ctx context.Context, key string) (supplier.Job, bool, error) {
	return d.find(ctx, key)
}

func (d findingJobClient) Find(ctx context.Context, key string) (supplier.Job, bool, error) {
	return d.find(ctx, key)
}

func (keyedClient) HonorsSubmitKey() bool    { return true }
func (keyedJobClient) HonorsSubmitKey() bool { return true }

// adapter returns the supplier's adapter on the node. A planted fault treats every supplier as one that
// honours keys.
func adapter(n *node, f simSupplier) supplier.Adapter {
	plain := plainClient{client{n, f}}
	switch {
	case f.jobs && (f.dedupes || n.w.planted.resubmits):
		return keyedJobClient{jobClient{plain}}
	case f.jobs && f.finds:
		return findingJobClient{jobClient{plain}}
	case f.jobs:
		return jobClient{plain}
	case f.dedupes || n.w.planted.resubmits:
		return keyedClient{plain}
	case f.finds:
		return findingClient{plain}
	default:
		return plain
	}
}

var (
	errDead = errors.New("the node is dead")
	errWire = errors.New("the connection broke")
)

func lost(code fault.Code) error {
	return supplier.NewError(supplier.Unknown, code, "no answer", errWire)
}

func refused(sent supplier.Sent, code fault.Code) *supplier.Error {
	return supplier.NewError(sent, code, "refused", nil)
}

// exchangeTime is the longest that a supplier is waited for.
const exchangeTime = time.Minute

// travel waits d; it fails if ctx or the node ends first.
func (d client) travel(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if d.n.dead.Load() {
		return errDead
	}
	return nil
}

// submit sends one request through a network and to a supplier that behave as the seed decides.
func (d client) submit(ctx context.Context, r supplier.Request) (supplier.Outcome, error) {
	key := keyOf(r.Input)
	u := d.n.w.up
	rng := d.n.w.choices.of("submit/"+d.f.name, key, u.count(d.f, key))
	d.n.crashPoint(beforeSubmit)
	if err := d.travel(ctx, between(rng, time.Millisecond, 50*time.Millisecond)); err != nil {
		return supplier.Outcome{}, supplier.NewError(supplier.NotSent, fault.ProviderTimeout, "too late", err)
	}
	if err := d.refusal(rng, key, r.SubmitKey); err != nil {
		return supplier.Outcome{}, err
	}
	p := u.arrive(d.f, key, r.SubmitKey, d.begin(rng, key, r.SubmitKey))
	d.n.crashPoint(afterSubmit)
	switch n := rng.IntN(100); {
	case d.n.dead.Load():
		return supplier.Outcome{}, lost(fault.ProviderUnavailable)
	case d.n.w.calm.Load():
	case n < 5: // the answer is lost
		_ = d.travel(ctx, between(rng, 0, time.Second))
		return supplier.Outcome{}, lost(fault.ProviderUnavailable)
	case n < 8: // no answer comes
		_ = d.travel(ctx, exchangeTime)
		return supplier.Outcome{}, lost(fault.ProviderTimeout)
	case n < 11: // the answer makes no sense
		return supplier.Outcome{}, supplier.NewError(supplier.Unknown, fault.ProviderUnavailable, "malformed", nil)
	case n < 12:
		panic("an adapter's mistake")
	}
	if d.f.jobs || (d.f.finds && oneIn(rng, 3)) {
		return supplier.Outcome{Job: &supplier.Job{ID: r.SubmitKey, PollAfter: d.advice(rng)}}, nil
	}
	if err := d.travel(ctx, min(time.Until(p.endsAt), exchangeTime)); err != nil || time.Now().Before(p.endsAt) {
		return supplier.Outcome{}, lost(fault.ProviderTimeout)
	}
	if p.fate != succeeds {
		return supplier.Outcome{}, refused(supplier.Refused, fault.ProviderUnavailable)
	}
	return d.result(p), nil
}

// refusal is an exchange that begins no work: the network fails before it, or the supplier declines.
func (d client) refusal(rng *rand.Rand, key, submitKey string) error {
	n := rng.IntN(100)
	if d.n.w.calm.Load() {
		return nil
	}
	switch {
	case n < 4:
		return refused(supplier.NotSent, fault.ProviderUnavailable)
	case n < 7:
		return lost(fault.ProviderUnavailable) // before it arrived
	case n >= 22:
		return nil
	}
	d.n.w.up.arrive(d.f, key, submitKey, nil)
	switch {
	case n < 12:
		e := refused(supplier.Refused, fault.CapacityExhausted)
		if oneIn(rng, 3) {
			e.RetryAfter = between(rng, time.Second, 6*time.Second)
		}
		if oneIn(rng, 100) {
			e.RetryAfter = 1e9 * time.Second
		}
		return e
	case n < 16:
		return refused(supplier.Refused, fault.ProviderUnavailable)
	case n < 18:
		return refused(supplier.Refused, fault.InvalidRequest)
	case n < 19:
		e := refused(supplier.Refused, fault.ProviderUnavailable)
		e.Operator = oneIn(rng, 10)
		return e
	case n < 21:
		return refused(supplier.Unknown, fault.ProviderTimeout) // a proxy gave up
	default:
		return refused(supplier.Refused, fault.ContentPolicyViolation)
	}
}

// begin draws the work of a submission that arrives now.
func (d client) begin(rng *rand.Rand, key, submitKey string) *workItem {
	p := &workItem{supplier: d.f, key: key, submitKey: submitKey}
	p.usage.InputTokens, p.usage.OutputTokens = 10+rng.Int64N(90), 1+rng.Int64N(200)
	takes := between(rng, 50*time.Millisecond, 3*time.Second)
	if d.f.jobs {
		p.usage = supplier.Usage{Images: 1}
		takes = between(rng, time.Second, 15*time.Second)
	}
	switch n := rng.IntN(1000); {
	case d.n.w.calm.Load() || !d.f.jobs && n < 985:
	case n < 900:
	case n < 950:
		p.fate = fails
	case n < 980:
		p.fate = vanishes
	case n < 996:
		takes = between(rng, d.n.w.shape.deadline*7/8, d.n.w.shape.deadline*4/3) // done about or after the deadline
	default:
		p.fate = never
	}
	if !d.f.jobs && p.fate != succeeds {
		p.fate, takes = succeeds, between(rng, 2*time.Minute, 20*time.Minute)
	}
	p.endsAt = time.Now().Add(takes)
	return p
}

// advice is the supplier's polling interval; 0: it has no advice.
func (d client) advice(rng *rand.Rand) time.Duration {
	if oneIn(rng, 2) {
		return 0
	}
	return between(rng, time.Second, 4*time.Second)
}

// keyOf returns the task's key from its prompt.
func keyOf(input json.RawMessage) string {
	var in struct {
		Prompt string `json:"prompt"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		panic(err)
	}
	return strings.TrimPrefix(in.Prompt, promptOf(""))
}

func promptOf(key string) string { return "the task " + key }

func answerTo(key string) string { return "the answer to " + key }
