package capacity_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"unitask/internal/capacity"
)

// TestFailover: a failed attempt goes on at the next supplier, and a task fails when all have.
func TestFailover(t *testing.T) {
	c := free()
	c.Seconds = 20
	c.Suppliers = []capacity.Supplier{
		{Name: "broken", Cap: 50, Median: 5, P99: 6, Fails: 1}, {Name: "slow", Median: 50, P99: 60},
	}
	r := mustRun(t, c)
	near(t, "failovers", r.Failovers, r.Throughput, 0.01)
	near(t, "throughput", r.Throughput, c.Load.Rate, 0.05)
	near(t, "time", r.Total.P50, 55, 0.05)
	near(t, "added", r.Added.P99, 0, 0)
	c.Suppliers[1].Fails = 1
	if r := mustRun(t, c); r.Throughput != 0 || math.Abs(r.Failed-c.Load.Rate) > c.Load.Rate/20 || !r.Overloaded {
		t.Errorf("with all suppliers broken: %+v", r)
	}
}

// TestPatience: a synchronous task waits for a place as long as it may, and an asynchronous one goes on waiting.
func TestPatience(t *testing.T) {
	c := free()
	c.Limits.Patience, c.Load.Rate = 2000, 200
	c.Suppliers = []capacity.Supplier{{Name: "small", Cap: 10, Median: 100, P99: 100}}
	r := mustRun(t, c)
	near(t, "throughput", r.Throughput, 100, 0.02)
	near(t, "failed", r.Failed, 100, 0.2)
	if r.Queue.P99 > 2000 || r.Queue.P50 < 1000 {
		t.Errorf("the wait for a place: %+v", r.Queue)
	}
	c.Load.Async, c.Suppliers[0].Poll = 1, 10
	if r = mustRun(t, c); r.Failed != 0 || r.Growth < 80 || !r.Overloaded {
		t.Errorf("asynchronous tasks: %+v", r)
	}
}

// TestJobs: asynchronous tasks are claimed, polled, and hold no worker meanwhile.
func TestJobs(t *testing.T) {
	c := free()
	c.Nodes, c.Seconds, c.Workers = 2, 30, 8
	c.Load.Async, c.Load.Rate = 1, 100
	c.Suppliers = []capacity.Supplier{{Name: "film", Median: 2000, P99: 2000, Poll: 100}}
	c.Costs = capacity.Costs{DatabaseClaim: 1, RoundTrip: 1, Fsync: 1}
	r := mustRun(t, c)
	near(t, "throughput", r.Throughput, 100, 0.05)
	near(t, "open", r.Open, 100*r.Total.Mean/1000, 0.05)
	if r.Total.P50 < 2000 || r.Total.P99 > 2300 {
		t.Errorf("a job of two seconds took %+v", r.Total)
	}
	near(t, "operations", (r.Commits-r.Claims)*r.Group, 4*r.Throughput, 0.05)
	if r.Use.Claims <= 0.1 || r.Use.Claims > 1 {
		t.Errorf("the lock of claims is held for %.2f of the time", r.Use.Claims)
	}
	c.Costs.RoundTrip = 40 // a claim takes a third of a second
	if r = mustRun(t, c); r.Use.Claims < 0.9 {
		t.Errorf("slow claims leave their lock free: %+v", r.Use)
	}
}

// TestOpenTasks: no key has more unfinished tasks than it may.
func TestOpenTasks(t *testing.T) {
	c := free()
	c.Limits.OpenTasks, c.Load = 10, capacity.Load{Rate: 200, Accounts: 1}
	c.Suppliers = []capacity.Supplier{{Name: "slow", Median: 100, P99: 100}}
	r := mustRun(t, c)
	if r.Open > 10 || r.Throughput > 100.5 || r.Throughput < 70 {
		t.Errorf("%.2f open tasks, %.1f a second", r.Open, r.Throughput)
	}
	near(t, "all", r.Throughput+r.Refused, 200, 0.05)
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*capacity.Config){
		"nodes is 0":        func(c *capacity.Config) { c.Nodes = 0 },
		"either a rate":     func(c *capacity.Config) { c.Load.Callers = 5 },
		"load.rate is NaN":  func(c *capacity.Config) { c.Load.Rate = math.NaN() },
		"load.async is 0.8": func(c *capacity.Config) { c.Load.Async = 0.8 },
		"a cost is -1":      func(c *capacity.Config) { c.Costs.Fsync = -1 },
		"would take no time": func(c *capacity.Config) {
			c.Load, c.Costs = capacity.Load{Callers: 5, Accounts: 1}, capacity.Costs{}
		},
		"suppliers[0]":       func(c *capacity.Config) { c.Suppliers[0].Poll = 1e-9 },
		"suppliers is 0":     func(c *capacity.Config) { c.Suppliers = nil },
		"suppliers[1]":       func(c *capacity.Config) { c.Suppliers[1].Median = 1e6 },
		"tasks is 1.5e+08":   func(c *capacity.Config) { c.Load.Rate = 1e7 },
		"costs.jitter is 2,": func(c *capacity.Config) { c.Costs.Jitter = 2 },
	} {
		c := capacity.Default()
		change(&c)
		if _, err := capacity.Run(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Run: %v, want %q", err, want)
		}
	}
}

// TestSweep finds the load at which nodes of one core give in.
func TestSweep(t *testing.T) {
	c := free()
	c.Seconds, c.WarmUp, c.Cores = 5, 2, 1
	c.Costs = capacity.Costs{NodeRequest: 1, RoundTrip: 0.2}
	loads := []float64{100, 400, 1600, 6400}
	got, err := capacity.Sweep(t.Context(), c, []int{1, 2, 16}, loads)
	if err != nil || len(got.Reports) != 12 {
		t.Fatalf("%d reports, %v", len(got.Reports), err)
	}
	for i, want := range []capacity.Knee{
		{Nodes: 1, Good: 400, Broke: 1600, Why: "work piles up", Part: "node CPU"},
		{Nodes: 2, Good: 1600, Broke: 6400, Why: "work piles up", Part: "node CPU"},
		{Nodes: 16, Good: 6400},
	} {
		if got.Knees[i] != want {
			t.Errorf("knee %+v, want %+v", got.Knees[i], want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := capacity.Sweep(ctx, c, []int{1}, loads); err == nil {
		t.Error("a sweep that is stopped goes on")
	}
}

// FuzzRun: a configuration that Check accepts has a report with possible figures.
func FuzzRun(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(2), 500.0, 0.3, uint16(64), uint16(100), 0.1)
	f.Add(uint64(2), uint8(1), uint8(1), 50.0, 1.0, uint16(1), uint16(1), 1.0)
	f.Fuzz(func(t *testing.T, seed uint64, nodes, lanes uint8, rate, async float64, open, places uint16, fails float64) {
		c := capacity.Default()
		c.Seed, c.Nodes, c.Lanes, c.Seconds, c.WarmUp = seed, int(nodes%8), int(lanes%4), 1, 0.5
		c.Load = capacity.Load{Rate: min(rate, 2000), Async: async, Accounts: 50, Zipf: 1}
		c.Limits.OpenTasks, c.Suppliers[0].Cap, c.Suppliers[1].Fails = int(open), int(places), fails
		r, err := capacity.Run(c)
		if err != nil {
			return
		}
		for _, part := range []float64{r.Use.Nodes, r.Use.Database, r.Use.Log, r.Use.Lanes, r.Use.Claims, r.Use.Counter} {
			if !(part >= 0) || part > 1+1e-9 {
				t.Errorf("a part's use is %g: %+v", part, r)
			}
		}
		if r.Added.P50 < 0 || r.Added.P50 > r.Added.P99 || r.Open < 0 || r.Group > 256 {
			t.Errorf("impossible: %+v", r)
		}
	})
}
