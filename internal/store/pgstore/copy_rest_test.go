package pgstore_test

import (
	"errors"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/storetest"
)

// TestCopyNeedsRest: a database with a node's session is no source, and neither place with a store is a target.
func TestCopyNeedsRest(t *testing.T) {
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		e := mustEngine(t, to)
		mustDo(t, e.Store.Renew(t.Context(), "node", time.Minute))
		_, err := e.Secrets.Secret(t.Context(), "signing", 32)
		mustDo(t, err)
		if k, ok := to.(keptSchema); ok {
			_, err := k.offline()
			if in, ok := errors.AsType[*store.InUseError](err); !ok || len(in.Nodes) != 1 {
				t.Errorf("a database with a session: %v", err)
			}
		}
		mustDo(t, e.Store.Close())
		_, err = to.target(store.CopyOf{From: "test", Identity: "one"})
		wantErr(t, "a target with a store", err, store.ErrOccupied)
	})
}
