// Package hostile attacks the real server over real sockets as a stranger or one tenant can, and holds it to bounds:
// its memory, how long a probe of its health takes, and how long another tenant waits.
//
// The short form of each attack runs with the other tests, and its bounds on time are generous: they tell a server
// that stands still from one that serves. UNITASK_HOSTILE=1 runs the long form, with the bounds on time too.
package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/test/harness"
)

func TestMain(m *testing.M) {
	if part := os.Getenv(partName); part != "" {
		os.Exit(play(part))
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

// mostMemory bounds the memory of the server's process.
const mostMemory = 256 << 20

// TestLargeBodies: many large bodies at once, which are all refused, cost the server no more than a bounded part of
// its memory, and others are served.
func TestLargeBodies(t *testing.T) {
	s := harness.NewServer(t)
	s.Config = "limits: {creates_per_minute: 0}\n" // the tenant asks as often as it is answered
	s.Start()
	o := order{Keys: attackers(s), Times: 5}
	if long(t) {
		o.Times = 32
	}
	held(t, s, fmt.Sprintf("%d bodies of 15 MB", o.Times*len(shapes())), func(o order) {
		var statuses map[int]int
		attack(t, s, "large", o, &statuses)
		t.Logf("answers: %v", statuses)
		if statuses[http.StatusBadRequest] == 0 {
			t.Error("no body was judged")
		}
		refusedAlone(t, statuses, http.StatusBadRequest)
	}, o, 3)
}

// refusedAlone fails the test if an answer isn't the refusal that fits, nor one for lack of room, nor the end of a
// connection.
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

// boundedMemory fails the test if the server's process took more than it may.
func boundedMemory(t *testing.T, s *harness.Server) {
	t.Helper()
	if got := memory(s, "VmHWM"); got > mostMemory {
		t.Errorf("the server took %d MB", got>>20)
	}
}

// broken stands for a connection that ended without an answer.
const broken = 0
