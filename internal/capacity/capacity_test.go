package capacity_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/capacity"
)

// free returns a fleet whose parts take no time, so that a test can give one of them its time.
func free() capacity.Config {
	c := capacity.Default()
	c.Costs, c.Limits = capacity.Costs{}, capacity.Limits{Patience: 1e9}
	c.Load = capacity.Load{Rate: 500, Accounts: 100}
	c.Suppliers = []capacity.Supplier{{Name: "instant"}}
	return c
}

func mustRun(t *testing.T, c capacity.Config) capacity.Report {
	t.Helper()
	r, err := capacity.Run(c)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return r
}

// near reports a figure that is further than the given part from the wanted one.
func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*want {
		t.Errorf("%s = %.4g, want %.4g within %g %%", what, got, want, 100*part)
	}
}

// TestOneServer compares a supplier with one place with Pollaczek and Khinchine's formula for the queue before a
// server.
func TestOneServer(t *testing.T) {
	const median, p99 = 8.0, 40.0
	sigma := math.Log(p99/median) / 2.3263478740408408
	mean, square := median*math.Exp(sigma*sigma/2), median*median*math.Exp(2*sigma*sigma)
	for _, used := range []float64{0.3, 0.6, 0.8} {
		c := free()
		c.Seconds, c.WarmUp = 600, 50
		c.Suppliers = []capacity.Supplier{{Name: "one", Cap: 1, Median: median, P99: p99}}
		c.Load.Rate = used / mean * 1000
		r := mustRun(t, c)
		near(t, "use", r.Use.Suppliers, used, 0.02)
		near(t, "throughput", r.Throughput, c.Load.Rate, 0.02)
		near(t, "queue", r.Queue.Mean, c.Load.Rate/1000*square/(2*(1-used)), 0.1)
	}
}

// TestUseIsRateTimesService: each part is busy for its service time times its visits.
func TestUseIsRateTimesService(t *testing.T) {
	c := free()
	c.Seconds = 60
	c.Costs = capacity.Costs{
		NodeOp: 0.2, NodeRequest: 0.6, DatabaseGroup: 0.3, DatabaseCreate: 0.2, DatabaseStep: 0.1, RoundTrip: 0.5,
		Fsync: 0.2, Jitter: 0.5,
	}
	c.Nodes, c.Cores, c.DatabaseCores = 2, 3, 4
	r := mustRun(t, c)
	near(t, "use of nodes", r.Use.Nodes, r.Throughput*(2.5*0.2+0.6)/1000/6, 0.01)
	near(t, "use of the database", r.Use.Database, (r.Commits+r.Throughput+r.Commits/2/8+r.Throughput*2/3/8)*0.3/1000/4, 0.01)
	near(t, "use of the log", r.Use.Log, r.Flushes*0.2/1000, 0.03)
	near(t, "CPU of nodes", r.NodeCPU, 1.1, 0.01)
}

// TestLittle holds every kind of load to Little's law.
func TestLittle(t *testing.T) {
	for name, change := range map[string]func(*capacity.Config){
		"as it is": func(*capacity.Config) {},
		"callers":  func(c *capacity.Config) { c.Load.Rate, c.Load.Callers = 0, 300 },
		"asynchronous": func(c *capacity.Config) {
			c.Load.Async, c.Suppliers[0].P99, c.Suppliers[1].P99 = 0.5, 900, 1100
		},
		"full":        func(c *capacity.Config) { c.Suppliers[0].Cap = 200 },
		"one machine": func(c *capacity.Config) { c.OneMachine, c.Load.Rate = true, 2000 },
		"serial":      func(c *capacity.Config) { c.Load.Accounts, c.Limits.OpenTasks = 1, 5000 },
	} {
		t.Run(name, func(t *testing.T) {
			c := capacity.Default()
			c.Seconds, c.WarmUp = 15, 10
			change(&c)
			r := mustRun(t, c)
			near(t, "open tasks", r.Open, r.Throughput*r.Total.Mean/1000, 0.03)
			if r.Refused+r.Failed > r.Throughput/100 {
				t.Errorf("%.0f refused and %.0f failed a second of %.0f", r.Refused, r.Failed, r.Throughput)
			}
		})
	}
}

func TestSeedRepeats(t *testing.T) {
	c := capacity.Default()
	c.Nodes, c.Load.Async, c.Seconds = 2, 0.3, 3
	c.Load.Rate, c.Load.Accounts, c.Limits.OpenTasks = 6000, 30, 900 // keys whose locks are waited for
	first, again := mustRun(t, c), mustRun(t, c)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same seed gave another report:\n%s", diff)
	}
	c.Seed++
	if other := mustRun(t, c); cmp.Equal(first, other) {
		t.Error("another seed gave the same report")
	}
}

// TestMoreNodesDoMore: while the database is idle, nodes add up.
func TestMoreNodesDoMore(t *testing.T) {
	var one float64
	for _, nodes := range []int{1, 2, 4, 8} {
		c := free()
		c.Costs = capacity.Costs{NodeRequest: 1, RoundTrip: 0.2}
		c.Cores, c.Nodes, c.Seconds, c.WarmUp = 2, nodes, 3, 1
		c.Load = capacity.Load{Callers: 400, Accounts: 100}
		r := mustRun(t, c)
		if one == 0 {
			one = r.Throughput
		}
		near(t, "throughput", r.Throughput, one*float64(nodes), 0.03)
		if r.Busiest != "node CPU" {
			t.Errorf("%d nodes: the busiest part is %s", nodes, r.Busiest)
		}
	}
}

// TestGroupsGrow: operations share commits the more, the more of them come.
func TestGroupsGrow(t *testing.T) {
	last, flushes := 0.0, 0.0
	for _, callers := range []int{1, 8, 64, 256, 8192} {
		c := capacity.Default()
		c.Limits, c.Suppliers = capacity.Limits{}, []capacity.Supplier{{Name: "instant"}}
		c.Seconds, c.WarmUp, c.Load = 3, 1, capacity.Load{Callers: callers, Accounts: 1}
		r := mustRun(t, c)
		if r.Group <= last || r.Group > 256 {
			t.Errorf("%d callers: %.1f operations a group, after %.1f", callers, r.Group, last)
		}
		if callers == 1 {
			near(t, "a lone caller's group", r.Group, 1, 0)
			flushes = r.Flushes / r.Commits
		} else if callers < 8192 && r.Flushes/r.Commits >= flushes {
			t.Errorf("%d callers: %.0f flushes for %.0f commits", callers, r.Flushes, r.Commits)
		}
		near(t, "operations", r.Commits*r.Group, 2*r.Throughput, 0.05)
		last = r.Group
	}
}

// TestCountersNearALimitSerialise: creations that take from a counter near its limit have turns in the whole fleet,
// and those far from it don't wait for each other.
func TestCountersNearALimitSerialise(t *testing.T) {
	run := func(change func(*capacity.Config)) capacity.Report {
		c := free()
		c.Costs = capacity.Costs{DatabaseGroup: 0.1, RoundTrip: 5, Fsync: 1}
		c.Nodes, c.Lanes, c.Load = 4, 2, capacity.Load{Callers: 64, Accounts: 1}
		change(&c)
		return mustRun(t, c)
	}
	alone := run(func(*capacity.Config) {})
	for name, change := range map[string]func(*capacity.Config){
		"a key's open tasks":  func(c *capacity.Config) { c.Limits.OpenTasks = 900 },
		"a supplier's places": func(c *capacity.Config) { c.Suppliers[0].Cap = 900 },
		"the queue":           func(c *capacity.Config) { c.Limits.Queue = 900 },
	} {
		near(t, name+" is held", run(change).Use.Counter, 1, 0.05)
		if r := run(change); r.Throughput > alone.Throughput/2 {
			t.Errorf("%s: %.0f tasks a second, and %.0f without the counter", name, r.Throughput, alone.Throughput)
		}
	}
	far := run(func(c *capacity.Config) { c.Limits.OpenTasks, c.Limits.Queue, c.Suppliers[0].Cap = 1e6, 1e6, 1e6 })
	near(t, "throughput far from all limits", far.Throughput, alone.Throughput, 0.01)
	near(t, "exclusive locks far from all limits", far.Use.Counter, 0, 0)
}
