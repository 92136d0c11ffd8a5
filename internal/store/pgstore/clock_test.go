package pgstore_test

import (
	"testing"
	"time"

	"unitask/internal/store/pgstore"
)

// TestClock: a node knows the database's clock, whatever its own says; a step is followed, a reading's uncertainty is not.
func TestClock(t *testing.T) {
	for _, machine := range []time.Duration{0, time.Hour, -365 * 24 * time.Hour} {
		for want, readings := range map[time.Duration][]time.Duration{
			0:             {0},
			2 * time.Hour: {0, 2 * time.Hour},
			-time.Minute:  {time.Hour, -time.Minute, -time.Minute + 30*time.Millisecond},
		} {
			got := time.Until(pgstore.ClockAfter(machine, readings...).Round(0))
			if (got - want).Abs() > 20*time.Millisecond {
				t.Errorf("a machine off by %s, readings off by %v: off by %s, want %s", machine, readings, got, want)
			}
		}
	}
}
