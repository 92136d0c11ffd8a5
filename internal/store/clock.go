package store

import "time"

// Timer is an optional interface of an engine whose clock several nodes share: they go by it, whatever their own say.
// Its methods cost no round trip.
type Timer interface {
	// Now returns the time by that clock, within 100 ms and a round trip.
	Now() time.Time
	// Both returns Now, and the time that the clock would show if it hadn't been set since the start.
	Both() (now, steady time.Time)
}

// Clock bounds the time while the wall clock may be set: by its reading, and by its reading at the start plus the
// time since on the monotonic clock. A time that is stamped with the later of the two and judged by the earlier never
// expires early.
type Clock struct {
	both func() (wall, steady time.Time)
}

// NewClock returns a Clock that starts now.
func NewClock(now func() time.Time) Clock {
	start := now()
	return Clock{func() (wall, steady time.Time) {
		at := now()
		return at, start.Round(0).Add(at.Sub(start))
	}}
}

// ClockOf returns the clock of all nodes on an engine if it is a Timer, else NewClock(now).
func ClockOf(engine any, now func() time.Time) Clock {
	if shared, ok := engine.(Timer); ok {
		return Clock{shared.Both}
	}
	return NewClock(now)
}

// Past returns the earlier one, to judge by. Setting the clock forward expires no row; one that was wrong at the
// start and is set back is believed.
func (c Clock) Past() time.Time {
	wall, steady := c.both()
	if wall.Before(steady) {
		return wall.Round(0).UTC()
	}
	return steady.Round(0).UTC()
}

// Stamp returns the later one, to record. It doesn't go back but with a clock that had been set forward.
func (c Clock) Stamp() time.Time {
	wall, steady := c.both()
	if wall.After(steady) {
		return wall.Round(0).UTC()
	}
	return steady.Round(0).UTC()
}
