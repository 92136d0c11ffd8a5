package suppliertest

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
)

// maxPolls is above the polls of any canned job.
const maxPolls = 1000

func testSuccess(t *testing.T, h Harness, c Case) {
	if h.Upstream == nil {
		synctest.Test(t, func(t *testing.T) {
			a := newAdapter(t, h, "", fixedKey)
			checkResult(t, c, finish(t, h, a, submit(t, a, c)))
			if h.Abilities.Stream {
				testStream(t, a, c)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				testCanceled(ctx, t, cancel, newAdapter(t, h, "", fixedKey), c)
			}
		})
		return
	}
	t.Run("submit", func(t *testing.T) {
		s := serve(t, h, c.Answer, false)
		a := newAdapter(t, h, s.URL, fixedKey)
		out := submit(t, a, c)
		checkSubmission(t, h, c, s.received())
		checkResult(t, c, finish(t, h, a, out))
	})
	t.Run("new key", func(t *testing.T) { testRotatedKey(t, h, c) })
	t.Run("concurrent", func(t *testing.T) { testConcurrent(t, h, c) })
	if c.Stream != nil {
		t.Run("stream", func(t *testing.T) {
			s := serve(t, h, c.Stream, false)
			testStream(t, newAdapter(t, h, s.URL, fixedKey), c)
			if n := len(s.received()); n != 1 {
				t.Errorf("requests: got %d, want 1", n)
			}
		})
		t.Run("canceled stream", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			sent := func() {}
			if c.Want != nil && c.Want.Text == nil {
				sent = cancel // it has no pieces
			}
			testCanceled(ctx, t, cancel, newAdapter(t, h, serve(t, h, unending(c.Stream, sent), false).URL, fixedKey), c)
		})
	}
}

// unending sends the answer except for its last event, calls sent, and then stays silent.
func unending(answer http.Handler, sent func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		answer.ServeHTTP(whole, r)
		events := strings.SplitAfter(strings.TrimRight(whole.Body.String(), "\n"), "\n\n")
		maps.Copy(w.Header(), whole.Header())
		w.Header().Del("Content-Length")
		_, _ = io.WriteString(w, strings.Join(events[:len(events)-1], ""))
		_ = http.NewResponseController(w).Flush()
		sent()
		<-r.Context().Done()
	})
}

// testCanceled cancels a stream, of ctx, at its first piece: it ends at once, its outcome is unknown unless the text was
// complete, and no piece comes afterwards.
func testCanceled(ctx context.Context, t *testing.T, cancel func(), a supplier.Adapter, c Case) {
	t.Helper()
	var told strings.Builder
	returned := false
	out, err := a.(supplier.Streamer).Stream(ctx, filled(c.Request), func(d supplier.Delta) {
		if returned {
			t.Error("a delta after the end")
		}
		told.WriteString(d.Text)
		cancel()
	})
	returned = true
	switch {
	case err == nil && out.Result != nil && out.Result.Text != nil && told.String() != *out.Result.Text:
		t.Errorf("deltas: got %q, want %q", told.String(), *out.Result.Text)
	case err != nil && supplier.AsError(err).Sent != supplier.Unknown:
		t.Errorf("verdict %q of a canceled stream", supplier.AsError(err).Sent)
	}
}

func submit(t *testing.T, a supplier.Adapter, c Case) supplier.Outcome {
	t.Helper()
	out, err := a.Submit(t.Context(), filled(c.Request))
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	return out
}

// finish follows a job to its result. The job takes the way through its stored form each time.
func finish(t *testing.T, h Harness, a supplier.Adapter, out supplier.Outcome) *supplier.Result {
	t.Helper()
	for range maxPolls {
		if (out.Result == nil) == (out.Job == nil) {
			t.Fatalf("outcome %+v is neither a result nor a job, or both", out)
		}
		if out.Result != nil {
			return out.Result
		}
		if p := out.Job.Progress; p != nil && (*p < 0 || *p > 1) {
			t.Errorf("progress %v is out of range", *p)
		}
		pause(h, *out.Job)
		job := stored(t, *out.Job)
		p, ok := a.(supplier.Poller)
		if !ok {
			t.Fatal("a job of an adapter that can't poll")
		}
		var err error
		if out, err = p.Poll(t.Context(), job); err != nil {
			t.Fatalf("poll: %v", err)
		}
	}
	t.Fatalf("the job still runs after %d polls", maxPolls)
	return nil
}

// pause waits as a job asks for, in a bubble; a canned upstream needs no pause.
func pause(h Harness, j supplier.Job) {
	if h.Upstream == nil {
		time.Sleep(max(j.PollAfter, time.Second))
	}
}

func stored(t *testing.T, j supplier.Job) supplier.Job {
	t.Helper()
	b, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), secretKey) {
		t.Error("the stored job holds the key")
	}
	var back supplier.Job
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func checkResult(t *testing.T, c Case, got *supplier.Result) {
	t.Helper()
	if c.Want != nil {
		if diff := cmp.Diff(c.Want, got); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	}
	if c.Check != nil {
		c.Check(t, got)
	}
}

// checkSubmission checks that one request was made, with the key and the expected body.
func checkSubmission(t *testing.T, h Harness, c Case, got []received) {
	t.Helper()
	if len(got) != 1 {
		t.Fatalf("requests: got %d, want 1", len(got))
	}
	r := got[0]
	if r.Key != secretKey {
		t.Errorf("key: got %q, want the configured one", r.Key)
	}
	if r.Header.Get("Idempotency-Key") != "" && !h.Abilities.HonorKey {
		t.Error("an Idempotency-Key is sent to a supplier that doesn't honour it")
	}
	if c.Sends == "" {
		return
	}
	if diff := cmp.Diff(decoded(t, c.Sends), decoded(t, string(r.Body))); diff != "" {
		t.Errorf("request body (-want +got):\n%s", diff)
	}
}

func decoded(t *testing.T, s string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

// testRotatedKey checks that the key is asked for at each use.
func testRotatedKey(t *testing.T, h Harness, c Case) {
	s := serve(t, h, c.Answer, false)
	keys := []string{"suppliertest-key-a", "suppliertest-key-b"}
	var used int
	a := newAdapter(t, h, s.URL, func() (string, error) { used++; return keys[min(used, len(keys))-1], nil })
	submit(t, a, c)
	submit(t, a, c)
	var got []string
	for _, r := range s.received() {
		got = append(got, r.Key)
	}
	if diff := cmp.Diff(keys, got); diff != "" {
		t.Errorf("keys sent (-want +got):\n%s", diff)
	}
}

func testConcurrent(t *testing.T, h Harness, c Case) {
	const n = 8
	s := serve(t, h, c.Answer, false)
	a := newAdapter(t, h, s.URL, fixedKey)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := a.Submit(t.Context(), filled(c.Request)); err != nil {
				t.Errorf("submit: %v", err)
			}
		})
	}
	wg.Wait()
	if got := len(s.received()); got != n {
		t.Errorf("requests: got %d, want %d", got, n)
	}
}

// testStream checks that the pieces make up the text and that the result is Submit's.
func testStream(t *testing.T, a supplier.Adapter, c Case) {
	t.Helper()
	var told supplier.Told
	out, err := a.(supplier.Streamer).Stream(t.Context(), filled(c.Request), func(d supplier.Delta) {
		if d.Size() == 0 {
			t.Error("an empty delta")
		}
		told.Add(d)
	})
	if err != nil {
		t.Fatalf("stream: %v", err)
	}
	if out.Result == nil {
		return // a job, as Submit would have started
	}
	checkResult(t, c, out.Result)
	if out.Result.Text != nil {
		checkTold(t, &told, out.Result)
	}
}

// checkTold checks that the pieces of a stream make up its result.
func checkTold(t *testing.T, told *supplier.Told, r *supplier.Result) {
	t.Helper()
	want := supplier.Result{Text: r.Text, Reasoning: r.Reasoning, ToolCalls: r.ToolCalls}
	got := supplier.Result{Text: new(told.Text.String()), Reasoning: told.Reasoning.String(), ToolCalls: told.Calls()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}

// testProbe: a probe is a GET, for which no supplier charges, with the key.
func testProbe(t *testing.T, h Harness) {
	probe := func(t *testing.T, answer http.Handler) error {
		s := serve(t, h, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				t.Errorf("%s %s isn't free", r.Method, r.URL.Path)
			}
			answer.ServeHTTP(w, r)
		}), false)
		ctx, cancel := context.WithTimeout(t.Context(), exchangeTimeout)
		defer cancel()
		keyed, err := newAdapter(t, h, s.URL, fixedKey).(supplier.Prober).Probe(ctx)
		if !keyed {
			t.Error("it says that it has no key")
		}
		return err
	}
	t.Run("reachable", func(t *testing.T) {
		if err := probe(t, h.Upstream.Probe); err != nil {
			t.Error(err)
		}
	})
	t.Run("key refused", func(t *testing.T) {
		err := probe(t, denounce(http.StatusUnauthorized))
		checkError(t, err, Verdict{Code: unavailable, Sent: supplier.Refused, Operator: true})
	})
}
