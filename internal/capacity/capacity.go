// Package capacity simulates a fleet of nodes on one PostgreSQL database in virtual time: how many tasks a second it
// does, how long they take beyond their suppliers, and which part is busy first.
//
// The model follows the storage engine pgstore and the gateway: operations wait for one of a node's lanes and share a
// transaction of two round trips, the counters' advisory locks and a sync of the database's log; searches before
// creations share a round trip; claims take turns in the fleet. A request's content, routing's prices and rates, reads, sweeps and a database's slowness with its size are
// no part of it. The package has no clock and does no I/O: the same Config gives the same Report.
package capacity

import (
	"math/rand/v2"
	"time"
)

// simulation is a run.
type simulation struct {
	Config
	clock     clock
	nodes     []*node
	database  *station
	log       *syncer
	locks     *locks
	suppliers []route
	accounts  popularity
	turn      int // of the nodes, at the proxy before them

	waiting fifo[*job]     // asynchronous tasks that aren't claimed
	patient fifo[*patient] // synchronous tasks without a place
	open    []int          // by account

	here, own, queued, lanesBusy gauge // tasks; those that aren't at a supplier; those in the queue; busy lanes

	commits, claims, refused, failed, failovers int
	nodeCPU, databaseCPU                        float64
	done                                        []outcome
}

// route is a supplier at work.
type route struct {
	Supplier
	flight gauge
}

// outcome is what is kept of an ended task, in milliseconds.
type outcome struct{ total, added, queue float64 }

// Run simulates the fleet. It fails only if the configuration does.
func Run(c Config) (Report, error) {
	if err := c.Check(); err != nil {
		return Report{}, err
	}
	s := build(c)
	s.begin()
	s.clock.until(ms(c.WarmUp * 1000))
	before := s.own.level
	s.reset()
	s.clock.until(ms((c.WarmUp + c.Seconds) * 1000))
	return s.report(before), nil
}

func build(c Config) *simulation {
	s := &simulation{Config: c, accounts: newPopularity(c.Load.Accounts, c.Load.Zipf), open: make([]int, c.Load.Accounts)}
	s.clock.rng = rand.New(rand.NewPCG(c.Seed, 3))
	cores := func(n int) *station {
		return &station{c: &s.clock, cores: n, wake: c.Costs.Wake}
	}
	s.database = cores(c.DatabaseCores)
	s.log = &syncer{c: &s.clock, cpu: s.database, fsync: c.Costs.Fsync, jitter: c.Costs.Jitter}
	s.locks = &locks{c: &s.clock, all: map[int]*lock{}}
	for _, one := range c.Suppliers {
		s.suppliers = append(s.suppliers, route{Supplier: one})
	}
	for range c.Nodes {
		n := &node{s: s, slots: c.Workers, cpu: s.database}
		if !c.OneMachine {
			n.cpu = cores(c.Cores)
		}
		n.finds = &lanes{n: n, free: c.Lanes, carry: s.findGroup}
		n.creates, n.steps = &lanes{n: n, free: c.Lanes, carry: s.commitGroup}, &lanes{n: n, free: c.Lanes, carry: s.commitGroup}
		s.nodes = append(s.nodes, n)
	}
	return s
}

// begin plans the arrivals and the nodes' own rhythms.
func (s *simulation) begin() {
	if s.Load.Async > 0 {
		for _, n := range s.nodes {
			n.watch()
		}
	}
	for i := range s.Load.Callers {
		s.arrive(s.nodes[i%len(s.nodes)], true)
	}
	if s.Load.Rate > 0 {
		s.nextArrival()
	}
}

func (s *simulation) nextArrival() {
	s.clock.after(time.Duration(s.clock.rng.ExpFloat64()/s.Load.Rate*float64(time.Second)), func() {
		s.turn++
		s.arrive(s.nodes[s.turn%len(s.nodes)], false)
		s.nextArrival()
	})
}

// choose returns the first supplier with a place that hasn't failed the task, or noSupplier.
func (s *simulation) choose(j *job) int {
	for i := range s.suppliers {
		r := &s.suppliers[i]
		if j.tried&(1<<i) == 0 && (r.Cap == 0 || r.flight.level < r.Cap) {
			return i
		}
	}
	return noSupplier
}

// anyRoom reports whether a task that has tried no supplier would find a place.
func (s *simulation) anyRoom() bool { return s.choose(&job{}) != noSupplier }
