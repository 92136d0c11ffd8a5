package pgstore

import (
	"sync/atomic"
	"time"
)

// clockStep is by how much the database's clock has to differ from what is known of it before it is believed again:
// more than a round trip's uncertainty.
const clockStep = 100 * time.Millisecond

// clock knows the database's clock between two readings of it. It goes on by the machine's monotonic clock, so that
// setting the machine's wall clock changes nothing. Safe for concurrent use.
type clock struct {
	base time.Time    // of the machine, at the start
	off  atomic.Int64 // of the database's clock from base and the time since
}

func newClock(machine func() time.Time) *clock { return &clock{base: machine()} }

// now returns the time by the database's clock, with a monotonic reading.
func (c *clock) now() time.Time { return c.base.Add(time.Since(c.base) + time.Duration(c.off.Load())) }

// set notes a reading that was asked for at a moment and has just arrived.
func (c *clock) set(read, asked time.Time) {
	trip := time.Since(asked)
	off := read.Add(trip / 2).Sub(c.base.Round(0).Add(time.Since(c.base)))
	if known := time.Duration(c.off.Load()); (off - known).Abs() > max(clockStep, trip) {
		c.off.Store(int64(off))
	}
}

// Now implements store.Timer.
func (db *DB) Now() time.Time {
	if db.now != nil {
		return db.now()
	}
	return db.clock.now()
}
