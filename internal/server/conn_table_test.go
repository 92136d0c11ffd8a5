package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/task"
)

// closed reports whether the server has closed the connection, or does within limit.
func (c *rawConn) closed(limit time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(limit))
	_, err := c.in.ReadByte()
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

// ask sends a GET over the connection and returns the answer's status.
func (c *rawConn) ask(path string) (int, error) {
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Body.Close()
}

// TestIdleConnectionsGiveWay: silent connections, more than the cap, keep no client out: the oldest of them are
// closed, and the newest is served.
func TestIdleConnectionsGiveWay(t *testing.T) {
	for name, limits := range map[string]server.Limits{"of all": {Connections: 8}, "of one address": {PerAddress: 8}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options{limits: limits})
			var idle []*rawConn
			for range 20 {
				c := w.dial(t)
				if len(idle)%2 == 0 { // one that has served, and one that is new
					if status, err := c.ask(api.PathHealth); err != nil || status != 200 {
						t.Fatalf("%d %v", status, err)
					}
				}
				idle = append(idle, c)
			}
			if status, err := w.dial(t).ask(api.PathHealth); err != nil || status != 200 {
				t.Errorf("a new connection: %d %v", status, err)
			}
			if status, err := idle[19].ask(api.PathHealth); err != nil || status != 200 {
				t.Errorf("the newest idle one: %d %v", status, err)
			}
			shut := make(chan bool, len(idle)/2)
			for i := 0; i < len(idle); i += 2 { // those that have served, which may be idle for minutes
				go func() { shut <- idle[i].closed(30 * time.Second) }()
			}
			for range len(idle)/2 - 8 { // all but as many as there may be
				if !<-shut {
					t.Error("idle connections are left open")
				}
			}
		})
	}
}

// TestHealthOfABusyService: while every connection is busy, health is answered all the same, and other requests are
// refused with a pause.
func TestHealthOfABusyService(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{Connections: 4}})
	var status int
	keys := []string{w.test, w.otherAccountsKey()}
	for n, deadline := 0, time.Now().Add(time.Minute); status != 503 && time.Now().Before(deadline); n++ {
		w.dial(t).announce(keys[n%2], 1000)   // the body never comes; before the header is read the connection may give way
		status, _ = w.dial(t).ask("/nothing") // which asks for no key: refusals are slowed down
	}
	if status != 503 {
		t.Errorf("a request: %d", status)
	}
	for _, path := range []string{api.PathHealth, api.PathReady} {
		if status, err := w.dial(t).ask(path); err != nil || status != 200 {
			t.Errorf("%s: %d %v", path, status, err)
		}
	}
}

// TestRequestsOfOneAccount: an account whose requests wait, by whichever key and however many, leaves others half of
// the connections, and has its own again when they end.
func TestRequestsOfOneAccount(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{Connections: 8}})
	keys := []string{w.test, w.key(api.KeyCreate{Mode: task.Test})}
	var held []*rawConn
	refused := make(chan refusal, 5)
	for n := range 5 {
		c := w.dial(t)
		body := image("@stuck:running")
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: held-for-%d\r\n"+
			"Content-Type: application/json\r\nPrefer: wait=60\r\nContent-Length: %d\r\n\r\n%s", api.PathTasks, keys[n%2], n, len(body), body)
		held = append(held, c)
		go func() {
			if _, err := c.in.Peek(1); err == nil {
				refused <- c.answer()
			}
		}()
	}
	if got := <-refused; got.status != 429 || got.body.Error.Code != fault.RateLimitExceeded || got.header.Get("Retry-After") == "" {
		t.Errorf("the one too many: %+v", got)
	}
	if got := w.post("of-another", chat("hello"), by(w.otherAccountsKey())); got.StatusCode != 200 {
		t.Errorf("another account: %d %s", got.StatusCode, got.body)
	}
	for _, c := range held {
		_ = c.Close()
	}
	var status int
	for deadline := time.Now().Add(time.Minute); status != 200 && time.Now().Before(deadline); {
		status = w.post("after-them", chat("hello")).StatusCode
	}
	if status != 200 {
		t.Errorf("after them: %d", status)
	}
}

// TestProxysConnections: the connections of a trusted proxy are those of many callers, and not bounded as one's.
func TestProxysConnections(t *testing.T) {
	w := newWorld(t, options{limits: server.Limits{PerAddress: 2}, proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	var all []*rawConn
	for range 10 {
		all = append(all, w.dial(t))
	}
	for i, c := range all {
		if status, err := c.ask(api.PathHealth); err != nil || status != 200 {
			t.Errorf("connection %d: %d %v", i, status, err)
		}
	}
}

// TestClientAddress: a header is believed from trusted proxies alone, and of it the last address that isn't a
// proxy's.
func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tt := range []struct {
		peer   string
		header http.Header
		want   string
	}{
		{"192.0.2.1", http.Header{"X-Forwarded-For": {"198.51.100.9"}}, "192.0.2.1"},
		{"10.0.0.1", nil, "10.0.0.1"},
		{"10.0.0.1", http.Header{"X-Forwarded-For": {"198.51.100.9"}}, "198.51.100.9"},
		{"10.0.0.1", http.Header{"X-Forwarded-For": {"6.6.6.6, 198.51.100.9, 10.0.0.2"}}, "198.51.100.9"},
		{"10.0.0.1", http.Header{"X-Forwarded-For": {"6.6.6.6", "198.51.100.9:4711"}}, "198.51.100.9"},
		{"10.0.0.1", http.Header{"X-Forwarded-For": {"6.6.6.6, nonsense"}}, "10.0.0.1"},
		{"10.0.0.1", http.Header{"X-Forwarded-For": {"10.0.0.3, 10.0.0.2"}}, "10.0.0.3"},
		{"10.0.0.1", http.Header{"X-Forwarded-For": {""}}, "10.0.0.1"},
		{"10.0.0.1", http.Header{"Forwarded": {`for=6.6.6.6;proto=http, for="[2001:db8::7]:4711";by=10.0.0.1`}}, "2001:db8::7"},
		{"10.0.0.1", http.Header{"Forwarded": {`for=6.6.6.6, for=_hidden`}}, "10.0.0.1"},
		{"10.0.0.1", http.Header{"Forwarded": {`For=198.51.100.9`}, "X-Forwarded-For": {"198.51.100.8"}}, "198.51.100.8"},
		{"fd00::1", http.Header{"X-Forwarded-For": {"2001:db8::8"}}, "2001:db8::8"},
		{"10.0.0.1", http.Header{"X-Forwarded-For": {"::ffff:198.51.100.9"}}, "198.51.100.9"},
	} {
		if got := server.ClientAddress(trusted, netip.MustParseAddr(tt.peer), tt.header); got.String() != tt.want {
			t.Errorf("%s with %v: %s, want %s", tt.peer, tt.header, got, tt.want)
		}
	}
}

// TestRefusedKeysAreSlowed: an address whose keys were refused too often waits for the next refusal, which is the same
// answer; a good key from there is served.
func TestRefusedKeysAreSlowed(t *testing.T) {
	const free = 3
	requests := make(chan server.Request, 100)
	now := time.Now()
	w := newWorld(t, options{
		limits: server.Limits{RefusedKeys: free}, now: func() time.Time { return now }, onRequest: func(r server.Request) { requests <- r },
	})
	var first string
	for n := range free + 2 {
		start := time.Now()
		got := w.do(request{path: api.PathTasks, key: "svc_live_wrong"})
		took, body := time.Since(start), strings.ReplaceAll(string(got.body), got.Header.Get(api.HeaderRequestID), "")
		if first == "" {
			first = body
		}
		if got.StatusCode != 401 || body != first {
			t.Errorf("refusal %d: %d %s", n, got.StatusCode, got.body)
		}
		if n >= free && took < time.Second {
			t.Errorf("refusal %d took %s", n, took)
		}
		if r := <-requests; r.Client != "127.0.0.1" {
			t.Errorf("the request's address is %q", r.Client)
		}
	}
	if got := w.do(request{path: api.PathTasks, key: w.test}); got.StatusCode != 200 {
		t.Errorf("a good key: %d", got.StatusCode)
	}
	if !strings.Contains(w.log.String(), `"client":"127.0.0.1"`) {
		t.Error("no address is in the log")
	}
}

// TestRefusalsComeBack: an address has so many refusals a minute, apart from others, and its network counts as one.
func TestRefusalsComeBack(t *testing.T) {
	now := time.Now()
	s := server.NewStrangers(2, func() time.Time { return now })
	for i, step := range []struct {
		address string
		after   time.Duration
		want    bool
	}{
		{"192.0.2.1", 0, true},
		{"192.0.2.1", 0, true},
		{"192.0.2.1", 0, false},
		{"192.0.2.2", 0, true},
		{"192.0.2.1", 29 * time.Second, false},
		{"192.0.2.1", 2 * time.Second, true},
		{"2001:db8::1", 0, true},
		{"2001:db8::2", 0, true},
		{"2001:db8::3", 0, false},
		{"2001:db8:0:1::1", 0, true},
	} {
		now = now.Add(step.after)
		if got := s.Count(netip.MustParseAddr(step.address)); got != step.want {
			t.Errorf("step %d, %s: at once %v, want %v", i, step.address, got, step.want)
		}
	}
}

// TestStrangersAreBounded: as many addresses as somebody can make up take no more memory than the most that are kept.
func TestStrangersAreBounded(t *testing.T) {
	now := time.Now()
	s := server.NewStrangers(1, func() time.Time { return now })
	for n := range 3 * server.StrangersMost {
		s.Count(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}))
	}
	if got := s.Len(); got > server.StrangersMost {
		t.Errorf("%d are kept", got)
	}
}

// FuzzForwarded: whatever the header says, the answer is an address, and the proxy's own if the header can't be
// believed.
func FuzzForwarded(f *testing.F) {
	f.Add("1.2.3.4, 10.0.0.1", "for=1.2.3.4;by=x")
	f.Add("", `for="[::1]:80",,`)
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	peer := netip.MustParseAddr("10.0.0.1")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, h := range []http.Header{{"X-Forwarded-For": {a}}, {"Forwarded": {b}}} {
			if got := server.ClientAddress(trusted, peer, h); !got.IsValid() || got.Zone() != "" {
				t.Errorf("%v: %v", h, got)
			}
		}
	})
}
