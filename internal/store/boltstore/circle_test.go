package boltstore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
)

// Each names the file that a test binary, started anew, checks, starts on and sweeps.
const (
	circleVariable = "BOLTSTORE_TEST_CIRCLE"
	circleMemory   = 1 << 30 // bytes beyond which it ends itself
)

// endBeyond ends the process once it has taken so much memory.
func endBeyond(most uint64) {
	taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	for {
		if metrics.Read(taken); taken[0].Value.Uint64() > most {
			fmt.Fprintln(os.Stderr, "it took too much memory")
			os.Exit(1)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// goInCircles prints the results of a check, a start and a sweep.
func goInCircles(path string) error {
	go endBeyond(circleMemory)
	fmt.Println("check:", cmp.Or(checkCopy(context.Background(), path), errors.New("nothing")))
	later := func() time.Time { return time.Now().Add(2 * time.Hour) } // all tasks are old enough to be looked at
	db, err := boltstore.Open(boltstore.Config{Path: path, NoSync: true, Now: later})
	fmt.Println("start:", cmp.Or(err, errors.New("nothing")))
	if err == nil {
		_, err = db.Sweep(context.Background(), store.SweepRequest{Retention: time.Hour, Limit: 10})
		fmt.Println("sweep:", cmp.Or(err, errors.New("nothing")))
	}
	return nil // the test judges the results
}

// TestPagesInCircles: a check finds a branch page that leads back to itself, and so does a start if it would go
// there; a sweep that does ends in words. No command takes all memory.
func TestPagesInCircles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true})
	for range 400 {
		mustCreate(t, db)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw := mustReadFile(t, path)
	const named, order = "is named twice", "aren't in order"
	for _, tt := range []struct {
		bucket string
		part   int
		start  string
		sweep  string
	}{
		{"open", 0, named, ""},
		{"open", 50, named, ""},
		{"open", 100, named, ""},
		{"tasks", 50, "nothing", order},
		{"tasks", 100, named, ""},
		{"by_scope", 50, "nothing", "nothing"},
	} {
		t.Run(fmt.Sprint(tt.bucket, "_", tt.part), func(t *testing.T) {
			t.Parallel()
			damaged := filepath.Join(t.TempDir(), "unitask.db")
			mustWriteFile(t, damaged, raw)
			if err := boltstore.LeadBack(damaged, tt.bucket, tt.part); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), longestReading)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), circleVariable+"="+damaged)
			said, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %.2000s", err, said)
			}
			for step, want := range map[string]string{"check": named, "start": tt.start, "sweep": tt.sweep} {
				_, got, _ := strings.Cut(string(said), step+": ")
				if got, _, _ = strings.Cut(got, "\n"); !strings.Contains(got, want) {
					t.Errorf("the %s says %q, want %q", step, got, want)
				}
			}
		})
	}
}
