package e2e_test

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"unitask/internal/api"
	"unitask/test/harness"
)

// TestMetrics scrapes the operator's socket and the listener for monitoring after some work: both show the same,
// without data of callers, and the API's own listener doesn't show it.
func TestMetrics(t *testing.T) {
	h := newHost(t)
	monitor := harness.FreeAddress(t)
	h.Env = append(h.Env, "UNITASK_METRICS_LISTEN="+monitor)
	h.start()
	const prompt = "xylophone@fail-is-no-magic-word"
	var ids []string
	for _, input := range []string{prompt, prompt + " @fail:CONTENT_POLICY_VIOLATION"} {
		got := h.create(t, input)
		id := regexp.MustCompile(`task_[0-9A-Za-z]+`).FindString(string(got.Body))
		if id == "" {
			t.Fatalf("no task: %s", got.Body)
		}
		ids = append(ids, id)
	}
	if got, err := h.Send(t.Context(), harness.Request{Method: "BREW", Path: "/nowhere/" + prompt}); err != nil || got.Status != http.StatusNotFound {
		t.Fatalf("%+v %v", got, err)
	}
	onSocket, err := h.Operator(t.Context(), api.PathMetrics)
	if err != nil || onSocket.Status != http.StatusOK {
		t.Fatalf("%d %s %v", onSocket.Status, onSocket.Body, err)
	}
	text := fetch(t, "http://"+monitor+api.PathMetrics, http.StatusOK)
	for _, line := range []string{
		`unitask_tasks_ended_total{capability="text.chat",code="",mode="test",state="succeeded"} 1`,
		`unitask_tasks_ended_total{capability="text.chat",code="CONTENT_POLICY_VIOLATION",mode="test",state="failed"} 1`,
		`unitask_http_requests_total{code="200",method="POST",route="/api/ai/v1/tasks"} 1`,
		`unitask_http_requests_total{code="422",method="POST",route="/api/ai/v1/tasks"} 1`,
		`unitask_http_requests_total{code="404",method="other",route="/"} 1`,
		`unitask_tasks{state="queued"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
	if a, b := names(t, string(onSocket.Body)), names(t, text); !slices.Equal(a, b) {
		t.Errorf("the socket has %q, the listener %q", a, b)
	}
	for _, private := range append(ids, h.key, h.key[len(h.key)-6:], "xylophone", "nowhere", "BREW", "acct_", "key_") {
		if strings.Contains(text, private) {
			t.Errorf("the metrics hold %q", private)
		}
	}
	fetch(t, "http://"+monitor+"/admin/v1/keys", http.StatusNotFound)
	fetch(t, h.Base+api.PathMetrics, http.StatusNotFound)
}

// TestSmallHeap: a node at rest holds few objects, as each collection looks through all of them. With 330,000 more of
// them a task took 22 µs more of CPU.
func TestSmallHeap(t *testing.T) {
	h := newHost(t)
	h.start()
	h.create(t, "hello")
	var got harness.Reply
	for range 2 { // what a pool holds goes with the second collection
		var err error
		if got, err = h.Operator(t.Context(), "/debug/pprof/heap?gc=1&debug=1"); err != nil || got.Status != http.StatusOK {
			t.Fatalf("%d %v", got.Status, err)
		}
	}
	found := regexp.MustCompile(`(?m)^# HeapObjects = (\d+)$`).FindSubmatch(got.Body)
	if found == nil {
		t.Fatalf("no number of objects in %.300s", got.Body)
	}
	const most = 60_000
	if n, err := strconv.Atoi(string(found[1])); err != nil || n > most {
		t.Errorf("%d objects (%v), want %d at most", n, err, most)
	}
}

// create makes one synchronous task.
func (h *host) create(t *testing.T, prompt string) harness.Reply {
	t.Helper()
	got, err := h.Send(t.Context(), harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: h.key,
		Body:   `{"capability":"text.chat","input":{"prompt":"` + prompt + `"}}`,
		Header: map[string]string{api.HeaderIdempotencyKey: "metrics-" + prompt},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func fetch(t *testing.T, url string, status int) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		t.Fatalf("%s: %d %s %v, want %d", url, response.StatusCode, body, err, status)
	}
	return string(body)
}

// names parses an exposition and returns the names in it.
func names(t *testing.T, text string) (all []string) {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name := range families {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
