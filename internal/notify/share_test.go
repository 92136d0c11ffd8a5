package notify_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/fault"
	"unitask/internal/notify"
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

// TestSlowPlacesShare: the endpoints of an account that hang, with more and more that waits for each, leave places to
// another account's slow one.
func TestSlowPlacesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.hosts["slow"] = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			time.Sleep(3 * time.Second)
			rw.WriteHeader(http.StatusNoContent)
		})
		slow := webhook.Endpoint{ID: "whe_slow", Scope: task.Scope{Account: "acct_2", Mode: task.Live}, URL: "http://slow/", Generation: 1}
		if err := w.PutEndpoint(t.Context(), slow); err != nil {
			t.Fatal(err)
		}
		for i := range 16 {
			w.endpoint(fmt.Sprintf("dead%d", i), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		}
		w.add(slow.ID, "first")
		w.sender.Start()
		defer w.stop()
		for n := range 60 {
			for i := range 16 {
				w.add(fmt.Sprintf("whe_dead%d", i), fmt.Sprintf("dead%d.%d", i, n))
			}
			time.Sleep(2 * time.Second)
		}
		for n := range 5 {
			w.add(slow.ID, fmt.Sprintf("slow.%d", n))
		}
		time.Sleep(time.Second)
		if n := len(w.requests("slow")) - 1; n < 4 {
			t.Errorf("%d of 5 attempts have begun after a second", n)
		}
		time.Sleep(9 * time.Second)
		if n := len(w.requests("slow")) - 1; n != 5 {
			t.Errorf("%d of 5 attempts have begun after 10 s", n)
		}
	})
}

// TestTrialsTakePlaces: tests of an endpoint that hangs are bounded, and one beyond the places is refused.
func TestTrialsTakePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("host", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		e := webhook.Endpoint{ID: "whe_06gztwr81bcb6csfsxswat9e1m", Scope: scope, URL: "http://host/", Generation: 1}
		if err := w.PutEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		d := notify.New(notify.Config{Store: w, Secret: service, Dial: w.dial, HTTP: true, Sender: w.sender})
		var all sync.WaitGroup
		var refused atomic.Int32
		for range 30 {
			all.Go(func() {
				if _, err := d.Test(t.Context(), holder, e.ID); fault.CodeOf(err) == fault.RateLimitExceeded {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := len(w.requests("host")); n != 11 || refused.Load() != 19 {
			t.Errorf("%d requests, %d refused, want 11 and 19, two thirds of the places", n, refused.Load())
		}
		d.Close()
		time.Sleep(2 * time.Second) // the receiver sees that its connections are gone
	})
}
