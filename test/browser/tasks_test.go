//go:build unix

package browser_test

import (
	"testing"

	"unitask/test/harness"
)

// TestTasks: the list of tasks is filtered, paged both ways, searched and exported.
func TestTasks(t *testing.T) { run(t, "tasks.mjs", harness.NewServer(t)) }
