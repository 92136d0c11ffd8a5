package capacity

import (
	"slices"
	"time"
)

// The numbers of the engine and the gateway: operations in a group, tasks in a claim, a claim's round trips, and how
// often a node looks for work without a wake. The searches before creations have two of the sixteen statements of a
// transaction.
const (
	findPart      = 8
	groupLimit    = 256
	claimBatch    = 64
	claimTrips    = 7
	claimInterval = time.Second
)

// node is one node of the fleet.
type node struct {
	s              *simulation
	cpu            *station
	finds          *lanes
	creates, steps *lanes
	slots          int // free workers
	claiming       bool
}

// op is one operation of a task: decide is called in the order of the group while the group holds its locks, done once
// it is committed.
type op struct {
	j      *job
	step   bool
	cost   float64 // CPU of the database
	decide func()
	done   func()
}

// lanes are the groups of one kind of operation on one node.
type lanes struct {
	n         *node
	carry     func(*node, *group, func()) // to the database and back
	free      int
	gathering []*group // others may join them until their lane computes
	turn      int
	waiting   fifo[*op]
	sizes     tally
}

// group is the operations of one transaction.
type group struct{ ops []*op }

// tally counts groups and their operations.
type tally struct{ groups, ops int }

// add hands an operation to the lanes.
func (l *lanes) add(o *op) {
	switch {
	case l.free > 0:
		l.gather([]*op{o})
		return
	case len(l.gathering) > 0: // the lanes take from one channel, each in its turn
		l.turn++
		if g := l.gathering[l.turn%len(l.gathering)]; len(g.ops) < groupLimit {
			g.ops = append(g.ops, o)
			return
		}
	}
	l.waiting.push(o)
}

// gather has a free lane begin a group.
func (l *lanes) gather(first []*op) {
	s := l.n.s
	g := &group{first}
	l.free--
	s.lanesBusy.add(&s.clock, 1)
	l.gathering = append(l.gathering, g)
	l.n.cpu.put(burst{size: func() time.Duration {
		l.gathering = slices.DeleteFunc(l.gathering, func(other *group) bool { return other == g })
		l.sizes.groups++
		l.sizes.ops += len(g.ops)
		return s.compute(g)
	}, then: func() { l.carry(l.n, g, func() { l.finish(g) }) }})
}

// finish answers the callers of a group, and takes what waits.
func (l *lanes) finish(g *group) {
	s := l.n.s
	l.free++
	s.lanesBusy.add(&s.clock, -1)
	for _, o := range g.ops {
		o.done()
	}
	var next []*op
	for l.waiting.len() > 0 && len(next) < groupLimit {
		next = append(next, l.waiting.pop())
	}
	if len(next) > 0 {
		l.gather(next)
	}
}

// compute is the node's part in one round trip of a group, of which a transaction has two.
func (s *simulation) compute(g *group) time.Duration {
	return s.ofNodes((s.Costs.NodeGroup + s.Costs.NodeOp*float64(len(g.ops))) / 2)
}

// ofNodes and ofDatabase count CPU time, in milliseconds.
func (s *simulation) ofNodes(t float64) time.Duration {
	s.nodeCPU += t
	return ms(t)
}

func (s *simulation) ofDatabase(t float64) time.Duration {
	s.databaseCPU += t
	return ms(t)
}

// findGroup carries searches out: one round trip, and no transaction.
func (s *simulation) findGroup(n *node, g *group, then func()) {
	cost := (s.Costs.DatabaseGroup + s.Costs.DatabaseCreate*float64(len(g.ops))) / findPart
	s.clock.after(s.leg(), func() {
		s.database.run(s.ofDatabase(cost), true, func() {
			s.clock.after(s.leg(), func() { n.cpu.run(0, true, then) })
		})
	})
}

// commitGroup carries a transaction out: two round trips, the locks from the first on, and a commit.
func (s *simulation) commitGroup(n *node, g *group, then func()) {
	cost := s.Costs.DatabaseGroup
	for _, o := range g.ops {
		cost += o.cost
	}
	s.clock.after(s.leg(), func() {
		wants := s.wants(g.ops)
		s.locks.take(wants, func() {
			s.database.run(s.ofDatabase(cost/2), true, func() {
				s.clock.after(s.leg(), func() {
					n.cpu.run(s.compute(g), true, func() {
						for _, o := range g.ops {
							o.decide()
						}
						s.clock.after(s.leg(), func() {
							s.finishGroup(cost, wants, func() { n.cpu.run(0, true, then) })
						})
					})
				})
			})
		})
	})
}

// finishGroup is the second round trip from the database's side on: it writes, commits and lets go of the locks.
func (s *simulation) finishGroup(cost float64, wants []want, then func()) {
	s.database.run(s.ofDatabase(cost/2), true, func() {
		s.log.commit(func() {
			s.commits++
			s.locks.release(wants)
			s.clock.after(s.leg(), then)
		})
	})
}

// leg is half a round trip.
func (s *simulation) leg() time.Duration { return s.clock.around(s.Costs.RoundTrip/2, s.Costs.Jitter) }

// The numbers of locks: those of suppliers and keys follow.
const (
	claimLock = iota
	queueLock
	firstLock
)

func (s *simulation) keyLock(account int) int { return firstLock + len(s.suppliers) + account }

// smallPart and safePart are the engine's: who takes at most 1/smallPart of a limit, with 1/safePart of it left, shares
// the counter with others.
const (
	smallPart = 1024
	safePart  = 8
)

func exclusive(amount, held, limit int) bool {
	return amount > limit/smallPart || held > limit-limit/safePart
}

// wants returns the locks of a group: of the counters that its creations and begun attempts take from.
func (s *simulation) wants(group []*op) []want {
	takes := map[int]int{}
	creations := 0
	for _, o := range group {
		if o.step {
			continue
		}
		if !o.j.created {
			creations++
			if s.Limits.OpenTasks > 0 {
				takes[o.j.account]++
			}
		}
	}
	var all []want
	if s.Limits.Queue > 0 && creations > 0 {
		all = append(all, want{queueLock, exclusive(creations, s.queued.level, s.Limits.Queue)})
	}
	for i, supplier := range s.suppliers {
		if amount := s.mayBegin(group); supplier.Cap > 0 && amount > 0 {
			all = append(all, want{firstLock + i, exclusive(amount, supplier.flight.level, supplier.Cap)})
		}
	}
	for account, amount := range takes {
		all = append(all, want{s.keyLock(account), exclusive(amount, s.open[account], s.Limits.OpenTasks)})
	}
	slices.SortFunc(all, func(a, b want) int { return a.id - b.id })
	return all
}

// mayBegin counts the operations that may begin an attempt.
func (s *simulation) mayBegin(group []*op) (n int) {
	for _, o := range group {
		if !o.step && (o.j.created || o.j.kind != asyncJob) {
			n++
		}
	}
	return n
}

// claim takes waiting tasks while there are free workers. One claim of the fleet is under way at a time.
func (n *node) claim() {
	s := n.s
	if n.claiming || n.slots <= 0 || s.waiting.len() == 0 || !s.anyRoom() {
		return
	}
	n.claiming = true
	wants := []want{{claimLock, true}}
	for i, supplier := range s.suppliers {
		if supplier.Cap > 0 {
			wants = append(wants, want{firstLock + i, exclusive(1, supplier.flight.level, supplier.Cap)})
		}
	}
	s.clock.after(s.leg(), func() {
		s.locks.take(wants, func() { n.claimLocked(wants) })
	})
}

func (n *node) claimLocked(wants []want) {
	s := n.s
	s.database.run(s.ofDatabase(s.Costs.DatabaseClaim+s.Costs.DatabaseGroup), true, func() {
		var claimed []*job
		for len(claimed) < min(claimBatch, n.slots) && s.waiting.len() > 0 && s.anyRoom() {
			j := s.waiting.pop()
			s.queued.add(&s.clock, -1)
			j.supplier = s.choose(j)
			s.suppliers[j.supplier].flight.add(&s.clock, 1)
			claimed = append(claimed, j)
		}
		n.slots -= len(claimed)
		trips := time.Duration(0)
		for range 2*claimTrips - 3 {
			trips += s.leg()
		}
		s.clock.after(trips, func() {
			s.finishGroup(float64(len(claimed))*s.Costs.DatabaseStep, wants, func() {
				s.claims++
				n.claiming = false
				for _, j := range claimed {
					j.node = n
					s.beginClaimed(j)
				}
				if len(claimed) > 0 {
					n.claim()
				}
			})
		})
	})
}

// watch looks for work that came through other nodes.
func (n *node) watch() {
	n.s.clock.after(claimInterval, func() {
		n.claim()
		n.watch()
	})
}
