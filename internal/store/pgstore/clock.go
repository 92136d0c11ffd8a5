package pgstore

import (
	"sync"
	"time"
)

// clockStep is by how much the database's clock has to differ from what is known of it before it is believed again:
// more than a round trip's uncertainty.
const clockStep = 100 * time.Millisecond

// clock knows the database's clock between two readings of it. It goes on by the machine's monotonic clock, so that
// setting the machine's wall clock changes nothing. Safe for concurrent use.
type clock struct {
	base time.Time // of the machine, at the start

	mu    sync.Mutex
	read  bool
	first time.Duration // of the database's clock from base and the time since, at the first reading
	off   time.Duration // the same now
}

func newClock(machine func() time.Time) *clock { return &clock{base: machine()} }

// both returns the time by the database's clock, and the time by its first reading and what has passed since.
func (c *clock) both() (now, steady time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := time.Since(c.base)
	return c.base.Add(passed + c.off), c.base.Add(passed + c.first)
}

// set notes a reading that was asked for at a moment and has just arrived.
func (c *clock) set(read, asked time.Time) {
	trip := time.Since(asked)
	c.mu.Lock()
	defer c.mu.Unlock()
	off := read.Add(trip / 2).Sub(c.base.Round(0).Add(time.Since(c.base)))
	if !c.read {
		c.read, c.first, c.off = true, off, off
	} else if (off - c.off).Abs() > max(clockStep, trip) {
		c.off = off
	}
}

// Now implements store.Timer.
func (db *DB) Now() time.Time {
	now, _ := db.Both()
	return now
}

// Both implements store.Timer.
func (db *DB) Both() (now, steady time.Time) {
	if db.now != nil {
		return db.now(), db.now()
	}
	return db.clock.both()
}
