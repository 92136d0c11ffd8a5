package boltstore_test

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
)

// TestImageWhileItIsReadSlowly takes an image and reads it for as long as it takes to rewrite much of the
// store: the file doesn't grow meanwhile, because no transaction stays open.
func TestImageWhileItIsReadSlowly(t *testing.T) {
	const stored, written = 20_000, 8_000
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path, NoSync: true})
	var tasks []store.NewTask
	for range stored / 1000 {
		tasks = append(tasks, mustCreateMany(t, db, 1000)...)
	}
	cancel := func(tasks []store.NewTask) { // each rewrites a page
		for _, n := range tasks {
			if _, err := db.RequestCancel(t.Context(), n.Scope, n.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	rand.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	cancel(tasks[:stored/2]) // until the free pages suffice
	mustFlush(t, db)
	before := mustSize(t, path)
	start := time.Now()
	image, size, err := db.Image(t.Context())
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, image, size/2); err != nil {
		t.Fatal(err)
	}
	cancel(tasks[stored/2:][:written])
	if _, err := io.Copy(io.Discard, image); err != nil {
		t.Fatal(err)
	}
	if err := image.Close(); err != nil {
		t.Fatal(err)
	}
	after := mustSize(t, path)
	t.Logf("a file of %d bytes, copied in %s; %d after %d writes while the copy was read", before, took, after, written)
	if after > before+before/8 {
		t.Errorf("the file grew from %d to %d bytes", before, after)
	}
}

func mustSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// mustCreateMany makes tasks, many in a commit.
func mustCreateMany(t *testing.T, db *boltstore.DB, n int) []store.NewTask {
	t.Helper()
	made := make([]store.NewTask, n)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() { made[i] = mustCreate(t, db) })
	}
	all.Wait()
	return made
}
