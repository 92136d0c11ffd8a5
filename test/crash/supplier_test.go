package crash_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// The suppliers, cheapest first: one server under two paths.
const (
	cheap = "cheap"
	dear  = "dear"
)

// The price of an answer at each, in nano-USD: ten tokens in and ten out, by the routes' prices.
const (
	cheapCharge task.Money = 10*1_000 + 10*2_000
	dearCharge  task.Money = 2 * cheapCharge
)

// hangTime is longer than the suppliers' timeout in the configuration.
const hangTime = 1500 * time.Millisecond

// supplier is a paid chat server that counts every request that reaches it whole.
type supplier struct {
	base string

	draw   func(rng *rand.Rand) fate
	undone func() bool // nil: no effect

	mu       sync.Mutex
	rng      *rand.Rand
	sent     []invariant.Submission
	doubtful map[string]bool // keys with submissions that a restore has undone
}

func newSupplier(t *testing.T, rng *rand.Rand) *supplier {
	t.Helper()
	s := &supplier{rng: rng, draw: faulty, doubtful: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(server.Close)
	s.base = server.URL
	return s
}

// config is the server's configuration.
func config(base string) string {
	return fmt.Sprintf(`limits: {creates_per_minute: 0, reads_per_minute: 0, open_tasks: 0}
suppliers:
  - {name: %[1]s, kind: openai, base_url: "%[3]s/%[1]s", timeout: 1s}
  - {name: %[2]s, kind: openai, base_url: "%[3]s/%[2]s", timeout: 1s}
routes:
  text.chat:
    - {supplier: %[1]s, model: one, price: {unit: mtok, input: "1", output: "2"}}
    - {supplier: %[2]s, model: one, price: {unit: mtok, input: "2", output: "4"}}
`, cheap, dear, base)
}

func answerTo(key string) string { return "the answer to " + key }

// fate is how a submission ends.
type fate struct {
	charged, answered bool
	status            int // of a refusal; 0: no pause
	hang              bool
	after             time.Duration
}

// faulty is the fate at a supplier that refuses, breaks off and hangs now and then.
func faulty(rng *rand.Rand) fate {
	f := fate{after: time.Duration(rng.IntN(150)) * time.Millisecond}
	switch n := rng.IntN(100); {
	case n < 4:
		f.status = http.StatusInternalServerError
	case n < 12:
		f.status = http.StatusTooManyRequests
	case n < 14: // the connection breaks, and no work was done
	case n < 18: // it breaks after the work
		f.charged = true
	case n < 21:
		f.charged, f.hang = true, true
	default:
		f.charged, f.answered = true, true
	}
	return f
}

// steady is the fate at a supplier that always says how it went, sooner or later.
func steady(rng *rand.Rand) fate {
	f := fate{charged: true, answered: true, after: time.Duration(rng.IntN(500)) * time.Millisecond}
	if rng.IntN(10) == 0 {
		f = fate{status: http.StatusTooManyRequests}
	}
	return f
}

func (s *supplier) handle(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Content string }
	}
	name := strings.Split(r.URL.Path, "/")[1]
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) != 1 {
		return // cut off by the kill: it never arrived
	}
	key := asked.Messages[0].Content
	f := s.note(key, name)
	pause := f.after
	if f.hang {
		pause = hangTime
	}
	select {
	case <-time.After(pause):
	case <-r.Context().Done():
	}
	switch {
	case f.answered:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`, answerTo(key))
	case f.status != 0:
		w.WriteHeader(f.status)
	default:
		panic(http.ErrAbortHandler)
	}
}

// note draws the submission's fate and counts it.
func (s *supplier) note(key, name string) fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.draw(s.rng)
	sub := invariant.Submission{Key: key, Supplier: name}
	switch {
	case f.charged && name == cheap:
		sub.Charge = cheapCharge
	case f.charged:
		sub.Charge = dearCharge
	}
	if s.undone != nil && s.undone() {
		s.doubtful[key] = true
		return f
	}
	s.sent = append(s.sent, sub)
	return f
}

func (s *supplier) count() []invariant.Submission {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]invariant.Submission(nil), s.sent...)
}
