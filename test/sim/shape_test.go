package sim_test

import "time"

// shape is what the seed makes of a run: how many nodes and callers, how good the disk, what befalls
// them.
type shape struct {
	nodes     int
	callers   int
	leisure   time.Duration // the longest between two tasks of a caller
	lease     time.Duration
	slow      time.Duration // the longest that a write takes; 0: none takes any time
	fills     bool          // the disk is full now and then
	open      int           // open tasks a key, 0: any number
	queue     int           // waiting tasks, 0: any number
	folder    bool          // results are kept in a real folder
	flush     time.Duration // how long the log may have what the tree lacks, 0: as by default
	deadline  time.Duration // of a picture
	review    review
	month     bool // a month passes at the end
	incidents []incident
}

// incident is something that befalls the service.
type incident struct {
	after time.Duration // since the last one
	kind  incidentKind
	at    moment        // of a crash
	down  time.Duration // until the next start, or for how long it is frozen
}

type incidentKind string

const (
	restart   incidentKind = "restart"    // in good order
	crash     incidentKind = "crash"      // the machine, with all nodes
	nodeCrash incidentKind = "node crash" // one of two nodes; the other takes over
	freeze    incidentKind = "freeze"     // one of two nodes hangs past its leases, and then goes on
)

func (d dice) shape() shape {
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
			at: moment(rng.IntN(int(moments))), down: between(rng, 100*time.Millisecond, 45*time.Second),
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
	return s
}

// review says whether a moderation supplier is asked, and what becomes of work where it can't be.
type review string

const (
	unreviewed review = ""
	strict     review = "strict"
	lenient    review = "lenient"
)
