//go:build unix

package browser_test

import (
	"testing"

	"unitask/test/harness"
)

// TestRuns: a browser remembers whose runs they are, goes on with those that a page had begun, and sends none twice.
func TestRuns(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = harness.NewSupplier(t).Config() // of live chats
	run(t, "runs.mjs", s)
	if t.Failed() {
		t.Log(s.Warnings())
	}
}
