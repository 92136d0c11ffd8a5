package notify_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/artifact"
	"unitask/internal/notify"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

var (
	scope   = task.Scope{Account: "acct_1", Mode: task.Test}
	service = bytes.Repeat([]byte{7}, webhook.ServiceSecretSize)
)

// world is a sender with a store, and receivers by host that are reached through pipes: time is synctest's.
type world struct {
	*fakeStore

	t      *testing.T
	sender *notify.Sender
	log    bytes.Buffer
	hosts  map[string]http.Handler
	mu     sync.Mutex
	got    []received
}

// received is one request as a receiver saw it.
type received struct {
	host string
	at   time.Time
	http.Header
	body []byte
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{fakeStore: newFakeStore(), t: t, hosts: map[string]http.Handler{}}
	w.sender = notify.NewSender(notify.SenderConfig{
		Store: w, Secret: service, Node: "node_1", Dial: w.dial, HTTP: true, Version: "1", Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	return w
}

// dial connects to a host's handler through a pipe, or refuses as the guard does.
func (w *world) dial(_ context.Context, _, address string) (net.Conn, error) {
	host, _, _ := strings.Cut(address, ":")
	h, ok := w.hosts[host]
	if !ok {
		return nil, artifact.ErrDenied
	}
	near, far := net.Pipe()
	server := &http.Server{ReadHeaderTimeout: time.Hour, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.got = append(w.got, received{host, time.Now(), r.Header.Clone(), body})
		w.mu.Unlock()
		h.ServeHTTP(rw, r)
	})}
	ln := &oneListener{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
	ln.conn <- far
	go func() { _ = server.Serve(ln) }()
	w.t.Cleanup(func() { _ = server.Close() })
	return near, nil
}

// oneListener accepts one connection.
type oneListener struct {
	conn   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *oneListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *oneListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *oneListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// endpoint adds a receiver, with an endpoint of the host's name.
func (w *world) endpoint(host string, h http.HandlerFunc) {
	w.t.Helper()
	w.hosts[host] = h
	e := webhook.Endpoint{ID: "whe_" + host, Scope: scope, URL: "http://" + host + "/hook", Generation: 1}
	if err := w.PutEndpoint(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) requests(host string) (out []received) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.got {
		if r.host == host {
			out = append(out, r)
		}
	}
	return out
}

func (w *world) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	w.sender.Shutdown(ctx)
	time.Sleep(2 * time.Second) // the receivers see that their connections are gone
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// TestDelivered: one event to one endpoint comes once, signed, with the body of the event.
func TestDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("good", status(http.StatusNoContent))
		w.sender.Start()
		defer w.stop()
		w.add("whe_good", "task_1.0")
		synctest.Wait()
		got := w.requests("good")
		if len(got) != 1 || w.states()["task_1.0"] != webhook.Delivered {
			t.Fatalf("%d requests, %v", len(got), w.states())
		}
		secret := webhook.DeriveSecret(service, "whe_good", 1)
		if err := webhook.Verify(got[0].Header, time.Now(), got[0].body, secret); err != nil {
			t.Error(err)
		}
		if id := got[0].Get(webhook.HeaderID); id != "task_1.0" || got[0].Get("Content-Type") != "application/json" || got[0].Get("User-Agent") != "unitask/1" {
			t.Errorf("header %v", got[0].Header)
		}
		if !strings.HasPrefix(string(got[0].body), `{"type":"task.succeeded","timestamp":"`) {
			t.Errorf("body %s", got[0].body)
		}
		if strings.Contains(w.log.String(), secret.Reveal()) {
			t.Error("the secret is in the log")
		}
	})
}

// TestOutcomes: what each kind of answer makes of a delivery, after its first attempt.
func TestOutcomes(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("x"))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second)
		}
	}
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}
	redirect := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://other/", http.StatusFound) }
	later := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	tests := []struct {
		name    string
		handler http.HandlerFunc
		state   webhook.DeliveryState
		status  int
		problem string
		least   time.Duration // of the pause
	}{
		{"created", status(201), webhook.Delivered, 201, "", 0},
		{"fails", status(500), webhook.Waiting, 500, "", 4 * time.Second},
		{"unknown", status(404), webhook.Waiting, 404, "", 4 * time.Second},
		{"redirects", redirect, webhook.Waiting, 302, "", 4 * time.Second},
		{"gone", status(410), webhook.Failed, 410, "", 0},
		{"later", later, webhook.Waiting, 429, "", 10 * time.Minute},
		{"hangs", hang, webhook.Waiting, 0, "it didn't answer in time", 4 * time.Second},
		{"cut", cut, webhook.Waiting, 0, "the connection broke off", 4 * time.Second},
		{"drips", drip, webhook.Delivered, 200, "", 0},
		{"endless", endless, webhook.Delivered, 200, "", 0},
		{"private", nil, webhook.Waiting, 0, "its host has no public address", 4 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.endpoint("other", status(200))
				w.endpoint("host", tt.handler)
				if tt.handler == nil {
					delete(w.hosts, "host")
				}
				w.add("whe_host", "e")
				start := time.Now()
				w.sender.Start()
				defer w.stop()
				for len(w.attempts("e")) == 0 {
					time.Sleep(100 * time.Millisecond)
					if time.Since(start) > 15*time.Second {
						t.Fatal("no outcome within 15 s")
					}
				}
				a := w.attempts("e")[0]
				if w.states()["e"] != tt.state || a.Status != tt.status || a.Error != tt.problem {
					t.Errorf("%v after %+v", w.states()["e"], a)
				}
				w.fakeStore.mu.Lock()
				pause := time.Until(w.deliveries[0].Next)
				w.fakeStore.mu.Unlock()
				if pause < tt.least-time.Second || pause > max(tt.least*3/2, time.Second) {
					t.Errorf("the next attempt comes after %s", pause)
				}
				if n := len(w.requests("other")); n != 0 {
					t.Error("a redirect was followed")
				}
				e, _ := w.GetEndpoint(t.Context(), scope, "whe_host")
				if gone := tt.status == http.StatusGone; (e.Disabled == webhook.DisabledGone) != gone {
					t.Errorf("disabled %q", e.Disabled)
				}
			})
		})
	}
}

// TestSchedule: an endpoint that always fails gets ten attempts over some 75 hours, each signed anew.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("bad", status(500))
		w.add("whe_bad", "e")
		w.sender.Start()
		defer w.stop()
		time.Sleep(100 * time.Hour)
		got := w.requests("bad")
		if len(got) != webhook.MaxAttempts || w.states()["e"] != webhook.Failed {
			t.Fatalf("%d attempts, %v", len(got), w.states())
		}
		if span := got[len(got)-1].at.Sub(got[0].at); span < 67*time.Hour || span > 84*time.Hour {
			t.Errorf("over %s", span)
		}
		for _, r := range got {
			if err := webhook.Verify(r.Header, r.at, r.body, webhook.DeriveSecret(service, "whe_bad", 1)); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestDeadDelayNobody: endpoints that hang, with thousands of events each, don't delay another's.
func TestDeadDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 15 {
			host := fmt.Sprintf("dead%d", i)
			w.endpoint(host, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			for n := range 100 {
				w.add("whe_"+host, fmt.Sprintf("%s.%d", host, n))
			}
		}
		w.endpoint("good", status(200))
		w.sender.Start()
		defer w.stop()
		time.Sleep(time.Minute) // the dead are known by now
		var slowest time.Duration
		for n := range 100 {
			id := fmt.Sprintf("good.%d", n)
			start := time.Now()
			w.add("whe_good", id)
			for w.states()[id] != webhook.Delivered {
				time.Sleep(10 * time.Millisecond)
			}
			slowest = max(slowest, time.Since(start))
		}
		if slowest > time.Second {
			t.Errorf("an event took %s", slowest)
		}
		t.Logf("the slowest took %s", slowest)
	})
}

// TestBounds: an endpoint gets no more requests at once, and none sooner after another, than it may.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var mu sync.Mutex
		var now, most int
		w.endpoint("host", func(http.ResponseWriter, *http.Request) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
		})
		w.endpoint("quick", status(200))
		for n := range 200 {
			w.add("whe_host", fmt.Sprint("a", n))
			w.add("whe_quick", fmt.Sprint("b", n))
		}
		w.sender.Start()
		defer w.stop()
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if most != 8 || len(w.requests("host")) != 200 {
			t.Errorf("%d at once of %d", most, len(w.requests("host")))
		}
		got := w.requests("quick")
		if span := got[len(got)-1].at.Sub(got[0].at); len(got) != 200 || span < 1900*time.Millisecond {
			t.Errorf("%d requests within %s", len(got), span)
		}
	})
}

// TestRotation: both secrets sign until the old one has retired.
func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("host", status(200))
		until := time.Now().Add(time.Hour)
		_, err := w.UpdateEndpoint(t.Context(), "whe_host", func(e *webhook.Endpoint) error {
			e.Generation, e.Retiring = 2, &until
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.sender.Start()
		defer w.stop()
		w.add("whe_host", "a")
		synctest.Wait()
		time.Sleep(2 * time.Hour)
		w.add("whe_host", "b")
		synctest.Wait()
		got := w.requests("host")
		if len(got) != 2 {
			t.Fatalf("%d requests", len(got))
		}
		for i, want := range [][]bool{{true, true}, {false, true}} {
			for generation := range 2 {
				s := webhook.DeriveSecret(service, "whe_host", generation+1)
				if ok := webhook.Verify(got[i].Header, got[i].at, got[i].body, s) == nil; ok != want[generation] {
					t.Errorf("request %d, generation %d: verified %v", i, generation+1, ok)
				}
			}
		}
	})
}

// TestCutOff: an attempt that the node's end cuts off is made again, and one whose outcome can't be stored too.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.endpoint("host", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		w.add("whe_host", "e")
		w.sender.Start()
		time.Sleep(time.Second)
		start := time.Now()
		w.stop()
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("stopping took %s", took)
		}
		if w.states()["e"] != webhook.Waiting || len(w.attempts("e")) != 0 {
			t.Fatalf("%v after %v", w.states(), w.attempts("e"))
		}
		w.hosts["host"] = status(200)
		w.sender = notify.NewSender(notify.SenderConfig{Store: w, Secret: service, Node: "node_2", Dial: w.dial, HTTP: true})
		w.sender.Start()
		defer w.stop()
		time.Sleep(time.Minute)
		if w.states()["e"] != webhook.Delivered {
			t.Errorf("%v", w.states())
		}
	})
}
