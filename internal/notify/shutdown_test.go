package notify_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/notify"
	"unitask/internal/store"
)

// awayStore is a store whose database is away for outcomes.
type awayStore struct{ *fakeStore }

func (awayStore) EndDelivery(context.Context, store.DeliveryRef, store.DeliveryOutcome) error {
	return store.ErrUnavailable
}

// TestShutdownBoundsRecords: an outcome that can't be stored doesn't outlive the context of Shutdown.
func TestShutdownBoundsRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("host", status(200))
		w.sender = notify.NewSender(notify.SenderConfig{Store: awayStore{w.fakeStore}, Secret: service, Node: "node_1", Dial: w.dial, HTTP: true})
		w.add("whe_host", "e")
		w.sender.Start()
		time.Sleep(time.Second)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		w.sender.Shutdown(ctx)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("stopping took %s, want the 3 s of its context", took)
		}
		time.Sleep(2 * time.Second) // the receiver sees that its connection is gone
	})
}
