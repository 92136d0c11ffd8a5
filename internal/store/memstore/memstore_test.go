package memstore_test

import (
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
		return storetest.Engine{Store: db, Registry: db, Secrets: db}
	})
}
