package notify_test

import (
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/notify"
	"unitask/internal/webhook"
)

// TestHTTPNoLonger: an address of http that was recorded when the operator allowed it is sent nothing once that is over.
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
