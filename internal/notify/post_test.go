package notify_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/notify"
	"unitask/internal/store"
	"unitask/internal/webhook"
)

// TestHTTPNoLonger: an address of http that was recorded when the operator allowed it isn't sent to once that is over.
func TestHTTPNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("host", status(200))
		w.sender = notify.NewSender(notify.SenderConfig{Store: w, Secret: service, Node: "node_1", Dial: w.dial})
		w.add("whe_host", "e")
		w.sender.Start()
		defer w.stop()
		time.Sleep(time.Second)
		got := w.attempts("e")
		if len(got) != 1 || got[0].Error != "its address is http, which the operator doesn't allow" || w.states()["e"] != webhook.Waiting {
			t.Errorf("%+v, %v", got, w.states())
		}
		if n := len(w.requests("host")); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// TestNamesTellNothing: whether a name resolves inside the operator's network can't be told from a delivery.
func TestNamesTellNothing(t *testing.T) {
	for name, refusal := range map[string]error{
		"a private address": artifact.ErrDenied,
		"an unknown name":   &net.DNSError{Err: "no such host", Name: "host", IsNotFound: true},
		"a slow name":       &net.DNSError{Err: "i/o timeout", Name: "host", IsTimeout: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.endpoint("host", status(200))
				w.sender = notify.NewSender(notify.SenderConfig{
					Store: w, Secret: service, Node: "node_1", HTTP: true,
					Dial: func(context.Context, string, string) (net.Conn, error) {
						return nil, &net.OpError{Op: "dial", Err: refusal}
					},
				})
				w.add("whe_host", "e")
				w.sender.Start()
				defer w.stop()
				time.Sleep(time.Second)
				if got := w.attempts("e"); len(got) != 1 || got[0].Error != "its host has no public address" {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// TestReplaySchedule: a delivery that was given up after ten attempts gets more than one when it is replayed.
func TestReplaySchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("bad", status(500))
		w.add("whe_bad", "e")
		given := w.deliveries[0]
		given.State, given.Attempts = webhook.Failed, make([]webhook.Attempt, webhook.MaxAttempts)
		w.sender.Start()
		defer w.stop()
		if err := w.Replay(t.Context(), scope, "whe_bad", "e"); err != nil {
			t.Fatal(err)
		}
		w.Ring(store.TopicDeliveries)
		time.Sleep(time.Hour)
		if n := len(w.requests("bad")); n != 4 || w.states()["e"] != webhook.Waiting {
			t.Errorf("an hour after the replay: %d attempts, %v", n, w.states())
		}
	})
}
