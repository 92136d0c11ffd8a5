//go:build unix

package browser_test

import (
	"testing"

	"unitask/test/harness"
)

// TestPlay: the trial's form: files by drop and paste, sliders, choices, JSON both ways, keys, a shared address, and the
// price before a live run.
func TestPlay(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = harness.NewSupplier(t).Config() // of live chats
	run(t, "trial_play.mjs", s)
}
