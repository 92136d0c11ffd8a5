package suppliertest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
)

// submitMode is one of the ways to submit.
type submitMode struct {
	name string
	send func(context.Context, supplier.Adapter, supplier.Request) (supplier.Outcome, error)
}

func submitOnce(ctx context.Context, a supplier.Adapter, r supplier.Request) (supplier.Outcome, error) {
	return a.Submit(ctx, r)
}

func streamOnce(ctx context.Context, a supplier.Adapter, r supplier.Request) (supplier.Outcome, error) {
	return a.(supplier.Streamer).Stream(ctx, r, func(supplier.Delta) {})
}

// testHang lets the deadline pass once the request has arrived.
func testHang(t *testing.T, h Harness, c Case, w submitMode) {
	ctx := &expiring{Context: context.Background(), done: make(chan struct{})}
	srv := serve(t, h, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx.once.Do(func() { close(ctx.done) })
		<-r.Context().Done()
	}), false)
	start := time.Now()
	_, err := w.send(ctx, newAdapter(t, h, srv.URL, fixedKey), filled(c.Request))
	checkError(t, err, timedOut, srv.URL)
	if d := time.Since(start); d > exchangeTimeout/2 {
		t.Errorf("the deadline was overrun: %v", d)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cause: got %v, want the context's", err)
	}
}

// expiring is a context whose deadline passes when the test says so.
type expiring struct {
	context.Context
	once sync.Once
	done chan struct{}
}

func (e *expiring) Done() <-chan struct{} { return e.done }

func (e *expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// testRedirect checks that the request and the key don't go to a redirect's address.
func testRedirect(t *testing.T, h Harness, c Case, w submitMode) {
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		elsewhere := serve(t, h, c.Answer, false)
		srv := serve(t, h, http.RedirectHandler(elsewhere.URL+"/"+leak, status), false)
		_, err := w.send(t.Context(), newAdapter(t, h, srv.URL, fixedKey), filled(c.Request))
		want := refused
		if status == http.StatusFound { // the work before the redirect is unknown
			want.Sent = supplier.Unknown
		}
		checkError(t, err, want, srv.URL, elsewhere.URL)
		if n := len(srv.received()); n != 1 {
			t.Errorf("status %d: requests: got %d, want 1", status, n)
		}
		if n := len(elsewhere.received()); n != 0 {
			t.Errorf("status %d: %d requests followed the redirect", status, n)
		}
	}
}

// testNobody dials an address that was just given up.
func testNobody(t *testing.T, h Harness, c Case, w submitMode) {
	checkLeaks(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = w.send(t.Context(), newAdapter(t, h, "http://"+address, fixedKey), filled(c.Request))
	checkError(t, err, notSent, address)
}

func testNoKey(t *testing.T, h Harness, c Case, w submitMode) {
	srv := serve(t, h, c.Answer, false)
	a := newAdapter(t, h, srv.URL, func() (string, error) { return "", errors.New("no such variable") })
	_, err := w.send(t.Context(), a, filled(c.Request))
	want := notSent
	want.Operator = true
	checkError(t, err, want, srv.URL)
	if n := len(srv.received()); n != 0 {
		t.Errorf("requests: got %d, want none", n)
	}
}

func testEnded(t *testing.T, h Harness, c Case, w submitMode) {
	srv := serve(t, h, c.Answer, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.send(ctx, newAdapter(t, h, srv.URL, fixedKey), filled(c.Request))
	checkError(t, err, Verdict{Code: fault.ProviderTimeout, Sent: supplier.NotSent}, srv.URL)
	if n := len(srv.received()); n != 0 {
		t.Errorf("requests: got %d, want none", n)
	}
}

// testReused kills a connection that has served one request when it brings the second: the moment
// at which HTTP clients like to send a request again.
func testReused(t *testing.T, h Harness, c Case, w submitMode) {
	answer := c.Answer
	if w.name == "stream" {
		answer = c.Stream
	}
	var n atomic.Int64
	srv := serve(t, h, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 2 {
			kill(rw)
			return
		}
		answer.ServeHTTP(rw, r)
	}), false)
	a := newAdapter(t, h, srv.URL, fixedKey)
	if _, err := w.send(t.Context(), a, filled(c.Request)); err != nil {
		t.Fatalf("first: %v", err)
	}
	_, err := w.send(t.Context(), a, filled(c.Request))
	checkError(t, err, lost, srv.URL)
	if n := len(srv.received()); n != 2 {
		t.Errorf("requests: got %d, want 2: the second was sent again", n)
	}
}
