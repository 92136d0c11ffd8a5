package storetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// The size of a round: each has an engine of its own, which crashes after every phase but the last.
const (
	linKeys    = 5 // new ones in a phase
	linCallers = 8
	linPhases  = 6
	linOps     = 15 // of a caller in a phase
)

// linTerm is longer than a round.
const linTerm = 24 * time.Hour

// linTime is how long a round's history is searched for an order; it takes far less.
const linTime = time.Minute

// Linearizable runs at least n operations of concurrent callers on a few keys and searches for an order of
// them that one caller alone could have seen: creations of the same and of other requests, reads by key
// and by id, claims, a worker's steps, cancellations. The engine crashes under the callers; whoever waits
// for an answer then never learns how it went. Other answers are lost on their way, and the caller makes the call again.
//
// UNITASK_LINEARIZABLE_OPS sets another n.
func Linearizable(t *testing.T, n int, open Open) {
	if s := os.Getenv("UNITASK_LINEARIZABLE_OPS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("UNITASK_LINEARIZABLE_OPS: %v", err)
		}
	}
	var total linCounts
	for round := 0; total.Operations < n; round++ {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			history := linHistory(t, uint64(round), open)
			total.add(history)
			result, info := porcupine.CheckOperationsVerbose(linModel(), history, linTime)
			if result != porcupine.Ok {
				path := filepath.Join(os.TempDir(), fmt.Sprintf("unitask-linearizable-%d.html", round))
				t.Errorf("%s: the history is drawn in %s (%v)", result, path, porcupine.VisualizePath(linModel(), info, path))
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", total)
}

// Linear reports whether a round's history on the engine has such an order: for engines with a planted
// fault.
func Linear(t *testing.T, round int, open Open) bool {
	t.Helper()
	return porcupine.CheckOperationsTimeout(linModel(), linHistory(t, uint64(round), open), linTime) != porcupine.Illegal
}

// linCounts count the tested events.
type linCounts struct {
	Operations, Unknown, Again, Created, Replayed, Reopened, Conflicts, Fenced, Claims, Ends int
}

func (c *linCounts) add(history []porcupine.Operation) {
	one := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, op := range history {
		in, out := op.Input.(linInput), op.Output.(linOutput)
		one(&c.Operations, in.kind != linCrash)
		one(&c.Unknown, out.unknown)
		one(&c.Again, in.again)
		one(&c.Created, out.admit == store.AdmitCreated)
		one(&c.Replayed, out.admit == store.AdmitReplayed)
		one(&c.Reopened, out.admit == store.AdmitReopened)
		one(&c.Conflicts, out.err == kind(store.ErrConflict))
		one(&c.Fenced, out.err == kind(store.ErrFenced))
		one(&c.Claims, in.kind == linClaim)
		one(&c.Ends, in.kind == linAdvance && !out.unknown && out.seen.state.Terminal())
	}
}

// linRun is one round at work.
type linRun struct {
	engine  Engine
	clock   *Clock
	started time.Time
	keyed   int // how many keys there are so far
	writes  atomic.Int64
	dead    atomic.Bool // the engine crashes: answers are lost from here on

	mu      sync.Mutex
	history []porcupine.Operation
	ids     map[string][]string         // proposed, by key
	leases  map[string][]store.LeaseRef // granted, by key
	keys    map[string]string           // by id
}

func linHistory(t *testing.T, round uint64, open Open) []porcupine.Operation {
	t.Helper()
	r := &linRun{
		clock: NewClock(), started: time.Now(), ids: map[string][]string{}, leases: map[string][]store.LeaseRef{}, keys: map[string]string{},
	}
	r.engine = open(t, r.clock.Now)
	for phase := range linPhases {
		r.phase(t, round, phase)
		if phase < linPhases-1 && r.engine.Crash != nil {
			r.crash(t)
		}
	}
	return r.history
}

// phase lets every caller do its operations, but for the last few: the crash comes before those. Each caller is a
// node of its own.
func (r *linRun) phase(t *testing.T, round uint64, phase int) {
	t.Helper()
	for caller := range linCallers {
		if err := r.engine.Store.Renew(background(), linNode(phase, caller), linTerm); err != nil {
			t.Fatalf("Renew: %v", err)
		}
	}
	r.dead.Store(false)
	r.keyed += linKeys
	var callers sync.WaitGroup
	var left atomic.Int64
	left.Store(linCallers * linOps)
	for caller := range linCallers {
		callers.Go(func() {
			rng := rand.New(rand.NewPCG(round, uint64(phase*linCallers+caller))) //nolint:gosec // repeatable by design
			for range linOps {
				r.operate(rng, caller, linNode(phase, caller))
				if left.Add(-1) == linCallers && phase < linPhases-1 && r.engine.Crash != nil {
					r.dead.Store(true)
				}
			}
		})
	}
	callers.Wait()
}

// crash replaces the engine by its state after a crash. All keys lose their leases by it, unless these last.
func (r *linRun) crash(t *testing.T) {
	t.Helper()
	call := r.now()
	r.engine = r.engine.Crash(t)
	if r.engine.Lasting {
		return
	}
	for i := range linKeys * linPhases {
		r.history = append(r.history, porcupine.Operation{
			ClientId: linCallers, Input: linInput{kind: linCrash, key: linKey(i)}, Output: linOutput{err: kind(nil)},
			Call: call, Return: r.now(),
		})
	}
}

func (r *linRun) now() int64 { return int64(time.Since(r.started)) }

func linKey(i int) string { return "key " + strconv.Itoa(i) }

func linNode(phase, caller int) string { return fmt.Sprintf("node %d of phase %d", caller, phase) }

// operate does one operation. If its answer is lost it is done again: by that its caller learns how it went.
func (r *linRun) operate(rng *rand.Rand, caller int, node string) {
	in := r.draw(rng)
	in.node, in.number = node, r.writes.Add(1)
	lost := rng.IntN(4) == 0 && (in.kind == linCreate || in.kind == linClaim || in.kind == linAdvance && in.step != stepRelease)
	out, ok := r.record(caller, &in, lost && in.kind != linClaim)
	if !lost || !ok || r.dead.Load() {
		return
	}
	if in.again = true; in.kind == linClaim {
		in.kind, in.epoch = linReclaim, out.epoch // the key that it is about is known by the answer alone
	}
	r.record(caller, &in, false)
}

// record does an operation and adds it to the history. An empty claim doesn't count.
func (r *linRun) record(caller int, in *linInput, lost bool) (linOutput, bool) {
	call := r.now()
	out, ok := r.do(in)
	if lost || r.dead.Load() {
		out = linOutput{unknown: true}
	}
	if !ok {
		return out, false
	}
	op := porcupine.Operation{ClientId: caller, Input: *in, Output: out, Call: call, Return: r.now()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, op)
	if out.epoch != 0 {
		r.leases[in.key] = append(r.leases[in.key], store.LeaseRef{TaskID: out.seen.id, Epoch: out.epoch})
	}
	return out, true
}

// linSteps are drawn from: most leave a way on.
var linSteps = []linStep{
	stepStart, stepStart, stepStart, stepSucceed, stepFail, stepFail, stepFail, stepFail, stepRefuse, stepCancel, stepRelease, stepRelease,
}

// draw chooses an operation: two in five create.
func (r *linRun) draw(rng *rand.Rand) linInput {
	r.clock.Advance(time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	in := linInput{key: linKey(r.keyed - 1 - rng.IntN(min(r.keyed, 2*linKeys))), fingerprint: "request"} // of this phase and the last
	ids, leases := r.ids[in.key], r.leases[in.key]
	n := rng.IntN(100)
	if len(ids) == 0 {
		n %= 40
	}
	switch {
	case n < 40:
		in.kind, in.id, in.lease = linCreate, task.NewID(task.PrefixTask, r.clock.Now()), rng.IntN(2) == 0
		if rng.IntN(8) == 0 {
			in.fingerprint = "another"
		}
		r.ids[in.key], r.keys[in.id] = append(ids, in.id), in.key
	case n < 50:
		in.kind = linFind
	case n < 60:
		in.kind, in.id = linGet, ids[rng.IntN(len(ids))]
	case n < 62:
		in.kind, in.id = linCancel, ids[0]
	case n < 72:
		in.kind = linClaim
	case len(leases) == 0:
		in.kind = linFind
	default:
		ref := leases[max(0, len(leases)-1-rng.IntN(2))]
		in.kind, in.id, in.epoch = linAdvance, ref.TaskID, ref.Epoch
		in.step = linSteps[rng.IntN(len(linSteps))]
	}
	return in
}

// do asks the engine. A claim learns from the answer which key it was about.
func (r *linRun) do(in *linInput) (linOutput, bool) {
	s := r.engine.Store
	var t task.Task
	var err error
	out := linOutput{}
	switch in.kind {
	case linCreate:
		var c store.Created
		if c, err = s.CreateTask(background(), in.newTask()); err == nil {
			t, out.admit = c.Task, c.Admit
		}
		if c.Lease != nil {
			out.epoch = c.Lease.Ref.Epoch
		}
	case linFind:
		t, err = s.FindTask(background(), acme, hashOf(in.key))
	case linGet:
		t, err = s.GetTask(background(), acme, in.id)
	case linCancel:
		t, err = s.RequestCancel(background(), acme, in.id)
	case linClaim, linReclaim:
		var leases []store.Lease
		leases, err = s.Claim(background(), store.ClaimRequest{Node: in.node, Lines: lines(chat), Limit: 1, Number: in.number})
		if err != nil || len(leases) == 0 {
			out.err = kind(err)
			return out, err != nil || in.kind == linReclaim // an error is no answer of the model's
		}
		t, out.epoch = leases[0].Task, leases[0].Ref.Epoch
		r.mu.Lock()
		in.key, in.id = r.keys[t.ID], t.ID
		r.mu.Unlock()
	default:
		t, err = s.Advance(background(), store.LeaseRef{TaskID: in.id, Epoch: in.epoch, Write: in.number}, in.step.step())
	}
	out.err = kind(err)
	if err == nil {
		out.seen = linState{
			id: t.ID, state: t.State, final: t.Failure != nil && !t.Failure.Retryable, reopenings: t.Reopenings,
			revision: t.Revision, cancel: t.CancelRequested,
		}
	}
	return out, true
}

func (in linInput) newTask() store.NewTask {
	n := store.NewTask{
		ID: in.id, Scope: acme, Capability: chat, IdempotencyHash: hashOf(in.key), Fingerprint: hashOf(in.fingerprint),
		Input: []byte(`{"prompt":"x"}`), Deadline: 24 * time.Hour,
	}
	if in.lease {
		n.First = &store.First{Node: in.node}
	}
	return n
}

func (s linStep) step() store.Step {
	fails := func(code fault.Code) store.Step {
		return store.Step{Moves: []task.Transition{task.Fail(task.FailureOf(fault.New(code, "no")))}}
	}
	switch s {
	case stepStart:
		return store.Step{Moves: []task.Transition{task.Start()}}
	case stepSucceed:
		return store.Step{Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: json.RawMessage(`{"text":"x"}`)}, task.Usage{})}}
	case stepFail:
		return fails(fault.ProviderTimeout)
	case stepRefuse:
		return fails(fault.InvalidRequest)
	case stepCancel:
		return store.Step{Moves: []task.Transition{task.Cancel(nil)}}
	default:
		return store.Step{Release: new(time.Duration(0))}
	}
}
