package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
)

// upstream is a chat server that counts its paid work.
func upstream(t *testing.T) (base string, calls *atomic.Int64) {
	t.Helper()
	calls = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, r)
			return
		}
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"id":"chatcmpl-1","object":"chat.completion","model":"secret-model","choices":[{"index":0,
			"message":{"role":"assistant","content":"paid answer"},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1", calls
}

func paidConfig(base string) string {
	return `suppliers:
  - {name: paid, kind: openai, base_url: "` + base + `"}
routes:
  text.chat:
    - {supplier: paid, model: secret-model, price: {unit: mtok, input: "0.05", output: "0.40"}}
  text.embed:
    - {supplier: paid, model: secret-model, price: {unit: mtok, input: "0.05", output: "0"}, approved: false}
`
}

// useLiveKey makes a live key by the operator's command and uses it from now on.
func (h *host) useLiveKey() {
	h.T.Helper()
	var key api.Key
	out := h.must("keys", "create", "--name", "live", "--mode", "live", "--data-dir", h.Data(), "--json")
	if err := json.Unmarshal([]byte(out), &key); err != nil || key.Secret == "" {
		h.T.Fatalf("keys create printed %q: %v", out, err)
	}
	h.key = key.Secret
}

// TestOneTaskUnderOneKey sends the same request 50 times at once, from several processes too.
func TestOneTaskUnderOneKey(t *testing.T) {
	base, calls := upstream(t)
	h := newHost(t)
	h.Config = paidConfig(base)
	h.start()
	h.useLiveKey()

	spellings := []string{
		`{"capability":"text.chat","input":{"prompt":"pay once"}}`,
		"{\n \"parameters\": {}, \"input\": {\"prompt\": \"pay \\u006fnce\"},\n \"capability\": \"text.chat\"}",
	}
	var mu sync.Mutex
	ids := map[string]int{}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			var got api.Task
			response := h.call(http.MethodPost, api.PathTasks, spellings[i%2], map[string]string{"Idempotency-Key": "fifty-at-once"}, &got)
			mu.Lock()
			defer mu.Unlock()
			ids[fmt.Sprint(response.status, " ", got.ID)]++
		})
	}
	for range 10 {
		all.Go(func() {
			out := h.client("run", "text.chat", "pay once", "--idempotency-key", "fifty-at-once", "--json")
			var got api.Task
			if err := json.Unmarshal([]byte(out.stdout), &got); err != nil {
				t.Errorf("exit %d: %s%s", out.code, out.stdout, out.stderr)
			}
			mu.Lock()
			defer mu.Unlock()
			ids["200 "+got.ID]++
		})
	}
	all.Wait()
	if len(ids) != 1 || calls.Load() != 1 {
		t.Errorf("%d calls upstream, answers %v", calls.Load(), ids)
	}

	var refused api.ErrorResponse
	for body, want := range map[string]fault.Code{
		`{"capability":"text.chat","input":{"prompt":"pay twice"}}`:                                       fault.IdempotencyConflict,
		`{"capability":"text.chat","input":{"prompt":"pay once"},"parameters":{"seed":9007199254740993}}`: fault.InvalidRequest,
	} {
		response := h.call(http.MethodPost, api.PathTasks, body, map[string]string{"Idempotency-Key": "fifty-at-once"}, &refused)
		if refused.Error.Code != want || refused.RequestID == "" || response.status/100 != 4 {
			t.Errorf("%s: %d %+v", body, response.status, refused)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("%d calls upstream in the end", calls.Load())
	}
}

// TestDirectories compares the capabilities of a live and a test key: false is never used.
func TestDirectories(t *testing.T) {
	base, calls := upstream(t)
	h := newHost(t)
	h.Config = paidConfig(base)
	h.start()
	names := func() string {
		var list api.CapabilityList
		h.call(http.MethodGet, api.PathCapabilities, "", nil, &list)
		var all []string
		for _, c := range list.Data {
			all = append(all, string(c.Name))
		}
		return strings.Join(all, " ")
	}
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range directory.All() {
		all = append(all, string(c.Name))
	}
	if got, want := names(), strings.Join(all, " "); got != want {
		t.Errorf("a test key's directory: %s, want %s", got, want)
	}
	h.useLiveKey()
	if got := names(); got != "text.chat" {
		t.Errorf("a live key's directory: %s", got)
	}
	var refused api.ErrorResponse
	h.call(http.MethodPost, api.PathTasks, `{"capability":"text.embed","input":{"texts":["a"]}}`, map[string]string{"Idempotency-Key": "unapproved"}, &refused)
	if refused.Error.Code != fault.InvalidRequest || calls.Load() != 0 {
		t.Errorf("an unapproved route: %+v after %d calls", refused, calls.Load())
	}
}
