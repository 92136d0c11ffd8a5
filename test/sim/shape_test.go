package sim_test

import "time"

// shape is the plan of a run, as the seed decides: the number of nodes and callers, the quality of the
// disk, and the incidents.
type shape struct {
	nodes     int
	callers   int
	leisure   time.Duration // the longest between two tasks of a caller
	lease     time.Duration
	slow      time.Duration // the longest duration of a write; 0: writes take no time
	fills     bool          // the disk is full now and then
	open      int           // open tasks a key, 0: any number
	queue     int           // waiting tasks, 0: any number
	folder    bool          // results are kept in a real folder
	flush     time.Duration // how long records may be in the log only; 0: the default
	deadline  time.Duration // of a picture
	review    review
	loses     bool // answers to writes are lost
	month     bool // a month passes at the end
	incidents []incident
}

// incident is a restart, a crash or a freeze of the service.
type incident struct {
	after time.Duration // since the last one
	kind  incidentKind
	at    crashPoint    // of a crash
	down  time.Duration // until the next start, or for how long it is frozen
}

type incidentKind string

const (
	restart   incidentKind = "restart"    // in good order
	crash     incidentKind = "crash"      // the machine, with all nodes
	nodeCrash incidentKind = "node crash" // one of two nodes; the other takes over
	freeze    incidentKind = "freeze"     // one of two nodes hangs past its leases, and then goes on
)

func (d choices) shape() shape {
	rng := d.of("shape", "", 0)
	s := shape{nodes: 1 + rng.IntN(2), callers: 30 + rng.IntN(50), lease: 30 * time.Second}
	if s.nodes == 1 && oneIn(rng, 2) {
		s.lease = 100 * 365 * 24 * time.Hour // as serve sets it
	}
	if oneIn(rng, 2) {
		s.slow = between(rng, time.Millisecond, 2*time.Second)
	}
	s.leisure = between(rng, time.Second, 30*time.Second)
	s.fills, s.folder, s.month = oneIn(rng, 3), oneIn(rng, 10), oneIn(rng, 5)
	if oneIn(rng, 4) {
		s.open = 3 + rng.IntN(10)
	}
	if oneIn(rng, 4) {
		s.queue = 5 + rng.IntN(20)
	}
	kinds := []incidentKind{restart, crash, crash}
	if s.nodes > 1 {
		kinds = append(kinds, nodeCrash, freeze, freeze)
	}
	for range rng.IntN(6) {
		s.incidents = append(s.incidents, incident{
			after: between(rng, time.Second, 40*time.Second), kind: kinds[rng.IntN(len(kinds))],
			at: crashPoint(rng.IntN(int(crashPoints))), down: between(rng, 100*time.Millisecond, 45*time.Second),
		})
	}
	if !oneIn(rng, 4) {
		s.flush = between(rng, time.Second, 30*time.Second)
	}
	s.deadline = 15 * time.Minute // as in the directory
	if !oneIn(rng, 4) {
		s.deadline = between(rng, 2*time.Minute, 5*time.Minute)
	}
	s.review = []review{unreviewed, unreviewed, strict, lenient}[rng.IntN(4)]
	s.loses = oneIn(rng, 2)
	return s
}

// review is whether a moderation supplier is asked, and the fate of work if it can't be asked.
type review string

const (
	unreviewed review = ""
	strict     review = "strict"
	lenient    review = "lenient"
)
