package boltstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store/boltstore"
)

func TestOpenMakesAPrivateFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(dir, "unitask.db")})
	got := map[string]fs.FileMode{}
	for _, name := range append([]string{""}, names(t, dir)...) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = info.Mode()
	}
	want := map[string]fs.FileMode{
		"": fs.ModeDir | 0o700, "unitask.db": 0o600, "unitask.db.holder": 0o600, "unitask.db.log0": 0o600, "unitask.db.log1": 0o600,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"unitask.db"}, names(t, dir)); diff != "" {
		t.Errorf("files after Close (-want +got):\n%s", diff)
	}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestOpenSaysWhoHoldsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	mustOpen(t, boltstore.Config{Path: path})
	_, err := boltstore.Open(boltstore.Config{Path: path})
	locked, ok := errors.AsType[*boltstore.LockedError](err)
	if !ok {
		t.Fatalf("Open of a locked file: got %v, want a *LockedError", err)
	}
	for _, part := range []string{path, fmt.Sprintf("process %d, since 2", os.Getpid())} {
		if !strings.Contains(locked.Error(), part) {
			t.Errorf("got %q, want it to say %q", locked, part)
		}
	}
}

func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	var mu sync.Mutex
	var opened []*boltstore.DB
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			db, err := boltstore.Open(boltstore.Config{Path: path})
			if _, locked := errors.AsType[*boltstore.LockedError](err); err != nil && !locked {
				t.Errorf("Open: %v", err)
			}
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				opened = append(opened, db)
			}
		})
	}
	wg.Wait()
	if len(opened) != 1 {
		t.Fatalf("%d opened it, want 1", len(opened))
	}
	mustCreate(t, opened[0])
	mustBeConsistent(t, opened[0])
	if err := opened[0].Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"unitask.db"}, names(t, filepath.Dir(path))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path})
	if err := boltstore.SetSchema(db, 10); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := boltstore.Open(boltstore.Config{Path: path})
	if err == nil || !strings.Contains(err.Error(), "schema 10 and this version knows up to 9") {
		t.Errorf("got %v, want a refusal that names both schemas", err)
	}
}

func TestOpenRefusesNothingToOpen(t *testing.T) {
	if _, err := boltstore.Open(boltstore.Config{}); err == nil {
		t.Error("no path: no error")
	}
	path := filepath.Join(t.TempDir(), "unitask.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a store ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := boltstore.Open(boltstore.Config{Path: path}); err == nil {
		t.Error("a file of something else: no error")
	}
}

// TestDocDrawsTheTree holds the tree in the package comment to the file's buckets.
func TestDocDrawsTheTree(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var drawn []string
	for _, row := range regexp.MustCompile(`(?m)^//\t(\w+) {2,}\S`).FindAllSubmatch(source, -1) {
		drawn = append(drawn, string(row[1]))
	}
	slices.Sort(drawn)
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db")})
	mustCreate(t, db)
	got, err := boltstore.Buckets(db)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(drawn, got); diff != "" {
		t.Errorf("drawn and there (-drawn +there):\n%s", diff)
	}
}
