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

// fakeSupplier is a supplier of one format. All of its answers are good, but for the failure that its
// cell needs, in one phase, once or always.
type fakeSupplier struct {
	t       *testing.T
	dialect dialect
	api     *host // of its API
	files   *host // of its results

	mu      sync.Mutex
	failing *failure
	phase   phase
	once    bool
	taken   *host           // the address that fails
	started func()          // called when the failure begins
	failed  int             // how often the failure was met
	arrived int             // submissions
	keys    map[string]bool // of the submissions, if the format has them
}

func newFakeSupplier(t *testing.T, d dialect) *fakeSupplier {
	t.Helper()
	s := &fakeSupplier{t: t, dialect: d, started: func() {}}
	s.api = newHost(t, http.HandlerFunc(s.serve))
	s.files = newHost(t, http.HandlerFunc(s.serve))
	return s
}

// fail lets the fakeSupplier fail in a phase, which mustn't have started. started is called at the moments from which
// the service may wait: for a job, or in vain.
func (s *fakeSupplier) fail(f failure, p phase, once bool, started func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing, s.phase, s.once, s.started = &f, p, once, started
	if p.submits() {
		s.phase = submit
	}
	if p.submits() && f.take != nil {
		s.takeLocked(s.api)
	}
}

func (s *fakeSupplier) takeLocked(h *host) {
	s.failing.take(h)
	s.taken = h
	s.started()
}

// noticed is called once the service has reported the failure. An address that fails once is restored then.
func (s *fakeSupplier) noticed() {
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
func (s *fakeSupplier) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing, s.taken = nil, nil
	s.api.restore()
	s.files.restore()
}

// submissions returns how many have arrived.
func (s *fakeSupplier) submissions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrived
}

// forget sets the count of submissions back.
func (s *fakeSupplier) forget(since int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived = since
}

// met returns how many requests met the failure.
func (s *fakeSupplier) met() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *fakeSupplier) serve(w http.ResponseWriter, r *http.Request) {
	p := s.dialect.phaseOf(r)
	s.hold(r)
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
		s.started()
	}
}

// count records the request, and returns the failure's handler if the failure answers it.
func (s *fakeSupplier) count(p phase, r *http.Request) http.HandlerFunc {
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
	s.started()
	if s.once {
		s.failing = nil
	}
	if f.late {
		return s.tooLate(p)
	}
	return f.serve
}

// repeatedLocked reports whether the submission came before, under the same key.
func (s *fakeSupplier) repeatedLocked(r *http.Request) bool {
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

// tooLate is a good answer to a submission whose caller has given up, or the state of a job that goes on.
func (s *fakeSupplier) tooLate(p phase) http.HandlerFunc {
	if p == poll {
		return s.dialect.working
	}
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		s.dialect.answer(w, r, s)
	}
}

// begins takes the address of the next phase away if that is the failure, before the answer that leads
// there has gone out. It reports whether the address was taken.
func (s *fakeSupplier) begins(p phase) bool {
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
func (s *fakeSupplier) file() string { return "http://" + s.files.address + "/files/zarquon" }

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
