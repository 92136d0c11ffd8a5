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
	"unitask/test/harness"
)

func TestMain(m *testing.M) {
	if target := os.Getenv(crowdTarget); target != "" {
		os.Exit(crowd(target))
	}
	if name := os.Getenv(attackName); name != "" {
		os.Exit(obey(name))
	}
	os.Exit(harness.Main(m))
}

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

// watchTime is how long a server is watched at least, attacked or not.
func watchTime(t *testing.T) time.Duration {
	if long(t) {
		return 8 * time.Second
	}
	return time.Second
}

// watch begins to watch. The tenant creates tasks by a key of his own.
func watch(s *harness.Server) *watched {
	s.T.Helper()
	key := keyOf(s, "tenant")
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

// stop ends the watch once there are a few answers of each kind, and the time has passed.
func (w *watched) stop(after time.Duration) *watched {
	<-time.After(after)
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

// count runs n attacks at once and returns how often each status came of them.
func count(n int, one func(n int) int) map[int]int {
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			status := one(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	all.Wait()
	return statuses
}

// attackLargely sends each shape so many times at once, each over a connection of its own, and returns the answers'
// statuses.
func attackLargely(o order) any {
	var bodies []string
	for _, sh := range shapes() {
		bodies = append(bodies, sh.make())
	}
	return count(o.Times*len(bodies), func(n int) int { return postRaw(o.Target, o.Keys[n%len(o.Keys)], bodies[n%len(bodies)]) })
}

// postRaw writes a creation over a connection of its own, and returns the status of the answer, which may come before
// the body is out.
func postRaw(target, key, body string) int {
	conn, err := net.Dial("tcp", target) //nolint:noctx // it has a deadline
	if err != nil {
		return broken
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	go func() {
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nIdempotency-Key: hostile-key\r\n"+
			"Content-Length: %d\r\n\r\n", api.PathTasks, key, len(body))
		_ = upload(conn, body)
	}()
	return statusOf(conn)
}

// statusOf reads an answer and returns its status.
func statusOf(conn net.Conn) int {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return broken
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// mostMemory is what the server's process may take at its worst.
const mostMemory = 256 << 20

// TestLargeBodies: whoever sends many large bodies at once, none of which is taken, costs the server no more than a
// bounded part of its memory, and keeps nobody else from being served.
func TestLargeBodies(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = "limits: {creates_per_minute: 0}\n" // the tenant asks as often as it is answered
	s.Start()
	hostile, rounds := attackers(s), 5
	if long(t) {
		rounds = 32
	}
	o := order{Keys: hostile, Times: rounds}
	statuses, quiet, busy := attacked(t, s, "large", o)
	t.Logf("%d bodies by %d keys: %v; VmHWM %d MB; quiet: %s; attacked: %s", rounds*len(shapes()), len(hostile), statuses, memory(s, "VmHWM")>>20, quiet, busy)
	if statuses[http.StatusBadRequest] == 0 {
		t.Error("no body was judged")
	}
	refusedAlone(t, statuses, http.StatusBadRequest)
	boundedMemory(t, s)
	busy.hold(t, quiet)
	attackedByLine(t, s, "large", o)
}

// refusedAlone fails the test where an answer isn't the refusal that fits, nor a word that there is no room, nor the end
// of a connection.
func refusedAlone(t *testing.T, statuses map[int]int, fits int) {
	t.Helper()
	for status, n := range statuses {
		switch status {
		case fits, http.StatusTooManyRequests, http.StatusServiceUnavailable, broken:
		default:
			t.Errorf("%d answers with %d", n, status)
		}
	}
}

// boundedMemory fails the test where the server's process took more than it may.
func boundedMemory(t *testing.T, s *harness.Server) {
	t.Helper()
	if got := memory(s, "VmHWM"); got > mostMemory {
		t.Errorf("the server took %d MB", got>>20)
	}
}

// broken stands for a connection that ended without an answer.
const broken = 0
