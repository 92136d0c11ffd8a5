// Package harness is what the tests of whole processes share: the built binary, a server that is
// started, killed and started again on one data folder, and a look into its database from outside.
//
// It judges nothing. It runs on loopback, and everything it starts ends with the test.
package harness

import (
	"cmp"
	"os"
	"strconv"
	"testing"
)

// Setting reads a number from the environment; otherwise stands for one that isn't set.
func Setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), strconv.FormatUint(otherwise, 10)), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
