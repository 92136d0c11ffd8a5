package pgstore_test

import (
	"testing"
	"time"

	"unitask/internal/store/storetest"
)

// TestPgBouncer goes through a PgBouncer in transaction mode, where two transactions of one connection may have
// different ones at the server, which are cut too.
func TestPgBouncer(t *testing.T) {
	mustServer(t)
	url := server.Bouncer(t)
	storetest.RunRestarts(t, 20, func(t *testing.T, now func() time.Time) storetest.Engine {
		db, c := mustOpen(t, url, now)
		return engine(c, db)
	})
	t.Run("linearizable", func(t *testing.T) { cutAgain(t, url, 1_000) })
}
