package boltstore_test

import (
	"path/filepath"
	"testing"
	"time"

	"unitask/internal/store/storetest"
)

// shortOps is the short form's number of operations.
const shortOps = 10_000

func TestLinearizable(t *testing.T) {
	storetest.Linearizable(t, shortOps, func(t *testing.T, now func() time.Time) storetest.Engine {
		return engineAt(t, filepath.Join(t.TempDir(), "unitask.db"), 3, now)
	})
}
