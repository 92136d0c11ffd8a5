package fleet_test

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"time"
)

// The faults.
const (
	killed    = "kill"
	pausedFor = "pause"
	restarted = "change of version"
	crashed   = "crash of the database"
	stoppedDB = "stop of the database"
)

// faults lets one fault after the other happen until all tasks are begun and each fault has been there, or no task ends
// any more: nodes in turn, and the database, which crashes once a third of the tasks is done and is stopped after two
// thirds. A node is killed, or stopped in order, while the database is away.
func (s *storm) faults() {
	s.Helper()
	rng := rand.New(rand.NewPCG(s.seed, 1_000_000))
	nodeFaults := []struct {
		name string
		do   func(*rand.Rand, int)
	}{{killed, s.kill}, {pausedFor, s.pause}, {restarted, s.restart}}
	for n := 0; s.goesOn(); n++ {
		switch done := s.progress(); {
		case s.counts[crashed] == 0 && done >= s.tasks/3:
			s.outage(rng, crashed, s.database.Crash, n%len(s.nodes), syscall.SIGKILL)
		case s.counts[stoppedDB] == 0 && done >= 2*s.tasks/3:
			s.outage(rng, stoppedDB, s.database.Stop, n%len(s.nodes), syscall.SIGTERM)
		default:
			f := nodeFaults[n%len(nodeFaults)]
			node := (n + n/3) % len(s.nodes) // each fault meets each node
			f.do(rng, node)
			s.counts[f.name]++
		}
		for _, node := range s.nodes {
			node.AwaitReady()
		}
		s.mu.Lock()
		s.faulted = len(s.counts) == 5
		s.mu.Unlock()
		time.Sleep(time.Duration(200+rng.IntN(800)) * time.Millisecond)
	}
}

// goesOn reports whether there are more faults: tasks are to begin yet, and one ended not too long ago.
func (s *storm) goesOn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.begunLocked() && time.Since(s.ended) < settleTime
}

// kill ends a node as a crash does.
func (s *storm) kill(rng *rand.Rand, node int) {
	s.Helper()
	s.stopped(node, s.nodes[node].Warnings())
	time.Sleep(time.Duration(rng.IntN(1500)) * time.Millisecond)
	s.launch(node)
}

// pause stops a node past its lease and lets it go on.
func (s *storm) pause(rng *rand.Rand, node int) {
	s.Helper()
	p := pause{life: s.life(node), from: time.Now()}
	s.signal(node, syscall.SIGSTOP)
	time.Sleep(lease + time.Duration(300+rng.IntN(1500))*time.Millisecond)
	p.to = time.Now()
	s.watch.pausing(p)
	s.signal(node, syscall.SIGCONT)
}

// restart stops a node in order and starts it as another version with other settings.
func (s *storm) restart(_ *rand.Rand, node int) {
	s.Helper()
	s.nodes[node].Stop()
	s.stopped(node, s.nodes[node].Output())
	s.runs[node] = 1 - s.runs[node]
	s.launch(node)
}

// stopped looks for a fault of the program in what a life said.
func (s *storm) stopped(node int, said string) {
	s.Helper()
	if strings.Contains(said, "panic") || strings.Contains(said, "DATA RACE") {
		s.Errorf("%s:\n%s", s.life(node), said)
	}
}

// outage ends the database and, while it is away, a node by a signal. Both are started again.
func (s *storm) outage(rng *rand.Rand, name string, end func() error, node int, sig syscall.Signal) {
	s.Helper()
	if err := end(); err != nil {
		s.Fatal(err)
	}
	time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
	s.signal(node, sig)
	time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
	if err := s.database.Restart(); err != nil {
		s.Fatal(err)
	}
	select {
	case <-s.nodes[node].Exited():
	case <-time.After(time.Minute):
		s.Errorf("%s hasn't ended a minute after %s", s.life(node), sig)
	}
	s.stopped(node, s.nodes[node].Output())
	s.launch(node)
	s.counts[name]++
}

// progress returns how many tasks have ended.
func (s *storm) progress() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// settleTime is how long the last tasks may take once there are no faults any more, and how long none may end before that.
const settleTime = 2 * time.Minute

// settle waits for the callers, and reports whether they are done in time.
func (s *storm) settle(called <-chan struct{}) bool {
	select {
	case <-called:
		return true
	case <-time.After(settleTime):
		return false
	}
}
