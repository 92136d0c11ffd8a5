package crash_test

import (
	"math/rand/v2"
	"strings"
	"time"

	"unitask/test/harness"
)

// killAgainAndAgain kills the running server n times and leaves it running. One kill in five meets a
// server that is still starting.
func killAgainAndAgain(s *harness.Server, rng *rand.Rand, n int) {
	s.T.Helper()
	for range n {
		live(s, rng)
		s.Kill()
		if strings.Contains(s.Warnings(), "panic") {
			s.T.Errorf("the server panicked:\n%s", s.Warnings())
		}
		s.Launch()
	}
	s.AwaitReady()
}

// live lets the server live until the moment it is to be killed.
func live(s *harness.Server, rng *rand.Rand) {
	s.T.Helper()
	span := 20 + rng.IntN(900)
	if rng.IntN(5) == 0 {
		span = rng.IntN(150)
	} else {
		s.AwaitReady()
	}
	select {
	case <-time.After(time.Duration(span) * time.Millisecond):
	case <-s.Exited():
		s.T.Fatalf("the server ended by itself:\n%s", s.Warnings())
	}
}
