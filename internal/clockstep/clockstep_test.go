package clockstep_test

import (
	"testing"
	"time"

	"unitask/internal/clockstep"
)

func TestBy(t *testing.T) {
	start := time.Now()
	for _, d := range []time.Duration{time.Hour, -time.Hour, 365 * 24 * time.Hour, -365 * 24 * time.Hour, 0} {
		got := clockstep.By(start.Add(time.Minute), d)
		if since := got.Sub(start); since != time.Minute {
			t.Errorf("%s: %s have passed, want a minute", d, since)
		}
		if wall := got.Round(0).Sub(start.Round(0)); wall != d+time.Minute {
			t.Errorf("%s: the wall clock went on by %s", d, wall)
		}
	}
}
