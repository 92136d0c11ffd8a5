//go:build unix

package browser_test

import (
	"testing"

	"unitask/test/harness"
)

// TestPalette: the palette leads to pages, capabilities, actions and ids by keyboard alone, and by mouse.
func TestPalette(t *testing.T) { run(t, "palette.mjs", harness.NewServer(t)) }
