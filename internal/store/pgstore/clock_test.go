package pgstore_test

import (
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/store/pgstore"
)

// TestClock: a node knows the database's clock, whatever its own says; a step is followed, a reading's uncertainty is
// not, and what is judged by the steady clock doesn't expire by a step.
func TestClock(t *testing.T) {
	for _, machine := range []time.Duration{0, 50 * time.Millisecond, time.Hour, -365 * 24 * time.Hour} {
		for want, readings := range map[time.Duration][]time.Duration{
			0:             {0},
			2 * time.Hour: {0, 2 * time.Hour},
			-time.Minute:  {time.Hour, -time.Minute, -time.Minute + 30*time.Millisecond},
		} {
			synctest.Test(t, func(t *testing.T) {
				now, steady := pgstore.ClockAfter(machine, readings...)
				if got := time.Until(now.Round(0)); got != want {
					t.Errorf("a machine off by %s, readings off by %v: off by %s, want %s", machine, readings, got, want)
				}
				if got := time.Until(steady.Round(0)); got != readings[0] {
					t.Errorf("a machine off by %s, readings off by %v: steadily off by %s, want %s", machine, readings, got, readings[0])
				}
			})
		}
	}
}
