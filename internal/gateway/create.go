package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/bulk"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/policy"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// errStopping refuses tasks while the service goes down; another node or the next start takes them.
var errStopping = fault.New(fault.CapacityExhausted, "the service is restarting").WithRetryAfter(2 * time.Second)

// inlineInput is up to how many bytes an input lives in the task's own record.
const inlineInput = 64 << 10

// Submission is one POST whose headers were checked.
type Submission struct {
	IdempotencyKey string // trimmed, 8 to 128 code points
	Body           []byte
	Release        func()         // called once Body isn't read any more, maybe more than once; nil: not needed
	Wait           *time.Duration // the caller's preference; nil: the capability's own
	Stream         bool           // the caller wants to follow the task
	Unasked        bool           // a library sends it again by itself: a failure of unknown outcome stays as it is
	Background     bool           // the caller reads the task later: it is worked on as an asynchronous one, whatever its capability
	RequestID      string
	Traceparent    string // valid, "" without one
}

// release lets go of the body, and of the memory that it was granted.
func (s *Submission) release() {
	s.Body = nil
	if s.Release != nil {
		s.Release()
	}
}

// Accepted is a task that stands under the key.
type Accepted struct {
	Task     task.Task
	Replayed bool    // it stood there before this request
	Stream   *Stream // if the Submission asks for one; close it
}

// Create accepts a request, joins it to the task under its key, or refuses it without a trace. It
// returns when the task ended, the first text of a stream is there or the wait is over. A task that
// failed is no error here: the caller of Create decides how to show it.
func (g *Gateway) Create(ctx context.Context, c gate.Caller, s Submission) (Accepted, error) {
	defer s.release()
	req, fingerprint, refused := g.decode(s.Body)
	if refused != nil {
		return Accepted{}, refused
	}
	if !account.Allows(c.Key.Scopes, string(req.Capability)) {
		return Accepted{}, notFound() // before the record, so that the answer doesn't reveal it
	}
	key := task.Hash(sha256.Sum256([]byte(s.IdempotencyKey)))
	old, err := g.find(ctx, c.Scope(), key)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return Accepted{}, storeFault(err)
	case old.Fingerprint != fingerprint:
		return Accepted{}, conflict(c, old)
	case !old.Reopenable(), s.Unasked && old.FailedUnknown():
		s.release()
		return g.join(ctx, old, &s)
	}
	checked, err := g.check(ctx, c, &req, true)
	if err != nil {
		return Accepted{}, err
	}
	o, err := g.newTask(ctx, c, req, checked, &s, old.LastUnknown())
	if err != nil {
		return Accepted{}, err
	}
	o.IdempotencyHash, o.Fingerprint, o.Authorization = key, fingerprint, checked.declared
	o.Metadata, o.RequestID, o.Traceparent = req.Metadata, s.RequestID, s.Traceparent
	o.UsageBy = g.usageBy(ctx, c.Scope().Account, o.Metadata)
	o.request.Authorization = declarationOf(checked.declared)
	return g.accept(ctx, c, o, &s)
}

// decode returns the request in a body, and its fingerprint.
func (g *Gateway) decode(body []byte) (catalog.Request, task.Hash, *fault.Error) {
	defer bulk.Turn(len(body))()
	req, refused := catalog.Decode(body, catalog.Limits{Depth: g.limits.Load().JSONDepth})
	if refused != nil {
		return req, task.Hash{}, refused
	}
	return req, req.Fingerprint(), nil
}

func validate(directory *catalog.Catalog, req catalog.Request) *fault.Error {
	defer bulk.Turn(len(req.Input))()
	return directory.Validate(req)
}

// find returns the task under the key. One whose failure is being shown is read once that is recorded.
func (g *Gateway) find(ctx context.Context, s task.Scope, key task.Hash) (task.Task, error) {
	t, err := g.store.FindTask(ctx, s, key)
	if err != nil || !t.Unshown() {
		return t, err
	}
	g.showings.wait(ctx, t.ID)
	return g.store.FindTask(ctx, s, key)
}

// checked is what the checks found out about a request.
type checked struct {
	entry    catalog.Capability
	media    []mediaPlace        // for the supplier, in the input that is kept
	declared *task.Authorization // what its caller says about a person
}

// check judges a caller's request. Which of the operator's content rules refused it stands in the log alone.
func (g *Gateway) check(ctx context.Context, c gate.Caller, req *catalog.Request, evidence bool) (*checked, error) {
	done, err := g.judge(ctx, c, req, evidence)
	if ruled, ok := errors.AsType[*policy.Refusal](err); ok {
		g.log.Info("a content rule refused a request", slog.String("key_id", c.Key.ID), slog.String("capability", string(req.Capability)),
			slog.String("rules", strings.Join(ruled.Rules, " ")))
		return nil, ruled.Fault
	}
	return done, err
}

// judge passes the request through everything between the idempotency record and the commit, in the API's order; the
// error of one that a content rule refuses is a *policy.Refusal. It takes evidence about a person out of the input; it is
// read if the request becomes a task, as the addresses in it are.
func (g *Gateway) judge(ctx context.Context, c gate.Caller, req *catalog.Request, evidence bool) (*checked, error) {
	directory := g.catalog.Load()
	entry, ok := directory.Get(req.Capability)
	if !ok || !c.Opens(req.Capability) || !g.routes.Load().Serves(c.Key.Mode, req.Capability) {
		return nil, notFound()
	}
	if refused := validate(directory, *req); refused != nil {
		return nil, refused
	}
	media := placesOf(entry, req.Input, req.Base64...)
	if err := g.checkMedia(ctx, c, media); err != nil {
		return nil, err
	}
	declared, err := g.authorization(ctx, entry, req.Input, evidence)
	if err != nil {
		return nil, err
	}
	if refused := g.policy.Load().Refuse(entry, req.Input); refused != nil {
		return nil, refused
	}
	if declared != nil {
		req.Input, req.Base64 = catalog.WithoutAuthorization(req.Input), nil
		media = placesOf(entry, req.Input)
	}
	return &checked{entry, media, declared}, nil
}

func notFound() *fault.Error {
	return fault.Invalid("capability", "names no capability that is callable with this key")
}

// accept judges the key and the account once more, for the body may have taken long to arrive, makes the one durable commit and, for a synchronous capability, begins the work.
func (g *Gateway) accept(ctx context.Context, c gate.Caller, o *order, s *Submission) (Accepted, error) {
	if err := g.gate.StillOpen(ctx, c); err != nil {
		g.discard(ctx, o)
		return Accepted{}, err
	}
	created, err := g.commit(ctx, o, s.Stream)
	s.release()
	switch {
	case errors.Is(err, store.ErrConflict):
		return Accepted{}, conflict(c, task.Task{})
	case err != nil:
		return Accepted{}, storeFault(gate.Refusal(err))
	case created.Admit == store.AdmitReplayed:
		return g.join(ctx, created.Task, s)
	}
	wait := g.waitFor(created.Task.Sync, s.Wait)
	switch {
	case created.stream != nil:
		return g.opened(ctx, created.stream, wait, created.Admit)
	case created.end == nil && wait == 0:
		return Accepted{Task: created.Task}, nil // as it was accepted: a worker may have it by now
	case created.end == nil:
		return g.finishWait(ctx, created.Task, wait, created.Admit)
	}
	if t := created.end.wait(ctx, wait); t != nil {
		g.waiters.Put(created.end)
		return Accepted{Task: *t}, nil
	}
	return g.finishWait(ctx, created.Task, 0, created.Admit)
}

// waiter hears of the end of one worker's turn. It serves again once it has heard of it.
type waiter struct {
	done  chan *task.Task // the task as its worker left it
	timer *time.Timer
}

func (g *Gateway) waiter() *waiter {
	if w, ok := g.waiters.Get().(*waiter); ok {
		return w
	}
	return &waiter{done: make(chan *task.Task, 1)}
}

// wait returns the task as its worker left it, nil if it didn't end in time.
func (w *waiter) wait(ctx context.Context, atMost time.Duration) *task.Task {
	if w.timer == nil {
		w.timer = time.NewTimer(atMost)
	} else {
		w.timer.Reset(atMost)
	}
	defer w.timer.Stop()
	select {
	case t := <-w.done:
		return t
	case <-w.timer.C:
	case <-ctx.Done():
	}
	return nil
}

// order is a task to be recorded, with its decoded request, its size and its routes.
type order struct {
	store.NewTask
	request supplier.Request
	size    task.Usage
	choices []routing.Choice
	media   []mediaPlace
	held    *heldInput // nil for an input that is small or stored
	copy    []byte     // of the request, to be kept after the task's end; nil: it isn't
}

// newTask assembles the record: input kept, price frozen, reservation and holds computed. Synchronous
// work has its routes chosen at once, unless it waits for an earlier attempt to be settled by its worker or
// for a moderation supplier, who is asked first.
func (g *Gateway) newTask(
	ctx context.Context, c gate.Caller, req catalog.Request, checked *checked, s *Submission, waits bool,
) (*order, error) {
	routes, entry := g.routes.Load(), checked.entry
	keep, kept := g.copyToKeep(c.Account, req, checked.media)
	size, price, most := priced(routes, c.Key.Mode, &req, checked)
	o := &order{size: size, request: supplier.NewRequest(entry, req.Input, req.Parameters), media: checked.media, copy: kept}
	o.request.Base64 = req.Base64
	o.NewTask = store.NewTask{
		ID: task.NewID(task.PrefixTask, g.now()), Scope: c.Scope(), KeyID: c.Key.ID, Capability: string(req.Capability),
		Sync: entry.Mode == catalog.Sync && !s.Background, Input: req.Input, Parameters: req.Parameters, Deadline: entry.Deadline,
		KeepInput: keep, Price: price, Reserved: most,
	}
	m, texts := g.moderation(c.Key.Mode, entry, req.Input)
	spend := routes.Dearest(c.Key.Mode, req.Capability, size)
	var question task.Plan
	if m != nil {
		question = m.Plan(texts)
		for range moderationTries {
			spend = spend.Add(question.Estimate)
		}
	}
	o.Holds = g.gate.Holds(c, o.Reserved, spend)
	if s := g.session.Load(); o.Sync && g.leaseValid(s.node) {
		o.First = &store.First{Node: s.node}
	}
	if len(req.Input) > inlineInput {
		if err := g.keepApart(ctx, o, g.waitFor(o.Sync, s.Wait)); err != nil {
			return nil, err
		}
	}
	if o.First == nil || waits {
		return o, nil
	}
	if m != nil {
		o.First.Plans = []task.Plan{question}
		return o, nil
	}
	var passed []task.Passed
	o.choices, passed = routes.Choose(routing.Want{
		Mode: c.Key.Mode, Account: c.Account.ID, Capability: req.Capability, Request: o.request, Size: size,
	}, g.health)
	o.First.Plans = routing.Plans(o.choices, passed)
	return o, nil
}

// priced fills in the defaults of a checked request, and returns its size, its price and the most that it can come to.
func priced(routes *routing.Table, mode task.Mode, req *catalog.Request, checked *checked) (size task.Usage, price task.Price, most task.Money) {
	req.Parameters = checked.entry.FillDefaults(req.Parameters)
	size = estimate(checked.entry, len(checked.media), req.Input, req.Parameters, req.Base64...)
	price = routes.ListPrice(mode, req.Capability, size)
	return size, price, price.Most(routes.Bound(mode, req.Capability, size))
}

// Estimate checks a request as Create does, and returns its capability and the most that its task would be charged. It
// keeps no record, counts for no budget, fetches no evidence and asks no supplier.
func (g *Gateway) Estimate(ctx context.Context, c gate.Caller, body []byte) (catalog.Name, task.Money, error) {
	req, _, refused := g.decode(body)
	if refused != nil {
		return "", 0, refused
	}
	checked, err := g.check(ctx, c, &req, false)
	if err != nil {
		return "", 0, err
	}
	_, _, most := priced(g.routes.Load(), c.Key.Mode, &req, checked)
	return req.Capability, most, nil
}

// join waits with a task that stood under the key before this request.
func (g *Gateway) join(ctx context.Context, t task.Task, s *Submission) (Accepted, error) {
	wait := g.waitFor(t.Sync, s.Wait)
	if !s.Stream {
		return g.finishWait(ctx, t, wait, store.AdmitReplayed)
	}
	stream, err := g.followed(ctx, t)
	if err != nil {
		return Accepted{}, err
	}
	return g.opened(ctx, stream, wait, store.AdmitReplayed)
}

func (g *Gateway) finishWait(ctx context.Context, t task.Task, wait time.Duration, admit store.Admit) (Accepted, error) {
	t, err := g.awaitEnd(ctx, t, wait)
	return Accepted{Task: t, Replayed: admit == store.AdmitReplayed}, err
}

// waitFor returns how long a POST waits for a task: the caller's wish, else the time that suits its
// capability.
func (g *Gateway) waitFor(sync bool, prefer *time.Duration) time.Duration {
	switch {
	case prefer != nil:
		return *prefer
	case sync:
		return g.limits.Load().SyncWait
	default:
		return 0
	}
}

// conflict names the task that holds the key to an API key that sees all tasks of its account and mode. To
// others it is one answer for every task, within their scope or not.
func conflict(c gate.Caller, held task.Task) *fault.Error {
	e := fault.New(fault.IdempotencyConflict, "the Idempotency-Key was used with a different request")
	if scopes := c.Key.Scopes; held.ID == "" || len(scopes) > 0 && !slices.Contains(scopes, "*") {
		return e
	}
	return e.WithTask(held.ID)
}

// storeFault turns an engine's error into one for the caller.
func storeFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "there is no such task")
	case errors.Is(err, store.ErrUnknown):
		const unknown = "the request may or may not have been taken; the same one again finds out"
		return fault.Wrap(fault.CapacityExhausted, err, unknown).WithRetryAfter(retryUnknown)
	case errors.Is(err, store.ErrFull):
		return fault.Wrap(fault.CapacityExhausted, err, "the service has no room for more tasks").WithRetryAfter(10 * time.Second)
	default:
		return fault.From(err)
	}
}
