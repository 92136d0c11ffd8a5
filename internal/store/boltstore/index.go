package boltstore

import (
	"sync/atomic"

	"unitask/internal/task"
)

// index is the committer's memory of the tasks that aren't terminal. All of it but the tenants' turns follows from
// the set of entries: replace is the only change, and its own undo. Only the committer touches it; the counts may be
// read by anyone.
type index struct {
	tasks    map[rowID]*openTask
	tenants  map[string]*tenant
	classes  map[string]*heap[*queue] // line, or urgentClass → the queues of all tenants
	due      heap[*openTask]
	sessions map[string]*session // those that haven't run out, by node
	over     map[string]struct{} // the nodes of the others
	inFlight map[string]int      // open attempts by cap
	claimed  map[string]int      // leases that are to begin one, by cap
	byState  []atomic.Int64      // in the order of task.States
	held     atomic.Int64        // leases
	served   int64               // turns given so far
	now      tick
}

// urgentClass holds tasks that any worker may take.
const urgentClass = ""

// tenant is an account with tasks that aren't terminal.
type tenant struct {
	name   string
	served int64 // the last turn it had
	size   int
	queues map[string]*queue
}

// queue is a tenant's claimable tasks of one class, oldest first.
type queue struct {
	tenant *tenant
	class  string
	tasks  heap[*openTask]
	at     int // place among the class's queues
}

func newIndex() *index {
	return &index{
		tasks: map[rowID]*openTask{}, tenants: map[string]*tenant{}, classes: map[string]*heap[*queue]{},
		due: heap[*openTask]{
			less:     func(a, b *openTask) bool { return a.due < b.due },
			position: func(e *openTask, at int) { e.dueAt = int32(at) },
		},
		sessions: map[string]*session{}, over: map[string]struct{}{},
		inFlight: map[string]int{}, claimed: map[string]int{}, byState: make([]atomic.Int64, len(task.States())),
	}
}

// replace puts the new task in the place of the old one; both may be nil.
func (x *index) replace(old, new *openTask) {
	if new != nil {
		x.add(new)
	}
	if old != nil {
		x.remove(old)
	}
}

func (x *index) add(e *openTask) {
	account := e.of.Value().account
	t := x.tenants[account]
	if t == nil {
		t = &tenant{name: account, queues: map[string]*queue{}}
		x.tenants[account] = t
	}
	t.size++
	e.tenant = t
	x.tasks[e.row] = e
	x.count(e, 1)
	x.position(e)
}

func (x *index) remove(e *openTask) {
	x.unposition(e)
	x.count(e, -1)
	if x.tasks[e.row] == e {
		delete(x.tasks, e.row)
	}
	e.tenant.size--
	if e.tenant.size == 0 {
		delete(x.tenants, e.tenant.name)
	}
	e.tenant = nil
}

func (x *index) count(e *openTask, by int) {
	x.byState[e.state].Add(int64(by))
	tally(x.inFlight, e.caps(), by)
}

func tally(counts map[string]int, keys []string, by int) {
	for _, key := range keys {
		if counts[key] += by; counts[key] == 0 {
			delete(counts, key)
		}
	}
}

// inUse returns the count against a cap when a claim looks for a place.
func (x *index) inUse(key string) int { return x.inFlight[key] + x.claimed[key] }

// leaseOf returns the task's current lease, nil without one or after its session has run out.
func (x *index) leaseOf(e *openTask) *lease {
	if e.lease == nil || e.lease.session.expires <= x.now {
		return nil
	}
	return e.lease
}

// position queues the task in its current place and records when that changes.
func (x *index) position(e *openTask) {
	e.due = never
	switch {
	case x.leaseOf(e) != nil:
		e.lease.session.tasks[e] = struct{}{}
		x.held.Add(1)
		tally(x.claimed, e.lease.position, 1)
	case e.pause > x.now:
		e.due = e.pause
	case e.urgent(x.now):
		x.enqueue(e, urgentClass)
	default:
		x.enqueue(e, e.of.Value().line)
		e.due = e.deadline
	}
	if e.due != never {
		x.due.push(e)
	}
}

func (x *index) unposition(e *openTask) {
	if e.lease != nil {
		if _, ok := e.lease.session.tasks[e]; ok {
			delete(e.lease.session.tasks, e)
			x.held.Add(-1)
			tally(x.claimed, e.lease.position, -1)
		}
	}
	if e.due != never {
		x.due.remove(int(e.dueAt))
		e.due = never
	}
	if q := e.queue; q != nil {
		q.tasks.remove(int(e.queueAt))
		e.queue = nil
		if q.tasks.len() == 0 {
			x.classes[q.class].remove(q.at)
			delete(q.tenant.queues, q.class)
			if x.classes[q.class].len() == 0 {
				delete(x.classes, q.class)
			}
		}
	}
}

func (x *index) enqueue(e *openTask, class string) {
	q := e.tenant.queues[class]
	if q == nil {
		q = &queue{tenant: e.tenant, class: class, tasks: heap[*openTask]{
			less: older, position: func(e *openTask, at int) { e.queueAt = int32(at) },
		}}
		e.tenant.queues[class] = q
		if x.classes[class] == nil {
			x.classes[class] = &heap[*queue]{less: sooner, position: func(q *queue, at int) { q.at = at }}
		}
		x.classes[class].push(q)
	}
	e.queue = q
	q.tasks.push(e)
}

// advance moves the tasks that time alone has changed.
func (x *index) advance(now tick) {
	x.now = max(x.now, now)
	for name, s := range x.sessions {
		if s.expires <= x.now {
			x.end(name, s)
		}
	}
	for x.due.len() > 0 && x.due.items[0].due <= x.now {
		e := x.due.items[0]
		x.unposition(e)
		x.position(e)
	}
}

// next returns the task whose turn it is among those of the classes: of the tenant that has waited longest for a
// turn, the oldest; nil without one.
func (x *index) next(classes []string) *openTask {
	var turn *queue
	for _, class := range classes {
		if h := x.classes[class]; h != nil && (turn == nil || sooner(h.items[0], turn)) {
			turn = h.items[0]
		}
	}
	if turn == nil {
		return nil
	}
	var oldest *openTask
	for _, class := range classes {
		if q := turn.tenant.queues[class]; q != nil && (oldest == nil || older(q.tasks.items[0], oldest)) {
			oldest = q.tasks.items[0]
		}
	}
	return oldest
}

// serve notes the tenant's last turn.
func (x *index) serve(t *tenant, turn int64) {
	t.served = turn
	for _, q := range t.queues {
		x.classes[q.class].fix(q.at)
	}
}

// sooner orders tenants by their last turn, those who never had one by name.
func sooner(a, b *queue) bool {
	if a.tenant.served != b.tenant.served {
		return a.tenant.served < b.tenant.served
	}
	return a.tenant.name < b.tenant.name
}
