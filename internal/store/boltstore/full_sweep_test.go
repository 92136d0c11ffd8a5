package boltstore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/webhook"
)

// TestFullSweep: a sweep of a full store makes room before it disables an endpoint for which too many deliveries wait.
func TestFullSweep(t *testing.T) {
	db := mustOpen(t, boltstore.Config{Path: filepath.Join(t.TempDir(), "unitask.db"), MaxSize: 8 << 20})
	e := mustNotify(t, db, 5)
	over := time.Now().Add(-time.Hour)
	for size := 1 << 20; size > 70_000; size /= 2 {
		for err := error(nil); err == nil; {
			filler := e
			filler.ID, filler.Scope.Mode, filler.URL, filler.ExpiresAt = "whe_"+freshTask().ID, "test", "", &over
			filler.Description = strings.Repeat("x", size)
			if err = db.PutEndpoint(t.Context(), filler); err != nil && !errors.Is(err, store.ErrFull) {
				t.Fatal(err)
			}
		}
	}
	s, err := db.Sweep(t.Context(), store.SweepRequest{Limit: 1000, Waiting: 3})
	if err != nil || s.Removed == 0 || len(s.Disabled) != 1 {
		t.Errorf("swept %+v, %v", s, err)
	}
	if got, err := db.GetEndpoint(t.Context(), e.Scope, e.ID); err != nil || got.Disabled != webhook.DisabledFull {
		t.Errorf("the endpoint is disabled as %q, %v", got.Disabled, err)
	}
}
