package harness_test

import (
	"testing"

	"unitask/test/harness"
)

// TestFreeAddress: no address is given to two servers, though they don't listen there yet.
func TestFreeAddress(t *testing.T) {
	given := map[string]bool{}
	for range 300 {
		address := harness.FreeAddress(t)
		if given[address] {
			t.Fatalf("%s is given twice", address)
		}
		given[address] = true
	}
}
