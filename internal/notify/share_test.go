package notify_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/task"
	"unitask/internal/webhook"
)

// TestAccountsShare: an account all of whose endpoints hang, before any of them is known to be slow, leaves places to
// another account, and has enough of them itself.
func TestAccountsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 16 {
			host := fmt.Sprintf("dead%d", i)
			w.endpoint(host, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			for n := range 10 {
				w.add("whe_"+host, fmt.Sprintf("%s.%d", host, n))
			}
		}
		w.hosts["good"] = status(http.StatusNoContent)
		good := webhook.Endpoint{ID: "whe_good", Scope: task.Scope{Account: "acct_2", Mode: task.Live}, URL: "http://good/", Generation: 1}
		if err := w.PutEndpoint(t.Context(), good); err != nil {
			t.Fatal(err)
		}
		w.sender.Start()
		defer w.stop()
		time.Sleep(time.Second) // an endpoint's attempts begin one after the other
		w.mu.Lock()
		hanging := len(w.got)
		w.mu.Unlock()
		if hanging < 24 || hanging > 40 {
			t.Errorf("one account has %d of 48 places", hanging)
		}
		start := time.Now()
		for n := range 100 {
			w.add(good.ID, fmt.Sprintf("good.%d", n))
		}
		for n := 0; n < 100; time.Sleep(10 * time.Millisecond) {
			if n = len(w.requests("good")); time.Since(start) > 5*time.Second {
				t.Fatalf("%d of 100 events were delivered within 5 s", n)
			}
		}
	})
}
