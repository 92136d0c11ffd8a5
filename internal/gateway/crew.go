package gateway

import (
	"context"
	"sync"
	"time"
)

// crewIdle is how long a goroutine of a crew waits for its next task, or up to twice as long.
const crewIdle = 5 * time.Second

// crew runs functions on goroutines that take one after the other: a task's way is deep, and a new
// goroutine's stack would be copied several times on it.
type crew struct {
	mu     sync.Mutex
	free   []*hand // the one that has been free for longest comes first
	rounds int     // how often the idle ones were looked for
	looks  bool    // they will be
	over   bool
}

// hand is a goroutine of a crew.
type hand struct {
	next  chan func() // nil ends it
	since int         // the round in which it became free
}

// newCrew returns a crew whose goroutines end with ctx, as soon as they are free.
func newCrew(ctx context.Context) *crew {
	c := &crew{}
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.over = true
		c.dismissLocked(len(c.free))
	})
	return c
}

// run runs f at once, on the goroutine that became free last or on a new one.
func (c *crew) run(f func()) {
	c.mu.Lock()
	last := len(c.free) - 1
	if last < 0 {
		c.mu.Unlock()
		go c.work(f)
		return
	}
	h := c.free[last]
	c.free[last], c.free = nil, c.free[:last]
	c.mu.Unlock()
	h.next <- f
}

func (c *crew) work(f func()) {
	h := &hand{next: make(chan func(), 1)}
	for f != nil {
		f()
		if !c.rest(h) {
			return
		}
		f = <-h.next
	}
}

// rest makes h free, and reports whether it is to wait for its next task.
func (c *crew) rest(h *hand) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	h.since = c.rounds
	c.free = append(c.free, h)
	if !c.looks {
		c.looks = true
		time.AfterFunc(crewIdle, c.look)
	}
	return true
}

// look lets those go that have been free since the round before.
func (c *crew) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := 0
	for idle < len(c.free) && c.free[idle].since < c.rounds {
		idle++
	}
	c.dismissLocked(idle)
	c.rounds++
	if c.looks = len(c.free) > 0; c.looks {
		time.AfterFunc(crewIdle, c.look)
	}
}

// dismissLocked ends those that have been free for longest.
func (c *crew) dismissLocked(n int) {
	for _, h := range c.free[:n] {
		h.next <- nil
	}
	kept := copy(c.free, c.free[n:])
	clear(c.free[kept:])
	c.free = c.free[:kept]
}
