//go:build unix

package browser_test

import (
	"testing"

	"unitask/test/harness"
)

// TestPeople: an operator makes an admin, who invites members, and both see the pages about people.
func TestPeople(t *testing.T) {
	s := harness.NewServer(t)
	run(t, "people.mjs", s)
	if t.Failed() {
		t.Log(s.Warnings())
	}
}
