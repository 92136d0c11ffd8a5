package capacity

import "time"

// kind is the kind of a task.
type kind int

const (
	syncChat kind = iota
	streamedChat
	asyncJob
)

// How the gateway polls jobs if their supplier says nothing.
const (
	pollStart  = 500.0 // ms
	pollMost   = 5000.0
	pollFactor = 1.5
)

// job is one task on its way.
type job struct {
	s        *simulation
	kind     kind
	account  int
	start    *node // that its caller talks to
	node     *node // that works on it
	arrived  time.Duration
	created  bool
	accepted time.Duration // its creation was committed
	waited   time.Duration // for a place
	working  time.Duration // of suppliers
	supplier int           // noSupplier: it has no place yet
	tried    uint64        // suppliers that failed
	caller   bool          // a caller sends the next one
}

const noSupplier = -1

// arrive begins a task at a node.
func (s *simulation) arrive(n *node, caller bool) {
	j := &job{s: s, account: s.accounts.draw(s.clock.rng), start: n, node: n, arrived: s.clock.now, supplier: noSupplier, caller: caller}
	switch x := s.clock.rng.Float64(); {
	case x < s.Load.Async:
		j.kind = asyncJob
	case x < s.Load.Async+s.Load.Stream:
		j.kind = streamedChat
	}
	s.here.add(&s.clock, 1)
	s.own.add(&s.clock, 1)
	n.cpu.run(s.ofNodes(s.Costs.NodeRequest/2), true, func() {
		n.finds.add(&op{j: j, done: j.create})
	})
}

// create has the task created once it wasn't found.
func (j *job) create() {
	refused := false
	j.node.creates.add(&op{
		j: j, cost: j.s.Costs.DatabaseCreate,
		decide: func() { refused = !j.admit() },
		done: func() {
			if refused {
				j.refuse()
				return
			}
			j.accept()
		},
	})
}

// admit decides about a creation; false: a limit refuses it. A synchronous task has its place in the same commit.
func (j *job) admit() bool {
	s := j.s
	if limit := s.Limits.OpenTasks; limit > 0 && s.open[j.account] >= limit {
		return false
	}
	if limit := s.Limits.Queue; limit > 0 && s.queued.level >= limit {
		return false
	}
	j.created = true
	s.open[j.account]++
	if j.kind == asyncJob {
		s.queued.add(&s.clock, 1)
		return true
	}
	if j.supplier = s.choose(j); j.supplier != noSupplier {
		s.suppliers[j.supplier].flight.add(&s.clock, 1)
	}
	return true
}

func (j *job) accept() {
	j.accepted = j.s.clock.now
	switch {
	case j.kind == asyncJob:
		j.s.waiting.push(j)
		j.node.claim()
	case j.supplier != noSupplier:
		j.work()
	default:
		j.waitForPlace()
	}
}

// waitForPlace waits in the fleet's line until a supplier has a place or, if the task is synchronous, patience ends.
func (j *job) waitForPlace() {
	s := j.s
	since := s.clock.now
	w := &patient{j: j, begin: func() {
		j.waited += s.clock.now - since
		j.attempt()
	}}
	s.patient.push(w)
	if j.kind != asyncJob { // those wait until their deadline, which is far
		s.clock.after(ms(s.Limits.Patience), func() {
			if !w.gone {
				w.gone = true
				j.end(false)
			}
		})
	}
	s.offer()
}

// patient is a task at work that waits for a place.
type patient struct {
	j     *job
	begin func()
	gone  bool
}

// offer gives free places to the tasks in the line. Those in the queue hear of them by their nodes' claims.
func (s *simulation) offer() {
	for s.patient.len() > 0 {
		w := s.patient.all[s.patient.head]
		if w.gone {
			s.patient.pop()
			continue
		}
		if w.j.supplier = s.choose(w.j); w.j.supplier == noSupplier {
			return
		}
		s.patient.pop()
		w.gone = true
		s.suppliers[w.j.supplier].flight.add(&s.clock, 1)
		w.begin()
	}
}

// attempt begins an attempt of a task that is there, on the place that it has.
func (j *job) attempt() {
	j.node.creates.add(&op{j: j, cost: j.s.Costs.DatabaseCreate, decide: func() {}, done: j.work})
}

// beginClaimed begins the work on an asynchronous task.
func (s *simulation) beginClaimed(j *job) {
	j.waited += s.clock.now - j.accepted
	j.attempt()
}

// work sends the request to the supplier of the task's place.
func (j *job) work() {
	s := j.s
	compute := s.Costs.NodeRequest / 2
	if j.kind == streamedChat {
		compute += s.Costs.NodeStream
	}
	j.node.cpu.run(s.ofNodes(compute), false, func() { j.send() })
}

// send has the supplier at work.
func (j *job) send() {
	s := j.s
	j.node.cpu.run(ms(s.Load.CPU/2), s.Load.CPU > 0, func() {
		supplier := &s.suppliers[j.supplier]
		takes := s.clock.logNormal(supplier.Median, supplier.P99)
		fails := s.clock.rng.Float64() < supplier.Fails
		s.own.add(&s.clock, -1)
		if j.kind != asyncJob {
			s.clock.after(takes, func() { j.node.cpu.run(0, true, func() { j.answered(takes, fails) }) })
			return
		}
		ends := s.clock.now + takes
		j.step(func() { // the job is known
			j.node.release()
			j.poll(ends, takes, fails, 0)
		})
	})
}

// poll asks after a job until it has ended.
func (j *job) poll(ends, takes time.Duration, fails bool, last float64) {
	s := j.s
	pause := s.suppliers[j.supplier].Poll
	if pause == 0 {
		pause = min(max(last*pollFactor, pollStart), pollMost)
	}
	s.clock.after(ms(pause), func() {
		j.node.cpu.run(s.ofNodes(s.Costs.NodePoll), false, func() {
			if s.clock.now < ends {
				j.poll(ends, takes, fails, pause)
				return
			}
			j.answered(takes, fails)
		})
	})
}

// answered writes the outcome of an attempt; after a failure the next route has the task.
func (j *job) answered(took time.Duration, fails bool) {
	s := j.s
	j.working += took
	s.own.add(&s.clock, 1)
	if !fails {
		j.step(func() { j.end(true) })
		return
	}
	j.tried |= 1 << j.supplier
	if j.tried == 1<<len(s.suppliers)-1 {
		j.step(func() { j.end(false) })
		return
	}
	s.failovers++
	j.step(func() {
		j.leave()
		if j.kind == asyncJob {
			j.node.slots-- // its turn of a worker
		}
		j.waitForPlace()
	})
}

// step writes one step of the task.
func (j *job) step(then func()) {
	j.node.steps.add(&op{j: j, step: true, cost: j.s.Costs.DatabaseStep, decide: func() {}, done: then})
}

// leave gives the place at the supplier back.
func (j *job) leave() {
	if j.supplier != noSupplier {
		j.s.suppliers[j.supplier].flight.add(&j.s.clock, -1)
		j.supplier = noSupplier
	}
	j.s.offer()
}

// release gives a worker back.
func (n *node) release() {
	n.slots++
	n.claim()
}

// end counts a task that ended.
func (j *job) end(succeeded bool) {
	s := j.s
	j.leave()
	s.open[j.account]--
	s.here.add(&s.clock, -1)
	s.own.add(&s.clock, -1)
	s.ended(j, succeeded)
	j.node.claim()
	j.start.cpu.run(ms(s.Load.CPU/2), j.caller || s.Load.CPU > 0, func() {
		if j.caller {
			s.arrive(j.start, true)
		}
	})
}

// refuse counts a task that a limit refused. Its caller comes again after the advised pause.
func (j *job) refuse() {
	s := j.s
	s.here.add(&s.clock, -1)
	s.own.add(&s.clock, -1)
	s.refused++
	if j.caller {
		s.clock.after(refusedPause, func() { s.arrive(j.start, true) })
	}
}

// refusedPause is the advice to a caller with too many open tasks.
const refusedPause = 2 * time.Second
