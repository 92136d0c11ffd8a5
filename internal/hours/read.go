package hours

import (
	"time"

	"unitask/internal/task"
)

// Sums are the numbers of tasks or attempts.
type Sums struct {
	Succeeded int64 // or OK
	Failed    int64
	Canceled  int64 // of tasks
	Rejected  int64 // of attempts
	Unknown   int64 // of attempts
	Cost      task.Money
	// CostUnknown counts attempts that may have been charged for beside Cost.
	CostUnknown int64
	Times       Times
}

// Add adds the numbers of others.
func (s *Sums) Add(by *Sums) {
	s.Succeeded += by.Succeeded
	s.Failed += by.Failed
	s.Canceled += by.Canceled
	s.Rejected += by.Rejected
	s.Unknown += by.Unknown
	s.Cost += by.Cost
	s.CostUnknown += by.CostUnknown
	s.Times.Add(&by.Times)
}

// Ended returns how many tasks ended.
func (s *Sums) Ended() int64 { return s.Succeeded + s.Failed + s.Canceled }

// Attempts returns how many attempts ended.
func (s *Sums) Attempts() int64 { return s.Succeeded + s.Failed + s.Rejected + s.Unknown }

// Hour is the rows of an hour.
type Hour struct {
	Start    time.Time // UTC
	Tasks    map[TaskKey]Sums
	Attempts map[AttemptKey]Sums
}

// Read returns the last hours, n at most and the one under way included, the oldest first. One without an end has no
// rows.
func (c *Counter) Read(n int) []Hour {
	n = min(max(n, 0), Kept)
	last := hourOf(c.now())
	all := make([]Hour, 0, n)
	for number := last - int64(n) + 1; number <= last; number++ {
		out := Hour{Start: time.Unix(number*int64(time.Hour/time.Second), 0).UTC()}
		if h := c.ring[place(number)].Load(); h != nil && h.number == number {
			out.Tasks, out.Attempts = readTasks(h), readAttempts(h)
		}
		all = append(all, out)
	}
	return all
}

func readTasks(h *hour) map[TaskKey]Sums {
	out := map[TaskKey]Sums{}
	for k, r := range *h.tasks.Load() {
		s := r.read()
		s.Canceled = r.counts[ended].Load()
		out[k] = s
	}
	return out
}

func readAttempts(h *hour) map[AttemptKey]Sums {
	out := map[AttemptKey]Sums{}
	for k, r := range *h.attempts.Load() {
		s := r.read()
		s.Rejected, s.Unknown = r.counts[ended].Load(), r.counts[unknown].Load()
		out[k] = s
	}
	return out
}

func (r *row) read() Sums {
	s := Sums{
		Succeeded: r.counts[good].Load(), Failed: r.counts[bad].Load(), Cost: task.Money(r.cost.Load()), CostUnknown: r.dark.Load(),
	}
	for i := range r.times {
		s.Times[i] = int64(r.times[i].Load())
	}
	return s
}

// Counted reports whether the whole of an hour, or a part of it, is counted by a Counter that began at since.
func (h *Hour) Counted(since time.Time) bool { return h.Start.Add(time.Hour).After(since) }
