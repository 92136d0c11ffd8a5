package harness

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/crash/invariant"
)

// Chats is a paid chat server that counts every request that reaches it whole. It stands under the paths of several
// suppliers and knows a task by the first word of its prompt. Its fields are set before the first request.
type Chats struct {
	Base    string                    // its address; a supplier's is below it, by its name
	Charges map[string]task.Money     // of an answer, by supplier
	Draw    func(rng *rand.Rand) Fate // how the next submission ends
	Hang    time.Duration             // of a submission that hangs
	Undone  func() bool               // whether submissions are left out of the count; nil: never
	// Watch is called as a submission arrives, and leave before its answer is whole; once more later. nil: no effect.
	Watch func(word string, r *http.Request) (leave func())

	mu       sync.Mutex
	rng      *rand.Rand
	sent     []invariant.Submission
	doubtful map[string]bool // words of submissions that were left out
}

// Fate is how a submission ends.
type Fate struct {
	Charged, Answered bool
	Status            int // of a refusal; 0: no pause
	Hang              bool
	After             time.Duration
}

// Faulty is the fate at a supplier that refuses, breaks off and hangs now and then.
func Faulty(rng *rand.Rand) Fate {
	f := Fate{After: time.Duration(rng.IntN(150)) * time.Millisecond}
	switch n := rng.IntN(100); {
	case n < 4:
		f.Status = http.StatusInternalServerError
	case n < 12:
		f.Status = http.StatusTooManyRequests
	case n < 14: // the connection breaks, and no work was done
	case n < 18: // it breaks after the work
		f.Charged = true
	case n < 21:
		f.Charged, f.Hang = true, true
	default:
		f.Charged, f.Answered = true, true
	}
	return f
}

// Steady is the fate at a supplier that always says how it went, sooner or later.
func Steady(rng *rand.Rand) Fate {
	f := Fate{Charged: true, Answered: true, After: time.Duration(rng.IntN(500)) * time.Millisecond}
	if rng.IntN(10) == 0 {
		f = Fate{Status: http.StatusTooManyRequests}
	}
	return f
}

// NewChats starts a server whose submissions' fates are Faulty, drawn from rng.
func NewChats(t *testing.T, rng *rand.Rand, charges map[string]task.Money) *Chats {
	t.Helper()
	s := &Chats{Charges: charges, Draw: Faulty, rng: rng, doubtful: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(server.Close)
	s.Base = server.URL
	return s
}

func (s *Chats) handle(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Content string }
		Stream   bool
	}
	name := strings.Split(r.URL.Path, "/")[1]
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) != 1 {
		return // cut off by the kill: it never arrived
	}
	word, _, _ := strings.Cut(asked.Messages[0].Content, " ")
	leave := func() {}
	if s.Watch != nil {
		leave = s.Watch(word, r)
	}
	defer leave()
	f := s.note(word, name)
	pieces := []string{AnswerTo(word)}
	if asked.Stream && (f.Charged || f.Answered) {
		pieces = strings.SplitAfter(AnswerTo(word), " ")
		w.Header().Set("Content-Type", sse.ContentType)
	}
	pause := f.After
	if f.Hang {
		pause = s.Hang
	}
	for i := range pieces {
		select {
		case <-time.After(pause / time.Duration(len(pieces))):
		case <-r.Context().Done():
		}
		if len(pieces) > 1 && (f.Answered || i < len(pieces)-1) {
			writePiece(w, pieces[i])
		}
	}
	leave()
	switch {
	case f.Answered && len(pieces) > 1:
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10}}`+"\n\ndata: [DONE]\n\n")
	case f.Answered:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}`, AnswerTo(word))
	case f.Status != 0:
		w.WriteHeader(f.Status)
	default:
		panic(http.ErrAbortHandler)
	}
}

func writePiece(w http.ResponseWriter, piece string) {
	_, _ = fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":%q}}]}`+"\n\n", piece)
	_ = http.NewResponseController(w).Flush()
}

// note draws the submission's fate and counts it.
func (s *Chats) note(word, name string) Fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.Draw(s.rng)
	sub := invariant.Submission{Key: word, Supplier: name}
	if f.Charged {
		sub.Charge = s.Charges[name]
	}
	if s.Undone != nil && s.Undone() {
		s.doubtful[word] = true
		return f
	}
	s.sent = append(s.sent, sub)
	return f
}

// Sent returns every submission that counts.
func (s *Chats) Sent() []invariant.Submission {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Doubtful returns the words of the submissions that were left out of the count.
func (s *Chats) Doubtful() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.doubtful)
}
