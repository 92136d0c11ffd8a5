//go:build unix

package browser_test

import (
	"testing"

	"unitask/test/harness"
)

// TestKeptRequests: requests that an account keeps, on its pages.
func TestKeptRequests(t *testing.T) { run(t, "memory.mjs", harness.NewServer(t)) }
