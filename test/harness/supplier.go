package harness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// SupplierName is how the configuration and the ledger name a Supplier.
const SupplierName = "paid"

// charge is ten tokens in and ten out, by the route's price.
const charge task.Money = 10*1_000 + 10*2_000

// Supplier is a paid chat server that answers every prompt and counts. It knows a task by the first
// word of its prompt.
type Supplier struct {
	After func() time.Duration // before each answer; nil: at once. Set before the first request

	base string

	mu   sync.Mutex
	sent []invariant.Submission
	open chan struct{} // closed while answers go out

	refusal    int // the status of every answer; 0: none
	retryAfter string
}

// NewSupplier starts one that answers at once.
func NewSupplier(t *testing.T) *Supplier {
	t.Helper()
	s := &Supplier{open: make(chan struct{})}
	close(s.open)
	server := httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(server.Close)
	s.base = server.URL
	return s
}

// Config is a configuration in which live chats go to the supplier.
func (s *Supplier) Config() string {
	return fmt.Sprintf(`suppliers:
  - {name: %s, kind: openai, base_url: %q}
routes:
  text.chat:
    - {supplier: %[1]s, model: one, price: {unit: mtok, input: "1", output: "2"}}
`, SupplierName, s.base)
}

// Hold makes every submission from now on wait for its answer until release is called.
func (s *Supplier) Hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.open = held
	return sync.OnceFunc(func() { close(held) })
}

// Refuse makes every answer from now on one of the given status, and of advice to wait unless retryAfter is "". 0 ends it.
func (s *Supplier) Refuse(status int, retryAfter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal, s.retryAfter = status, retryAfter
}

// Sent returns every submission that has arrived.
func (s *Supplier) Sent() []invariant.Submission {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// AnswerTo returns the answer to the task that the word names.
func AnswerTo(word string) string { return "the answer to " + word }

func (s *Supplier) handle(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) != 1 {
		return // cut off by the end of the server: it never arrived
	}
	word, _, _ := strings.Cut(asked.Messages[0].Content, " ")
	s.mu.Lock()
	s.sent = append(s.sent, invariant.Submission{Key: word, Supplier: SupplierName, Charge: charge})
	open, refusal, retryAfter := s.open, s.refusal, s.retryAfter
	s.mu.Unlock()
	select {
	case <-open:
	case <-r.Context().Done():
		return
	}
	if s.After != nil {
		time.Sleep(s.After())
	}
	w.Header().Set("Content-Type", "application/json")
	if refusal != 0 {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		http.Error(w, `{"error":{"message":"not now"}}`, refusal)
		return
	}
	_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`, AnswerTo(word))
}
