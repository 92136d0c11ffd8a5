package hours_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/hours"
	"unitask/internal/task"
)

var noon = time.Date(2026, 11, 21, 12, 10, 0, 0, time.UTC)

// taskOf is a live task that ended after a time.
func taskOf(capability string, state task.State, took time.Duration, cost task.Money) *task.Task {
	return &task.Task{
		Scope: task.Scope{Mode: task.Live}, Capability: capability, State: state, CreatedAt: noon.Add(-time.Hour), Cost: cost,
		Timeline:   []task.Move{{State: task.Queued, At: noon.Add(-time.Hour)}, {State: task.Failed, At: noon}, {State: task.Queued, At: noon}},
		FinishedAt: new(noon.Add(took)),
	}
}

func attempt(supplier string, state task.AttemptState, took time.Duration, cost task.Money, unknown bool) *task.Attempt {
	return &task.Attempt{Supplier: supplier, State: state, StartedAt: noon, ClosedAt: new(noon.Add(took)), Cost: cost, CostUnknown: unknown}
}

// bare is sums without their times.
func bare(s hours.Sums) hours.Sums {
	s.Times = hours.Times{}
	return s
}

// TestScript counts a known script of ends over two hours and a gap.
func TestScript(t *testing.T) {
	now := noon
	c := hours.New(func() time.Time { return now })
	chat := taskOf("text.chat", task.Succeeded, 200*time.Millisecond, 7)
	c.TaskEnded(chat)
	c.TaskEnded(taskOf("text.chat", task.Succeeded, 400*time.Millisecond, 5))
	c.TaskEnded(taskOf("text.chat", task.Failed, time.Minute, 0))
	c.TaskEnded(taskOf("text.chat", task.Canceled, time.Minute, 0))
	c.AttemptEnded(chat, attempt("groq", task.FailedAttempt, time.Second, 2, false))
	c.AttemptEnded(chat, attempt("groq", task.UnknownOutcome, time.Second, 0, true))
	c.AttemptEnded(chat, attempt("groq", task.Rejected, time.Second, 0, false))
	now = now.Add(2 * time.Hour)
	c.AttemptEnded(chat, attempt("local", task.OK, 100*time.Millisecond, 1, false))

	got := c.Read(4)
	want := []time.Time{noon.Truncate(time.Hour).Add(-time.Hour), noon.Truncate(time.Hour), noon.Truncate(time.Hour).Add(time.Hour), noon.Truncate(time.Hour).Add(2 * time.Hour)}
	for i, h := range got {
		if !h.Start.Equal(want[i]) || h.Counted(c.Since()) != (i > 0) {
			t.Errorf("hour %d is %s, counted: %v", i, h.Start, h.Counted(c.Since()))
		}
	}
	key := hours.TaskKey{Capability: "text.chat", Mode: task.Live}
	tasks := got[1].Tasks[key]
	if diff := cmp.Diff(hours.Sums{Succeeded: 2, Failed: 1, Canceled: 1, Cost: 12}, bare(tasks)); diff != "" {
		t.Error("the tasks of the first hour (-want +got):", diff)
	}
	if n := tasks.Times.Count(); n != 2 {
		t.Errorf("%d times of tasks, want those of the 2 that succeeded", n)
	}
	first := got[1].Attempts[hours.AttemptKey{Supplier: "groq", Capability: "text.chat", Mode: task.Live}]
	if diff := cmp.Diff(hours.Sums{Failed: 1, Rejected: 1, Unknown: 1, Cost: 2, CostUnknown: 1}, bare(first)); diff != "" {
		t.Error("the attempts of the first hour (-want +got):", diff)
	}
	if len(got[2].Tasks)+len(got[2].Attempts)+len(got[3].Tasks) != 0 || len(got[3].Attempts) != 1 {
		t.Errorf("the other hours: %+v", got[2:])
	}
	now = now.Add(hours.Kept * time.Hour)
	for _, h := range c.Read(hours.Kept) {
		if len(h.Tasks)+len(h.Attempts) > 0 {
			t.Errorf("%s is still there", h.Start)
		}
	}
}

// TestQuantiles compares the quantiles with those of the sorted durations.
func TestQuantiles(t *testing.T) {
	c := hours.New(func() time.Time { return noon })
	random := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	for range 5000 {
		d := time.Duration(math.Exp(random.Float64()*14) * float64(time.Millisecond)) // from 1 ms to 20 min
		all = append(all, d)
		c.TaskEnded(taskOf("text.chat", task.Succeeded, d, 0))
	}
	slices.Sort(all)
	sums := c.Read(1)[0].Tasks[hours.TaskKey{Capability: "text.chat", Mode: task.Live}]
	for _, p := range []float64{0.001, 0.25, 0.5, 0.95, 0.99, 1} {
		got, ok := sums.Times.Quantile(p)
		want := all[int(math.Ceil(p*float64(len(all))))-1]
		if off := (got - want).Abs(); !ok || off > max(want/8, time.Millisecond) {
			t.Errorf("p%v: got %s, want %s", p*100, got, want)
		}
	}
	var none hours.Times
	if _, ok := none.Quantile(0.5); ok {
		t.Error("no durations have a median")
	}
	for _, d := range []time.Duration{-time.Second, 0, 400 * time.Hour} { // beyond the buckets
		c.TaskEnded(taskOf("image.generate", task.Succeeded, d, 0))
	}
}

// TestBound has more capabilities than an hour has rows: further ones count together.
func TestBound(t *testing.T) {
	c := hours.New(func() time.Time { return noon })
	for i := range 1000 {
		one := taskOf(fmt.Sprint("made.up", i), task.Succeeded, time.Second, 1)
		c.TaskEnded(one)
		c.AttemptEnded(one, attempt(fmt.Sprint("supplier", i), task.OK, time.Second, 1, false))
	}
	h := c.Read(1)[0]
	var tasks, attempts hours.Sums
	for _, s := range h.Tasks {
		tasks.Add(&s)
	}
	for _, s := range h.Attempts {
		attempts.Add(&s)
	}
	if len(h.Tasks) > 129 || len(h.Attempts) > 257 || h.Tasks[hours.TaskKey{Capability: hours.Other, Mode: task.Live}].Succeeded == 0 {
		t.Errorf("%d rows of tasks, %d of attempts", len(h.Tasks), len(h.Attempts))
	}
	if tasks.Succeeded != 1000 || tasks.Cost != 1000 || attempts.Succeeded != 1000 || attempts.Times.Count() != 1000 {
		t.Errorf("sums %+v, %+v", bare(tasks), bare(attempts))
	}
}

// TestTogether counts from many goroutines over the turn of an hour.
func TestTogether(t *testing.T) {
	var mu sync.Mutex
	now := noon
	c := hours.New(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 1000 {
				c.TaskEnded(taskOf(fmt.Sprint("a.b", i%3), task.Succeeded, time.Second, 3))
			}
		})
	}
	all.Wait()
	var sum hours.Sums
	for _, h := range c.Read(hours.Kept) {
		for _, s := range h.Tasks {
			sum.Add(&s)
		}
	}
	if sum.Succeeded != 8000 || sum.Cost != 24000 || sum.Times.Count() != 8000 {
		t.Errorf("got %+v", bare(sum))
	}
}

// TestCountingIsFree holds the hot path to no allocation.
func TestCountingIsFree(t *testing.T) {
	c, chat, a := hours.New(nil), taskOf("text.chat", task.Succeeded, time.Second, 1), attempt("groq", task.OK, time.Second, 1, false)
	if n := testing.AllocsPerRun(1000, func() { c.TaskEnded(chat); c.AttemptEnded(chat, a) }); n != 0 {
		t.Errorf("%v allocations for one task, want 0", n)
	}
}

// BenchmarkTask counts all that one task brings, from many goroutines.
func BenchmarkTask(b *testing.B) {
	c, chat, a := hours.New(nil), taskOf("text.chat", task.Succeeded, time.Second, 1), attempt("groq", task.OK, time.Second, 1, false)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.TaskEnded(chat)
			c.AttemptEnded(chat, a)
		}
	})
}
