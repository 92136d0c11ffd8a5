package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// record is one task as its caller knows it. One goroutine uses it at a time, but for the second
// of two requests sent at once, which only acknowledges.
type record struct {
	customer customer
	plainKey string // the Idempotency-Key: another customer uses the same one
	body     string
	done     bool // it ended, and no retry is left

	mu   sync.Mutex
	seen invariant.Task
}

func (w *world) surprise(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.surprises = append(w.surprises, fmt.Sprintf(format, args...))
}

func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// call makes every n-th task, one after the other.
func (w *world) call(first, n int) {
	for i := first; i < w.tasks; i += n {
		rng := w.choices.of("caller", "", int64(i))
		time.Sleep(between(rng, 0, w.shape.leisure))
		w.pursue(rng, w.add(rng, i))
	}
}

// add opens the record of a new task. Two customers of different scopes use the same key, and must not meet.
func (w *world) add(rng *rand.Rand, i int) *record {
	c := w.customers[i%len(w.customers)]
	r := &record{customer: c, plainKey: "key " + strconv.Itoa(i/2)}
	r.seen.Key = c.name + "/" + r.plainKey
	name := chat
	if rng.IntN(3) == 0 {
		name = image
	} else {
		r.seen.Answer = new(answerTo(r.seen.Key))
	}
	r.body = bodyOf(name, r.seen.Key)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, r)
	return r
}

func bodyOf(name catalog.Name, key string) string {
	return fmt.Sprintf(`{"capability":%q,"input":{"prompt":%q}}`, name, promptOf(key))
}

// pursue creates the task and follows it until its final end, or until its caller gives up.
func (w *world) pursue(rng *rand.Rand, r *record) {
	patience := 1 + rng.IntN(4)
	if oneIn(rng, 8) {
		patience = 8 // more often than a task can be reopened
	}
	leaves, cancels, differs := oneIn(rng, 25), oneIn(rng, 15), oneIn(rng, 20)
	for range patience {
		got := w.create(rng, r)
		if leaves {
			return
		}
		if differs && got.ID != "" {
			w.differ(r, got.ID)
		}
		start := time.Now()
		for polls := 0; w.note(r, got) && !got.State.Terminal() && time.Since(start) < settleTime; polls++ {
			time.Sleep(between(rng, 2*time.Second, 5*time.Second) * time.Duration(min(1+polls/4, 10)))
			if cancels && oneIn(rng, 3) {
				got = w.cancel(r, got.ID)
				continue
			}
			got = w.get(rng, r, got.ID)
		}
		if r.done {
			if oneIn(rng, 10) {
				w.acknowledge(r, w.post(r, nil, 0)) // a replay
			}
			return
		}
		time.Sleep(between(rng, 500*time.Millisecond, 10*time.Second))
	}
}

// create sends the request, now and then twice at once, and now and then hangs up.
func (w *world) create(rng *rand.Rand, r *record) api.Task {
	var wait *time.Duration
	patience := time.Duration(0)
	if oneIn(rng, 4) {
		wait = new(between(rng, 0, 20*time.Second))
	}
	if oneIn(rng, 8) {
		patience = between(rng, time.Millisecond, 3*time.Second)
	}
	var twin sync.WaitGroup
	if oneIn(rng, 12) {
		pause := between(rng, 0, 100*time.Millisecond)
		twin.Go(func() {
			time.Sleep(pause)
			w.acknowledge(r, w.post(r, nil, 0))
		})
	}
	got := w.post(r, wait, patience)
	twin.Wait()
	return got
}

// note records an answer and reports whether it has the task's id.
func (w *world) note(r *record, got api.Task) bool {
	if !w.acknowledge(r, got) {
		return false
	}
	r.seen.Seen = append(r.seen.Seen, got.State)
	r.done = got.State.Terminal() && (got.Error == nil || !got.Error.Retryable)
	return true
}

func (w *world) acknowledge(r *record, got api.Task) bool {
	if got.ID == "" {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Acknowledged = append(r.seen.Acknowledged, got.ID)
	return true
}

// ask finds a node and authenticates the caller. false: no answer. The answer of a node that died
// meanwhile doesn't count.
func (w *world) ask(c customer, do func(*node, gate.Caller) error) (answered bool, _ error) {
	nodes := w.alive()
	if len(nodes) == 0 {
		return false, nil
	}
	n := nodes[time.Now().UnixNano()/7%int64(len(nodes))]
	who, err := n.caller(context.Background(), c)
	if err == nil {
		err = do(n, who)
	}
	return !n.dead.Load(), err
}

// acknowledgeTo tells the node whether the caller got an answer that holds the task, as the server does.
func (r *record) acknowledgeTo(n *node, t task.Task, there bool) {
	shown := n.g.Show(t)
	there = there && !n.dead.Load()
	if there && t.State == task.Failed {
		r.mu.Lock()
		r.seen.Shown++
		r.mu.Unlock()
	}
	shown.End(there)
}

// post sends the request to create; it returns the zero Task if no answer named one. A caller without patience (0:
// endless) hangs up.
func (w *world) post(r *record, wait *time.Duration, patience time.Duration) (got api.Task) {
	ctx := context.Background()
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	r.mu.Lock()
	r.seen.Posts++
	r.mu.Unlock()
	var accepted gateway.Accepted
	answered, err := w.ask(r.customer, func(n *node, who gate.Caller) (err error) {
		accepted, err = n.g.Create(ctx, who, gateway.Submission{IdempotencyKey: r.plainKey, Body: []byte(r.body), Wait: wait})
		if err == nil {
			r.acknowledgeTo(n, accepted.Task, ctx.Err() == nil)
		}
		return err
	})
	switch code := fault.CodeOf(err); {
	case !answered || ctx.Err() != nil:
		return api.Task{}
	case err == nil:
		return w.public(accepted.Task)
	case code == fault.CapacityExhausted, code == fault.RateLimitExceeded, code == fault.Internal && w.closing():
		return api.Task{}
	default:
		w.surprise("%s: create: %v", r.seen.Key, err)
		return api.Task{}
	}
}

// closing reports whether a node is down: the engine may be closed during a request.
func (w *world) closing() bool { return len(w.alive()) < w.shape.nodes }

func (w *world) public(t task.Task) api.Task {
	out := api.FromTask(t, func(a task.Artifact) string { return a.ID })
	if out.Output != nil {
		read, err := out.Output.Read()
		if err != nil {
			panic(err) // it was checked when it was stored
		}
		out.Output = read
	}
	return out
}

// differ sends another request under a task's key: it must be refused as a conflict.
func (w *world) differ(r *record, id string) {
	answered, err := w.ask(r.customer, func(n *node, who gate.Caller) error {
		_, err := n.g.Create(context.Background(), who, gateway.Submission{
			IdempotencyKey: r.plainKey, Body: []byte(bodyOf(chat, "another "+r.seen.Key)),
		})
		return err
	})
	if code := fault.CodeOf(err); answered && !w.closing() && code != fault.IdempotencyConflict && code != fault.CapacityExhausted {
		w.surprise("%s: another request under the key of %s: %v", r.seen.Key, id, err)
	}
}

func (w *world) get(rng *rand.Rand, r *record, id string) (got api.Task) {
	for got.ID == "" {
		var t task.Task
		answered, err := w.ask(r.customer, func(n *node, who gate.Caller) (err error) {
			if oneIn(rng, 4) {
				t, err = n.g.Await(context.Background(), who, id, nil, between(rng, 0, 2*time.Second))
			} else {
				t, err = n.g.Get(context.Background(), who, id)
			}
			if err == nil {
				r.acknowledgeTo(n, t, true)
			}
			return err
		})
		switch {
		case answered && err == nil:
			got = w.public(t)
			if oneIn(rng, 10) {
				r.seen.Snapshots = append(r.seen.Snapshots, api.AdminTaskOf(t, ""))
			}
		case answered && fault.CodeOf(err) == fault.NotFound && !w.closing():
			w.surprise("%s: %s isn't found", r.seen.Key, id)
			return api.Task{}
		default:
			time.Sleep(between(rng, time.Second, 3*time.Second))
		}
	}
	return got
}

func (w *world) cancel(r *record, id string) api.Task {
	var t task.Task
	answered, err := w.ask(r.customer, func(n *node, who gate.Caller) (err error) {
		if t, err = n.g.Cancel(context.Background(), who, id); err == nil {
			r.acknowledgeTo(n, t, true)
		}
		return err
	})
	if !answered || err != nil {
		return api.Task{ID: id, State: lastOf(r.seen.Seen)}
	}
	return w.public(t)
}

func lastOf(states []task.State) task.State { return states[len(states)-1] }
