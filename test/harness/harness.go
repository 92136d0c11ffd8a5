// Package harness is the shared part of the tests of whole processes: the built binary, a server that is started,
// killed and started again on one data folder, requests to it, a person's terminal, and a look into its database from
// outside.
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

	"unitask/internal/store/pgstore/pgtest"
)

// binary and database are written by Main alone, before any test runs.
var (
	binary   string
	database *pgtest.Server // nil: each server has a bbolt file
)

// storeVariable chooses the store of all servers: bolt, or postgres, a real server with a schema for each.
const storeVariable = "UNITASK_TEST_STORE"

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
	if os.Getenv(storeVariable) == "postgres" {
		if database, err = pgtest.New(pgtest.Config{Sync: true}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = database.Remove() }()
	}
	return m.Run()
}

// OnPostgres reports whether the servers keep their tasks in PostgreSQL.
func OnPostgres() bool { return database != nil }

// NeedsBolt skips a test that is about the database file in the data folder.
func NeedsBolt(t *testing.T) {
	t.Helper()
	if OnPostgres() {
		t.Skip("not run: it is about the data folder's database")
	}
}

// Build builds unitask with the build tags, and further flags of go build, into a file. It is "go run" that builds,
// which keeps the linked program in Go's cache: the packages that need one link it once.
func Build(file, tags string, flags ...string) error {
	args := append([]string{"run", "-tags", tags, "-exec", "cp"}, flags...)
	build := exec.CommandContext(context.Background(), "go", append(args, "unitask/cmd/unitask", file)...)
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
