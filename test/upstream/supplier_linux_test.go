package upstream_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"unitask/internal/sse"
	"unitask/internal/supplier/sandbox/media"
)

// seller is a supplier that one format describes. Everything it answers is good, but for the failure that
// its cell asks for, in one phase, once or always.
type seller struct {
	t       *testing.T
	dialect dialect
	api     *host // where it is asked
	files   *host // where its results are

	mu      sync.Mutex
	failing *failure
	phase   phase
	once    bool
	taken   *host           // the address that fails
	begun   func()          // hears of the failure's beginning
	failed  int             // how often the failure was met
	arrived int             // submissions
	keys    map[string]bool // of those, where the format has them
}

func newSeller(t *testing.T, d dialect) *seller {
	t.Helper()
	s := &seller{t: t, dialect: d, begun: func() {}}
	s.api = newHost(t, http.HandlerFunc(s.serve))
	s.files = newHost(t, http.HandlerFunc(s.serve))
	return s
}

// fail lets the seller fail in a phase, which mustn't have begun. begun hears of the moments from which the
// service may wait: for a job, or in vain.
func (s *seller) fail(f failure, p phase, once bool, begun func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing, s.phase, s.once, s.begun = &f, p, once, begun
	if p.submits() {
		s.phase = submit
	}
	if p.submits() && f.take != nil {
		s.takeLocked(s.api)
	}
}

func (s *seller) takeLocked(h *host) {
	s.failing.take(h)
	s.taken = h
	s.begun()
}

// noticed is called once the service has said that the seller failed. An address that fails once is well then.
func (s *seller) noticed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		return
	}
	s.failed++
	if s.once {
		s.failing = nil
		s.taken.restore()
		s.taken = nil
	}
}

// heal ends the failure.
func (s *seller) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing, s.taken = nil, nil
	s.api.restore()
	s.files.restore()
}

// submissions returns how many have arrived.
func (s *seller) submissions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrived
}

// forget takes back what has arrived since there were so many submissions.
func (s *seller) forget(since int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived = since
}

// met returns how many requests met the failure.
func (s *seller) met() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *seller) serve(w http.ResponseWriter, r *http.Request) {
	p := s.dialect.phaseOf(r)
	serve := s.count(p, r)
	if serve != nil {
		serve(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	if s.begins(p) {
		w.Header().Set("Connection", "close")
	}
	if r.Header.Get("Accept") == sse.ContentType && s.dialect.stream != (parts{}) {
		s.dialect.stream.write(w, len(s.dialect.stream))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	s.dialect.answer(w, r, s)
	if p == submit && s.dialect.hasJob() {
		s.begun()
	}
}

// count notes the request and returns what answers it where the failure does.
func (s *seller) count(p phase, r *http.Request) http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == submit && !s.repeatedLocked(r) {
		s.arrived++
	}
	f := s.failing
	if f == nil || p != s.phase || f.serve == nil && !f.late {
		return nil
	}
	s.failed++
	s.begun()
	if s.once {
		s.failing = nil
	}
	if f.late {
		return s.tooLate(p)
	}
	return f.serve
}

// repeatedLocked reports whether the submission came before, under the same key.
func (s *seller) repeatedLocked(r *http.Request) bool {
	key := r.Header.Get("Idempotency-Key")
	if !s.dialect.honours || key == "" {
		return false
	}
	before := s.keys[key]
	if s.keys == nil {
		s.keys = map[string]bool{}
	}
	s.keys[key] = true
	return before
}

// tooLate is a good answer to a submission that nobody waits for any more, and the news of a job that goes on.
func (s *seller) tooLate(p phase) http.HandlerFunc {
	if p == poll {
		return s.dialect.working
	}
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		s.dialect.answer(w, r, s)
	}
}

// begins takes the address of the next phase away where that is the failure, before the answer that leads
// there has gone out. It reports whether the address was taken.
func (s *seller) begins(p phase) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.failing
	if f == nil || f.take == nil || s.dialect.next(p) != s.phase {
		return false
	}
	h := s.api
	if s.phase == transfer {
		h = s.files
	}
	s.takeLocked(h)
	return true
}

// file returns the address of the result.
func (s *seller) file() string { return "http://" + s.files.address + "/files/zarquon" }

const filmSeconds = 4

// picture, film and sound are results.
var (
	picture = sync.OnceValue(func() []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 4))); err != nil {
			panic(err)
		}
		return b.Bytes()
	})
	film = sync.OnceValue(func() []byte {
		return media.Video(media.VideoSpec{Prompt: "Waves", Width: 64, Height: 36, Seconds: filmSeconds})
	})
	sound = sync.OnceValue(func() []byte { return media.Speak(media.SpeechSpec{Text: "Waves", Speed: 1}).WAV() })
)

func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

func sends(r *http.Request, method string, ends ...string) bool {
	for _, end := range ends {
		if r.Method == method && strings.HasSuffix(r.URL.Path, end) {
			return true
		}
	}
	return false
}
