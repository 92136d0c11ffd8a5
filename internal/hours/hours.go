// Package hours counts the ends of tasks, and of attempts at suppliers, by the hour: how many, how long they took and
// their cost.
//
// A Counter is one node's, in memory and since its start: earlier ends, and those at other nodes, aren't in it. It holds
// the hour under way and the 24 before, each with a bounded number of rows of 900 bytes. Counting takes
// no lock once a row is there. The sums that last, and are all nodes', are the store's: by the day.
package hours

import (
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/task"
)

const (
	// Kept is how many hours are held: the one under way, and a day.
	Kept = 25
	// mostTasks and mostAttempts bound the rows of an hour; further ones count together under Other.
	mostTasks    = 128
	mostAttempts = 256
)

// Other stands for the capabilities and suppliers for which an hour had no row left.
const Other = "(others)"

// TaskKey is a row of tasks.
type TaskKey struct {
	Capability string
	Mode       task.Mode
}

// AttemptKey is a row of attempts.
type AttemptKey struct {
	Supplier, Capability string
	Mode                 task.Mode
}

// Counter counts. It is safe for concurrent use.
type Counter struct {
	now   func() time.Time
	since time.Time
	mu    sync.Mutex // for those who add an hour or a row
	ring  [Kept]atomic.Pointer[hour]
}

// hour is the rows of an hour. Its maps are replaced, never changed.
type hour struct {
	number   int64 // since 1970
	tasks    atomic.Pointer[map[TaskKey]*row]
	attempts atomic.Pointer[map[AttemptKey]*row]
}

// row is the numbers of one key in one hour. A task succeeds, fails or is canceled; an attempt is OK, fails, is rejected
// or of unknown outcome.
type row struct {
	counts [outcomes]atomic.Int64
	cost   atomic.Int64 // nano-USD
	dark   atomic.Int64 // attempts that may have been charged for, no one knows how much
	times  [buckets]atomic.Uint32
}

// The places in row.counts.
const (
	good = iota
	bad
	ended // canceled, or rejected
	unknown
	outcomes
)

// New returns a Counter that begins now; nil is time.Now.
func New(now func() time.Time) *Counter {
	if now == nil {
		now = time.Now
	}
	return &Counter{now: now, since: now().UTC()}
}

// Since returns when the Counter began.
func (c *Counter) Since() time.Time { return c.since }

// TaskEnded counts a task that became terminal. Its time is that since its acceptance, and counts if it succeeded.
func (c *Counter) TaskEnded(t *task.Task) {
	k := TaskKey{t.Capability, t.Scope.Mode}
	h := c.hour()
	r := (*h.tasks.Load())[k]
	if r == nil {
		r = addRow(c, &h.tasks, k, TaskKey{Other, t.Scope.Mode}, mostTasks)
	}
	switch t.State {
	case task.Succeeded:
		r.counts[good].Add(1)
		if t.FinishedAt != nil {
			r.times[bucketOf(t.FinishedAt.Sub(t.AcceptedAt()))].Add(1)
		}
	case task.Failed:
		r.counts[bad].Add(1)
	default:
		r.counts[ended].Add(1)
	}
	r.cost.Add(int64(t.Cost))
}

// AttemptEnded counts an attempt whose outcome was recorded. Its time counts if it ended well.
func (c *Counter) AttemptEnded(t *task.Task, a *task.Attempt) {
	k := AttemptKey{a.Supplier, t.Capability, t.Scope.Mode}
	h := c.hour()
	r := (*h.attempts.Load())[k]
	if r == nil {
		r = addRow(c, &h.attempts, k, AttemptKey{Other, Other, t.Scope.Mode}, mostAttempts)
	}
	switch a.State {
	case task.OK:
		r.counts[good].Add(1)
		if a.ClosedAt != nil {
			r.times[bucketOf(a.ClosedAt.Sub(a.StartedAt))].Add(1)
		}
	case task.FailedAttempt:
		r.counts[bad].Add(1)
	case task.Rejected:
		r.counts[ended].Add(1)
	default:
		r.counts[unknown].Add(1)
	}
	r.cost.Add(int64(a.Cost))
	if a.CostUnknown {
		r.dark.Add(1)
	}
}

// hour returns the hour under way.
func (c *Counter) hour() *hour {
	number := hourOf(c.now())
	at := &c.ring[place(number)]
	if h := at.Load(); h != nil && h.number == number {
		return h
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := at.Load(); h != nil && h.number == number {
		return h
	}
	h := &hour{number: number}
	h.tasks.Store(&map[TaskKey]*row{})
	h.attempts.Store(&map[AttemptKey]*row{})
	at.Store(h)
	return h
}

func hourOf(at time.Time) int64 { return at.Unix() / int64(time.Hour/time.Second) }

func place(number int64) int64 { return (number%Kept + Kept) % Kept }

// addRow returns the row of a key in a copy of the map, or that of another if there are as many as there may be.
func addRow[K comparable](c *Counter, at *atomic.Pointer[map[K]*row], k, other K, most int) *row {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := *at.Load()
	if _, known := old[k]; !known && len(old) >= most {
		k = other
	}
	if r := old[k]; r != nil {
		return r
	}
	all := make(map[K]*row, len(old)+1)
	for key, r := range old {
		all[key] = r
	}
	all[k] = &row{}
	at.Store(&all)
	return all[k]
}
