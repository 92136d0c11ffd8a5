package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/task"
)

// moderator is an upstream that answers prompts, and judges texts: a text with "slaughter" is flagged. While it is down
// it doesn't judge.
type moderator struct {
	mu   sync.Mutex
	seen map[string]int // by path
	down bool
}

func (c *moderator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[r.URL.Path]++
	raw, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/v1/chat/completions":
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2}}`)
	case c.down:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		flagged, _ := json.Marshal(strings.Contains(string(raw), "slaughter"))
		_, _ = io.WriteString(w, `{"results":[{"flagged":`+string(flagged)+`,"categories":{"violence":`+string(flagged)+`}}]}`)
	}
}

// took returns how often each path was asked for since the last call.
func (c *moderator) took() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = map[string]int{}
	return seen
}

func (c *moderator) setDown(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
}

// TestPolicy has the real binary refuse by rules, which a reload changes, and by a moderation supplier, who
// is asked first and whose question stands in the ledger.
func TestPolicy(t *testing.T) {
	up := &moderator{seen: map[string]int{}}
	upstream := httptest.NewServer(up)
	t.Cleanup(upstream.Close)
	settings := func(rules, onFailure string) string {
		return `suppliers: [{name: one, kind: openai, base_url: "` + upstream.URL + `/v1"}]
routes: {text.chat: [{supplier: one, model: m, price: {unit: mtok, input: "1", output: "1"}}]}
policy:
  rules: [` + rules + `]
  moderation: {supplier: one, on_failure: ` + onFailure + `, price: {unit: mtok, input: "1"}}
limits: {lease: 3s}
`
	}
	h := newHost(t)
	h.Config = settings("{name: tea, pattern: '(?i)tea'}", "refuse")
	h.start()
	testKey := h.key
	h.useLiveKey()
	const judged, answered = "/v1/moderations", "/v1/chat/completions"
	expect := func(when string, want map[string]int) {
		t.Helper()
		if diff := cmp.Diff(want, up.took()); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", when, diff)
		}
	}
	refused := func(prompt, hint string, code int) {
		t.Helper()
		if o := h.client("run", "text.chat", prompt); o.code != code || !strings.Contains(o.stderr, hint) {
			t.Errorf("%s: exit %d\n%s", prompt, o.code, o.stderr)
		}
	}

	done := h.task("run", "text.chat", "Hello", "--json")
	expect("a prompt", map[string]int{judged: 1, answered: 1})
	ledger, err := h.AdminTask(t.Context(), done.ID)
	if err != nil {
		t.Fatal(err)
	}
	if a := ledger.Attempts; len(a) != 2 || !a[0].Moderation || a[0].State != task.OK || a[0].Cost != "0.000002" || a[1].Moderation {
		t.Errorf("the ledger: %+v", a)
	}
	refused("A cup of TEA", "CONTENT_POLICY_VIOLATION", 1)
	expect("a rule", map[string]int{})
	refused("A slaughter", "CONTENT_POLICY_VIOLATION", 3)
	expect("a flagged prompt", map[string]int{judged: 1})
	up.setDown(true)
	if got := h.call(http.MethodPost, "/api/ai/v1/tasks", `{"capability":"text.chat","input":{"prompt":"Hello"}}`,
		map[string]string{"Idempotency-Key": "moderation-down"}, nil); got.status != http.StatusBadGateway {
		t.Errorf("without a judge: %d", got.status)
	}
	expect("without a judge", map[string]int{judged: 3})

	h.write("unitask.yaml", settings("{pattern: 'x('}", "allow"))
	if bad := h.client("config", "reload"); bad.code == 0 || !strings.Contains(bad.stderr, "unitask.yaml:4:21: policy.rules[0].pattern is no regular expression") {
		t.Errorf("a bad rule: exit %d\n%s", bad.code, bad.stderr)
	}
	refused("A cup of tea", "CONTENT_POLICY_VIOLATION", 1)
	h.write("unitask.yaml", settings("{pattern: coffee, capabilities: [text.*]}", "allow"))
	if o := h.client("config", "reload"); o.code != 0 || o.stderr != "changed: policy\n" {
		t.Errorf("reload: exit %d\n%s", o.code, o.stderr)
	}
	h.must("run", "text.chat", "A cup of tea")
	expect("allowed without a judge", map[string]int{judged: 3, answered: 1})
	refused("A cup of coffee", "input.prompt", 1)

	h.key = testKey
	refused("A cup of coffee", "input.prompt", 1)
	h.must("run", "text.chat", "A slaughter")
	expect("test keys", map[string]int{})
}

// TestAuthorizationByClient edits a picture of a person with the command line: missing members are asked for, and the
// declaration is there for the operator.
func TestAuthorizationByClient(t *testing.T) {
	t.Parallel()
	h := newHost(t).start()
	h.must("run", "image.generate", "a red fox", "-o", "fox.png")
	const proof = "%PDF-1.7\nsigned"
	h.write("release.pdf", proof)
	asked := h.client("run", "image.edit", "bluer", "images=@fox.png")
	if asked.code != 1 || !strings.Contains(asked.stderr, "AUTHORIZATION_REQUIRED") || !strings.Contains(asked.stderr, "hint: authorization.person=none") {
		t.Errorf("without a word: exit %d\n%s", asked.code, asked.stderr)
	}
	done := h.task("run", "image.edit", "bluer", "images=@fox.png", "authorization.person=authorized",
		"authorization.statement=Zaphod signed", "authorization.evidence=@release.pdf", "--json")
	got, err := h.AdminTask(t.Context(), done.ID)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(proof))
	want := &task.Authorization{Person: "authorized", Statement: "Zaphod signed", Evidence: []string{hex.EncodeToString(sum[:])}}
	if diff := cmp.Diff(want, got.Authorization); diff != "" {
		t.Errorf("the operator reads (-want +got):\n%s", diff)
	}
}
