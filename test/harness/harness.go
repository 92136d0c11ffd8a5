// Package harness is the shared part of the tests of whole processes: the built binary, a server that is started,
// killed and started again on one data folder, requests to it, and a look into its database from outside.
//
// It makes no judgements. It runs on loopback, and everything it starts ends with the test.
package harness

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// binary is written by Main alone, before any test runs.
var binary string

// Main is for TestMain: it builds the binary and runs the tests.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "unitask-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "unitask")
	if err := Build(binary, ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Build builds unitask with the build tags into a file.
func Build(file, tags string) error {
	build := exec.CommandContext(context.Background(), "go", "build", "-tags", tags, "-o", file, "unitask/cmd/unitask")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// Binary returns the path of the built unitask.
func Binary() string { return binary }

// Setting reads a number from the environment; otherwise stands for one that isn't set.
func Setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), strconv.FormatUint(otherwise, 10)), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
