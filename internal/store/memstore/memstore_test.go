package memstore_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"unitask/internal/store/memstore"
	"unitask/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemstore(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, now func() time.Time) storetest.Engine {
		db := memstore.New(now)
		return storetest.Engine{Store: memstore.Shared{DB: db}, Registry: db, Secrets: db}
	})
}

// TestLostAnswers: an engine that loses answers has the history of one that doesn't, if its callers make each call
// again until it is answered.
func TestLostAnswers(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, now func() time.Time) storetest.Engine {
		db := memstore.New(now)
		lossy := storetest.Lossy(db, rand.New(rand.NewPCG(1, 2)))
		return storetest.Engine{Store: storetest.Persistent(lossy), Registry: db, Secrets: db}
	})
}
