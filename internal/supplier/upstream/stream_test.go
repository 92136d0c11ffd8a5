package upstream_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/upstream"
)

// TestAnswerSizes: an answer of whatever length comes whole, and one that claims its length takes no more memory.
func TestAnswerSizes(t *testing.T) {
	const whole = 3 << 20
	text := strings.Repeat("0123456789abcde\n", whole/16)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		if r.URL.Path == "/claimed" {
			w.Header().Set("Content-Length", strconv.Itoa(n))
		} else {
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, text[:n])
	}))
	defer srv.Close()
	c := newClient(t, upstream.Config{BaseURL: srv.URL})
	for _, path := range []string{"/claimed", "/unclaimed"} {
		for _, n := range []int{0, 1, 511, 512, 513, 1 << 20, 1<<20 + 1, whole} {
			answer, err := c.Do(t.Context(), upstream.Call{Method: http.MethodGet, Path: path + "?n=" + strconv.Itoa(n)})
			if err != nil || string(answer.Body) != text[:n] {
				t.Errorf("%s: %d bytes of %d, %v", path, len(answer.Body), n, err)
			}
			if path == "/claimed" && n <= 1<<20 && cap(answer.Body) != n+1 {
				t.Errorf("%d bytes take the memory of %d", n, cap(answer.Body))
			}
		}
	}
}

// firstWord is the talk of a text of which each event brings a word, with more behind it, until one says DONE.
type firstWord struct{ done bool }

func (*firstWord) Whole(upstream.Answer) (supplier.Outcome, error) { return supplier.Outcome{}, nil }

func (t *firstWord) Event(_ int, e upstream.Event) (supplier.Delta, error) {
	word, _, _ := strings.Cut(e.Data, " ")
	if word == "DONE" {
		t.done = true
		return supplier.Delta{}, upstream.ErrDone
	}
	return supplier.Delta{Text: word}, nil
}

func (t *firstWord) Complete(bool) bool { return t.done }

func (*firstWord) Outcome(told *supplier.Told) supplier.Outcome {
	text := told.Text.String()
	return supplier.Outcome{Result: &supplier.Result{Text: &text}}
}

// TestStreamLimit: the bytes around the pieces of a long text don't count against its limit; text does, and so do
// events without any.
func TestStreamLimit(t *testing.T) {
	const limit = 1 << 20
	tooLarge := outcome{Code: fault.ProviderUnavailable, Sent: supplier.Unknown, Status: http.StatusOK}
	for name, tt := range map[string]struct {
		event string
		times int
		text  int // bytes
		want  outcome
	}{
		"tokens":   {"data: word " + strings.Repeat("x", 500) + "\n\n", limit / 256, limit / 64, outcome{}},
		"text":     {"data: " + strings.Repeat("w", 8<<10) + "\n\n", limit / (8 << 10), limit, outcome{}},
		"too much": {"data: " + strings.Repeat("w", 8<<10) + "\n\n", limit/(8<<10) + 1, 0, tooLarge},
		"comments": {": " + strings.Repeat("x", 500) + "\n\n", limit / 500, 0, tooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, strings.Repeat(tt.event, tt.times)+"data: DONE\n\n")
			}))
			defer srv.Close()
			f := upstream.Format{Client: newClient(t, upstream.Config{BaseURL: srv.URL})}
			out, err := f.Stream(t.Context(), "/", struct{}{}, limit, &firstWord{}, func(supplier.Delta) {})
			if diff := cmp.Diff(tt.want, outcomeOf(err)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if err == nil && len(*out.Result.Text) != tt.text {
				t.Errorf("%d bytes of text, want %d", len(*out.Result.Text), tt.text)
			}
		})
	}
}

// TestLongEvent: an event may be as long as the answer may be.
func TestLongEvent(t *testing.T) {
	const limit = 4 << 20
	for size, want := range map[int]outcome{limit / 2: {}, limit + 1: {Code: fault.ProviderUnavailable, Sent: supplier.Unknown}} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: word "+strings.Repeat("x", size)+"\n\ndata: DONE\n\n")
		}))
		f := upstream.Format{Client: newClient(t, upstream.Config{BaseURL: srv.URL})}
		_, err := f.Stream(t.Context(), "/", struct{}{}, limit, &firstWord{}, func(supplier.Delta) {})
		srv.Close()
		if diff := cmp.Diff(want, outcomeOf(err)); diff != "" {
			t.Errorf("%d bytes: outcome (-want +got):\n%s", size, diff)
		}
	}
}
