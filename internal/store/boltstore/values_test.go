package boltstore_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store/boltstore"
)

// TestValuesOfAReader: a reader's values aren't overwritten while the tree takes its table and others begin, and the
// memory is used again after the last reader.
func TestValuesOfAReader(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true})
	boltstore.SetFlushBytes(db, 1)
	create := func() string {
		n := freshTask()
		if _, err := db.CreateTask(context.Background(), n); err != nil {
			t.Fatal(err)
		}
		if err := db.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		return n.ID
	}
	for range 3 {
		create()
	}
	if boltstore.Unused(db) == 0 {
		t.Fatal("no memory is used again")
	}
	for range 20 {
		n := freshTask()
		before, after, err := boltstore.Reading(db, n, func() { create(); create() })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(before), string(after)); diff != "" {
			t.Fatalf("a reader's value changed (-before +after)\n%s", diff)
		}
	}
}

// TestValuesOfAGroup: a group's rows stay when the tree takes its table in the middle of the group.
func TestValuesOfAGroup(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), NoSync: true})
	boltstore.SetFlushBytes(db, 1)
	for range 20 {
		before, after, err := boltstore.FlushAmid(db, freshTask(), freshTask(), freshTask(), freshTask(), freshTask())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(before), string(after)); diff != "" {
			t.Fatalf("a value of the group changed (-before +after)\n%s", diff)
		}
	}
}
