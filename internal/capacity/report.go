package capacity

import "slices"

// Report is the outcome of a run, over its measured seconds.
type Report struct {
	Nodes      int     `json:"nodes"`
	Offered    float64 `json:"offered,omitempty"` // tasks a second
	Callers    int     `json:"callers,omitempty"`
	Throughput float64 `json:"throughput"` // tasks that ended well, a second
	Refused    float64 `json:"refused"`    // by limits, a second
	Failed     float64 `json:"failed"`     // without a place or with every supplier failing, a second
	Failovers  float64 `json:"failovers"`  // a second
	Open       float64 `json:"open"`       // tasks that aren't ended, on average
	Growth     float64 `json:"growth"`     // of the tasks that wait in the service, a second

	Total Spread `json:"total"` // from its arrival to its end, ms
	Added Spread `json:"added"` // of it not at a supplier
	Queue Spread `json:"queue"` // of it waiting for a worker or a place

	NodeCPU     float64 `json:"node_cpu"`     // of a task, ms
	DatabaseCPU float64 `json:"database_cpu"` // of a task, ms

	Commits float64 `json:"commits"` // a second
	Flushes float64 `json:"flushes"` // of the log, a second
	Claims  float64 `json:"claims"`  // of them, a second
	Group   float64 `json:"group"`   // operations in a group, on average
	Creates float64 `json:"creates"` // in a group of creations
	Steps   float64 `json:"steps"`   // in a group of steps

	Use        Use    `json:"use"`
	Busiest    string `json:"busiest"` // the part that is used most
	Overloaded bool   `json:"overloaded"`
}

// Spread is a distribution, in milliseconds.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
}

// Use is which part of the time each part is busy, from 0 to 1. With OneMachine the database's cores are the nodes'.
type Use struct {
	Nodes     float64 `json:"nodes"`
	Database  float64 `json:"database"`
	Log       float64 `json:"log"`
	Lanes     float64 `json:"lanes"`
	Claims    float64 `json:"claims"`    // how long the fleet's lock of claims is held
	Counter   float64 `json:"counter"`   // how long the busiest counter is held exclusively
	Suppliers float64 `json:"suppliers"` // places taken, if every supplier has a cap
}

// Parts are the names and the values of the parts, in a fixed order. Lanes are left out: they are busy while they wait
// for any of the others.
func (u Use) Parts() (names []string, values []float64) {
	return []string{"node CPU", "database CPU", "log", "claims", "a counter", "suppliers"},
		[]float64{u.Nodes, u.Database, u.Log, u.Claims, u.Counter, u.Suppliers}
}

// ended counts a task.
func (s *simulation) ended(j *job, succeeded bool) {
	if !succeeded {
		s.failed++
		return
	}
	total := s.clock.now - j.arrived
	s.done = append(s.done, outcome{millis(total), millis(total - j.working), millis(j.waited)})
}

// gauges returns those that are measured.
func (s *simulation) gauges() []*gauge {
	all := []*gauge{&s.here, &s.own, &s.queued, &s.lanesBusy, &s.database.busy, &s.log.busy}
	for _, n := range s.nodes {
		if !s.OneMachine {
			all = append(all, &n.cpu.busy)
		}
	}
	for i := range s.suppliers {
		all = append(all, &s.suppliers[i].flight)
	}
	for _, k := range s.locks.all {
		all = append(all, &k.held)
	}
	return all
}

// reset begins the measurement.
func (s *simulation) reset() {
	for _, g := range s.gauges() {
		g.reset(&s.clock)
	}
	for _, n := range s.nodes {
		n.creates.sizes, n.steps.sizes = tally{}, tally{}
	}
	s.commits, s.claims, s.refused, s.failed, s.failovers, s.log.flushes, s.done = 0, 0, 0, 0, 0, 0, nil
	s.nodeCPU, s.databaseCPU = 0, 0
}

func (s *simulation) report(before int) Report {
	for _, g := range s.gauges() {
		g.add(&s.clock, 0)
	}
	a := func(n int) float64 { return float64(n) / s.Seconds }
	var creates, steps tally
	for _, n := range s.nodes {
		creates, steps = creates.plus(n.creates.sizes), steps.plus(n.steps.sizes)
	}
	tasks := float64(max(len(s.done), 1))
	r := Report{
		Nodes: s.Nodes, Offered: s.Load.Rate, Callers: s.Load.Callers, Throughput: a(len(s.done)),
		Refused: a(s.refused), Failed: a(s.failed), Failovers: a(s.failovers),
		Open: s.here.area / s.Seconds, Growth: a(s.own.level - before),
		Total:   spread(s.done, func(o outcome) float64 { return o.total }),
		Added:   spread(s.done, func(o outcome) float64 { return o.added }),
		Queue:   spread(s.done, func(o outcome) float64 { return o.queue }),
		NodeCPU: s.nodeCPU / tasks, DatabaseCPU: s.databaseCPU / tasks,
		Commits: a(s.commits), Flushes: a(s.log.flushes), Claims: a(s.claims), Creates: creates.mean(), Steps: steps.mean(),
		Group: creates.plus(steps).mean(), Use: s.use(),
	}
	r.Busiest = busiest(r.Use)
	r.Overloaded = r.overloaded(s.Seconds)
	return r
}

// overloaded reports whether more comes than goes: two of a hundred tasks stay in the service, or are refused or fail.
func (r Report) overloaded(seconds float64) bool {
	grows := r.Offered > 0 && r.Growth > r.Offered/50 && r.Growth*seconds > 50
	return grows || r.Refused+r.Failed > r.Throughput/50
}

// use is how busy each part was.
func (s *simulation) use() Use {
	part := func(g gauge, of int) float64 { return g.area / s.Seconds / float64(of) }
	u := Use{
		Database: part(s.database.busy, s.DatabaseCores), Log: part(s.log.busy, 1),
		Lanes: part(s.lanesBusy, 3*s.Lanes*s.Nodes),
	}
	for _, n := range s.nodes {
		u.Nodes += part(n.cpu.busy, n.cpu.cores*s.Nodes)
	}
	for id, k := range s.locks.all {
		if id == claimLock {
			u.Claims = part(k.held, 1)
		} else {
			u.Counter = max(u.Counter, part(k.held, 1))
		}
	}
	places, taken := 0, 0.0
	for i := range s.suppliers {
		if s.suppliers[i].Cap == 0 {
			return u
		}
		places, taken = places+s.suppliers[i].Cap, taken+s.suppliers[i].flight.area
	}
	u.Suppliers = taken / s.Seconds / float64(places)
	return u
}

func busiest(u Use) string {
	names, values := u.Parts()
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return names[best]
}

func (t tally) plus(u tally) tally { return tally{t.groups + u.groups, t.ops + u.ops} }

func (t tally) mean() float64 {
	if t.groups == 0 {
		return 0
	}
	return float64(t.ops) / float64(t.groups)
}

func spread(all []outcome, of func(outcome) float64) Spread {
	if len(all) == 0 {
		return Spread{}
	}
	values := make([]float64, len(all))
	sum := 0.0
	for i, o := range all {
		values[i] = of(o)
		sum += values[i]
	}
	slices.Sort(values)
	at := func(part float64) float64 { return values[int(part*float64(len(values)-1))] }
	return Spread{Mean: sum / float64(len(values)), P50: at(0.5), P99: at(0.99)}
}
