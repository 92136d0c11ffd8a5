package store

import "time"

// Timer is an optional interface of an engine whose clock several nodes share: they go by it, whatever their own say.
type Timer interface {
	// Now returns the time by that clock, within a round trip, with a monotonic reading. It costs no round trip.
	Now() time.Time
}

// Clock bounds the time while the wall clock may be set: by its reading, and by its reading at the start plus the
// time since on the monotonic clock. A time that is stamped with the later of the two and judged by the earlier never
// expires early.
type Clock struct {
	now   func() time.Time
	start time.Time
}

// NewClock returns a Clock that starts now.
func NewClock(now func() time.Time) Clock { return Clock{now: now, start: now()} }

// Past returns the earlier one, to judge by. Setting the clock forward expires no row; one that was wrong at the
// start and is set back is believed.
func (c Clock) Past() time.Time {
	wall, steady := c.both()
	if wall.Before(steady) {
		return wall
	}
	return steady
}

// Stamp returns the later one, to record. It doesn't go back but with a clock that had been set forward.
func (c Clock) Stamp() time.Time {
	wall, steady := c.both()
	if wall.After(steady) {
		return wall
	}
	return steady
}

func (c Clock) both() (wall, steady time.Time) {
	now := c.now()
	return now.Round(0).UTC(), c.start.Round(0).Add(now.Sub(c.start)).UTC()
}
