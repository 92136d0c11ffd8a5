package sim_test

import (
	"context"
	"math/rand/v2"
	"time"
)

// full reports whether the disk has no room now: for two seconds in each twenty.
func (w *world) full() bool { return w.shape.fills && time.Now().UnixNano()/1e9%20 < 2 }

// loses reports whether a write's answer is lost: now and then, and most for five seconds in each forty.
func (w *world) loses(rng *rand.Rand) bool {
	switch {
	case !w.shape.loses:
		return false
	case time.Now().UnixNano()/1e9%40 < 5:
		return !oneIn(rng, 8)
	default:
		return oneIn(rng, 15)
	}
}

// crashIfDue kills the node, or the whole machine, if a crash is due at this crash point.
func (w *world) crashIfDue(n *node, m crashPoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed == nil || w.armed.at != m || n.dead.Load() {
		return
	}
	w.kill(n)
}

// kill marks the node dead, and with it the others if the whole machine crashes. The lock is held.
func (w *world) kill(n *node) {
	var left []*node
	for _, other := range w.nodes {
		if other == n || w.armed.kind == crash {
			other.dead.Store(true)
			w.bury(other)
		} else {
			left = append(left, other)
		}
	}
	w.nodes, w.armed = left, nil
	w.tripped <- n
}

// disrupt applies the incidents one after the other, until ctx ends.
func (w *world) disrupt(ctx context.Context) {
	for _, b := range w.shape.incidents {
		if !rest(ctx, b.after) {
			return
		}
		w.suffered = append(w.suffered, b.kind)
		switch b.kind {
		case restart:
			w.restart(b)
		case freeze:
			n := w.alive()[0]
			n.frozen.Store(time.Now().Add(w.shape.lease/2 + b.down).UnixNano())
		default:
			w.crash(b)
		}
	}
}

func (w *world) restart(b incident) {
	nodes := w.alive()
	w.mu.Lock()
	w.nodes = nil
	w.mu.Unlock()
	for _, n := range nodes {
		if err := n.g.Shutdown(context.Background()); err != nil && !n.dead.Load() {
			w.surprise("shutdown: %v", err)
		}
	}
	if err := w.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(b.down)
	w.db = w.open(w.path())
	w.start()
}

// crash kills at the incident's crash point, or after half a minute at any point.
func (w *world) crash(b incident) {
	stale := w.planted.image(w)
	w.mu.Lock()
	w.armed = &b
	w.mu.Unlock()
	select {
	case <-w.tripped:
	case <-time.After(30 * time.Second):
		w.mu.Lock()
		if w.armed != nil && len(w.nodes) > 0 {
			w.kill(w.nodes[0])
		}
		w.mu.Unlock()
		<-w.tripped
	}
	if b.kind == crash {
		left := stale
		if left == nil {
			left = w.image()
		}
		w.files++
		left.put(w)
		if err := w.db.Close(); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(b.down)
		w.db = w.open(w.path())
	} else {
		time.Sleep(b.down)
	}
	w.start()
}
