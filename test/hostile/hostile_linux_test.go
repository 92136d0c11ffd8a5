// Package hostile attacks the real server over real sockets as a stranger or one tenant can, and holds it to bounds:
// its memory, how long a probe of its health takes, and how long another tenant waits.
//
// The short form of each attack runs with the other tests, and its bounds on time are generous: they tell a server
// that stands still from one that serves. UNITASK_HOSTILE=1 runs the long form, with the bounds on time too.
package hostile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// long reports whether the long form runs.
func long(t *testing.T) bool { return harness.Setting(t, "UNITASK_HOSTILE", 0) > 0 }

// memory returns a number of the server's process in bytes, by its name in /proc/PID/status.
func memory(s *harness.Server, name string) int64 {
	s.T.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		s.T.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if text, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			if err != nil {
				s.T.Fatal(err)
			}
			return n << 10
		}
	}
	s.T.Fatalf("no %s in the process's status", name)
	return 0
}

// tenant is somebody well-behaved, who notes how long each answer took.
type tenant struct {
	mu    sync.Mutex
	took  []time.Duration
	wrong []string
}

// run sends one request after the other until ctx ends.
func (u *tenant) run(ctx context.Context, s *harness.Server, request func(n int) harness.Request) {
	for n := 0; ctx.Err() == nil; n++ {
		begun := time.Now()
		got, err := send(ctx, s, request(n))
		if ctx.Err() != nil {
			return
		}
		u.note(time.Since(begun), got, err)
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// elsewhere is a client at another address than the attackers', which opens a connection for each request.
var elsewhere = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}}

// send makes a request from elsewhere.
func send(ctx context.Context, s *harness.Server, r harness.Request) (harness.Reply, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, s.Base+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return harness.Reply{}, err
	}
	request.Header.Set("Authorization", "Bearer "+r.Key)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	resp, err := elsewhere.Do(request)
	if err != nil {
		return harness.Reply{}, err
	}
	raw, err := io.ReadAll(resp.Body)
	return harness.Reply{Status: resp.StatusCode, Header: resp.Header, Body: raw}, errors.Join(err, resp.Body.Close())
}

func (u *tenant) note(took time.Duration, got harness.Reply, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.took = append(u.took, took)
	if err != nil || got.Status != http.StatusOK {
		u.wrong = append(u.wrong, fmt.Sprintf("%v %d %s", err, got.Status, got.Body))
	}
}

func (u *tenant) answers() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.took)
}

// percentile returns what p of a hundred answers took at most.
func (u *tenant) percentile(p int) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(u.took))
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

// watched is what a probe of the server's health and a well-behaved tenant notice.
type watched struct {
	health, tenant tenant
	end            func()
}

// quietTime is how long a server that isn't attacked is watched.
const quietTime = time.Second

// watch begins to watch. The tenant creates tasks by a key of his own.
func watch(s *harness.Server) *watched {
	s.T.Helper()
	key := s.MustNewKey(task.Test)
	ctx, cancel := context.WithCancel(s.T.Context())
	w := &watched{}
	var all sync.WaitGroup
	all.Go(func() {
		w.health.run(ctx, s, func(int) harness.Request { return harness.Request{Method: http.MethodGet, Path: api.PathHealth} })
	})
	all.Go(func() {
		w.tenant.run(ctx, s, func(n int) harness.Request {
			return harness.Request{
				Method: http.MethodPost, Path: api.PathTasks, Key: key, Body: `{"capability":"text.embed","input":{"texts":["hello"]}}`,
				Header: map[string]string{api.HeaderIdempotencyKey: fmt.Sprintf("%s-%d", key[len(key)-8:], n)},
			}
		})
	})
	w.end = func() { cancel(); all.Wait() }
	return w
}

// stop ends the watch once there are a few answers of each kind, and quietTime has passed.
func (w *watched) stop() *watched {
	<-time.After(quietTime)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && (w.health.answers() < 5 || w.tenant.answers() < 5); {
		<-time.After(10 * time.Millisecond)
	}
	w.end()
	return w
}

func (w *watched) String() string {
	return fmt.Sprintf("health p99 %s of %d, tenant p50 %s p99 %s of %d",
		w.health.percentile(99), w.health.answers(), w.tenant.percentile(50), w.tenant.percentile(99), w.tenant.answers())
}

// hold fails the test where somebody was answered badly or not at all; in the long form, which has the machine to
// itself, where one had to wait.
func (w *watched) hold(t *testing.T, quiet *watched) {
	t.Helper()
	for who, u := range map[string]*tenant{"a probe": &w.health, "the tenant": &w.tenant} {
		if len(u.wrong) > 0 || u.answers() < 5 {
			t.Errorf("%s was answered %d times, and badly: %v", who, u.answers(), u.wrong)
		}
	}
	if !long(t) {
		return
	}
	if got := w.health.percentile(99); got > 100*time.Millisecond {
		t.Errorf("health took %s", got)
	}
	if got, most := w.tenant.percentile(99), 2*quiet.tenant.percentile(99); got > most {
		t.Errorf("another tenant's p99 is %s, want at most %s", got, most)
	}
}

// shape is a large body that is refused.
type shape struct {
	name string
	make func() string
}

const bodySize = 15 << 20

func shapes() []shape {
	fill := func(head, piece, tail string) func() string {
		return func() string { return head + strings.Repeat(piece, (bodySize-len(head)-len(tail))/len(piece)) + tail }
	}
	return []shape{
		{"one string", fill(`{"capability":"text.chat","input":{"prompt":"`, "a", `"},"x":1}`)},
		{"members", fill(`{"capability":"text.chat","input":{"prompt":"a"`, `,"abcdef":12`, `}}`)},
		{"names", func() string {
			var b strings.Builder
			b.WriteString(`{"capability":"text.chat","input":{"prompt":"a"`)
			for n := 0; b.Len() < bodySize-64; n++ {
				fmt.Fprintf(&b, `,"m%07d":1`, n)
			}
			return b.String() + `}}`
		}},
		{"numbers", fill(`{"capability":"text.embed","input":{"texts":[1`, `,1`, `]}}`)},
		{"depth", fill(`{"capability":"text.chat","input":`, `[`, ``)},
		{"an image that is none", fill(`{"capability":"image.edit","input":{"prompt":"a","images":[{"data":"`, "AAAA", `"}],"authorization":{"person":"none"}}}`)},
		{"escapes", fill(`{"capability":"text.chat","input":{"prompt":"`, `\u0041`, `"},"x":1}`)},
		{"an unknown capability", fill(`{"capability":"no.such","input":{"prompt":"`, "a", `"}}`)},
	}
}

// attack sends the bodies at once, each over a connection of its own, and returns the answers' statuses.
func attack(s *harness.Server, keys []string, bodies []string) map[int]int {
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	for i, body := range bodies {
		all.Go(func() {
			status, err := postRaw(s, keys[i%len(keys)], body)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				status = broken
			}
			statuses[status]++
		})
	}
	all.Wait()
	return statuses
}

// postRaw writes a creation over a connection of its own, and reads the answer, which may come before the body is out.
func postRaw(s *harness.Server, key, body string) (int, error) {
	conn, err := (&net.Dialer{}).DialContext(s.T.Context(), "tcp", strings.TrimPrefix(s.Base, "http://"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	go func() {
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nIdempotency-Key: hostile-key\r\n"+
			"Content-Length: %d\r\n\r\n", api.PathTasks, key, len(body))
		_, _ = io.WriteString(conn, body)
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Body.Close()
}

// mostMemory is what the server's process may take at its worst.
const mostMemory = 256 << 20

// TestLargeBodies: whoever sends many large bodies at once, none of which is taken, costs the server no more than a
// bounded part of its memory, and keeps nobody else from being served.
func TestLargeBodies(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = "limits: {creates_per_minute: 0}\n" // the tenant asks as often as it is answered
	s.Start()
	hostile, rounds := []string{s.MustNewKey(task.Test)}, 5
	if long(t) {
		for rounds = 32; len(hostile) < 64; {
			hostile = append(hostile, s.MustNewKey(task.Test))
		}
	}
	var bodies []string
	for _, sh := range shapes() {
		bodies = append(bodies, sh.make())
	}
	many := slices.Repeat(bodies, rounds)
	quiet := watch(s).stop()
	w := watch(s)
	statuses := attack(s, hostile, many)
	busy := w.stop()
	t.Logf("%d bodies by %d keys: %v; VmHWM %d MB; quiet: %s; attacked: %s", len(many), len(hostile), statuses, memory(s, "VmHWM")>>20, quiet, busy)
	if statuses[http.StatusBadRequest] == 0 {
		t.Error("no body was judged")
	}
	for status, n := range statuses {
		switch status {
		case http.StatusBadRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable, broken:
		default:
			t.Errorf("%d answers with %d", n, status)
		}
	}
	if got := memory(s, "VmHWM"); got > mostMemory {
		t.Errorf("the server took %d MB", got>>20)
	}
	busy.hold(t, quiet)
}

// broken stands for a connection that ended without an answer.
const broken = 0

// TestConnections: connections that say nothing, and ones that say it very slowly, keep nobody out.
func TestConnections(t *testing.T) {
	s := harness.NewServer(t)
	idle, slow := 200, 50
	s.Config = "limits: {connections: 128, connections_per_address: 64}\n"
	if long(t) {
		idle, slow, s.Config = 5000, 1000, ""
	}
	s.Start()
	quiet := watch(s).stop()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	w := watch(s)
	for n := range idle + slow {
		conn, err := (&net.Dialer{}).DialContext(s.T.Context(), "tcp", strings.TrimPrefix(s.Base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if n >= idle {
			all.Go(func() { trickle(ctx, conn) })
		}
	}
	busy := w.stop()
	t.Logf("%d idle and %d slow connections; VmHWM %d MB; quiet: %s; attacked: %s", idle, slow, memory(s, "VmHWM")>>20, quiet, busy)
	if got := memory(s, "VmHWM"); got > mostMemory {
		t.Errorf("the server took %d MB", got>>20)
	}
	busy.hold(t, quiet)
}

// trickle sends a header of which no end comes, a byte at a time, until the server has enough of it.
func trickle(ctx context.Context, conn net.Conn) {
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nX-Slow: ")
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
			_, err = io.WriteString(conn, "a")
		}
	}
}
