//go:build unix

package browser_test

import (
	"testing"

	"unitask/test/harness"
)

// TestResult: each kind of output reads well, stays harmless, and can be taken along.
func TestResult(t *testing.T) {
	s := harness.NewServer(t)
	run(t, "result.mjs", s)
	if t.Failed() {
		t.Log(s.Warnings())
	}
}
