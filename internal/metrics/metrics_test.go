package metrics_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"unitask/internal/artifact"
	"unitask/internal/fault"
	"unitask/internal/metrics"
	"unitask/internal/operator"
	"unitask/internal/server"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

var update = flag.Bool("update", false, "write the golden files anew")

// gauger is a store at a standstill.
type gauger struct{ err error }

func (g gauger) Gauges(context.Context) (store.Gauges, error) {
	return store.Gauges{
		Stats: store.Stats{ByState: map[task.State]int64{task.Queued: 3, task.Running: 2}, Bytes: 4096},
		Free:  1 << 30, Leases: 2, Oldest: 90 * time.Second, Quarantined: 1, Waiting: 5, Overdue: 2 * time.Second,
	}, g.err
}

// keeper discards its objects.
type keeper struct{ artifact.Store }

func (keeper) Put(_ context.Context, r artifact.PutRequest) (artifact.Meta, error) {
	if r.Body == nil {
		return artifact.Meta{}, errors.New("no body")
	}
	return artifact.Meta{ID: r.ID, Bytes: 7}, nil
}

// counted returns metrics to which one of everything has happened.
func counted(t *testing.T, s store.Gauger) *metrics.Metrics {
	t.Helper()
	m := metrics.New(metrics.Build{Version: "1.2.3", Commit: "abc", Go: "go1.26"})
	m.Watch(s, func() int { return 2 })
	m.WatchBudgets(func(context.Context) (accounts, keys operator.BudgetCount, err error) {
		return operator.BudgetCount{Near: 3}, operator.BudgetCount{Near: 2, Spent: 1}, nil
	})
	m.Request(server.Request{Route: "/api/ai/v1/tasks", Method: "POST", Status: 200, Took: 3 * time.Millisecond})
	m.Request(server.Request{Route: "/api/ai/v1/tasks", Method: "POST", Status: 200, Took: 40 * time.Millisecond})
	chat := endedTask()
	m.TaskEnded(&task.Task{Scope: chat.Scope, Capability: chat.Capability, State: task.Failed, Failure: &task.Failure{Code: fault.ProviderTimeout}})
	m.TaskEnded(chat)
	m.AttemptEnded(chat, &chat.Attempts[0])
	m.WebhookAttempt(webhook.Delivered, 3*time.Millisecond)
	m.Commit(12, 700*time.Microsecond)
	files := m.Artifacts(keeper{})
	for _, r := range []artifact.PutRequest{
		{ID: task.NewID(task.PrefixArtifact, time.Now()), Body: strings.NewReader("")},
		{ID: task.NewID(task.PrefixInput, time.Now()), Body: strings.NewReader("")},
		{ID: task.NewID(task.PrefixInput, time.Now())}, // fails, and doesn't count
	} {
		_, _ = files.Put(t.Context(), r)
	}
	return m
}

func scrape(t *testing.T, h http.Handler) (int, []byte) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return w.Code, w.Body.Bytes()
}

func parse(t *testing.T, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// TestExposition holds every name, type, label and value of the service's own to a golden file, and all
// of them, the runtime's too, to Prometheus's own parser and linter.
func TestExposition(t *testing.T) {
	const golden = "testdata/exposition.txt"
	code, text := scrape(t, counted(t, gauger{}).Handler())
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, text)
	}
	families := parse(t, text)
	for _, name := range []string{"go_goroutines", "go_memstats_heap_alloc_bytes", "process_cpu_seconds_total", "process_resident_memory_bytes"} {
		if families[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	got := own(text)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run go test ./internal/metrics -update (-want +got):\n%s", diff)
	}
}

// own returns the lines about the service's own metrics.
func own(text []byte) string {
	lines := slices.Collect(strings.Lines(string(text)))
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		rest := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		return !strings.HasPrefix(rest, "unitask_")
	}), "")
}

// TestBrokenStore: values that don't need the store are shown even when it fails.
func TestBrokenStore(t *testing.T) {
	_, text := scrape(t, counted(t, gauger{errors.New("the disk is gone")}).Handler())
	families := parse(t, text)
	if families["unitask_http_requests_total"] == nil || families["unitask_workers"] == nil || families["unitask_tasks"] != nil {
		t.Errorf("got %s", own(text))
	}
	if strings.Contains(string(text), "the disk is gone") {
		t.Error("the scrape shows an error's text")
	}
}

// TestCountingIsFree holds the hot path to no allocation.
func TestCountingIsFree(t *testing.T) {
	m, chat := counted(t, gauger{}), endedTask()
	if n := testing.AllocsPerRun(1000, func() { countTask(m, chat) }); n != 0 {
		t.Errorf("%v allocations for one task, want 0", n)
	}
}

// BenchmarkTask counts all that one synchronous task brings: a request, an attempt, an end, a commit.
func BenchmarkTask(b *testing.B) {
	m, chat := metrics.New(metrics.Build{}), endedTask()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			countTask(m, chat)
		}
	})
}

// endedTask is a chat that took an attempt of two seconds.
func endedTask() *task.Task {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	return &task.Task{
		Scope: task.Scope{Mode: task.Live}, Capability: "text.chat", State: task.Succeeded,
		Attempts: []task.Attempt{{Supplier: "groq", State: task.OK, StartedAt: start, ClosedAt: new(start.Add(2 * time.Second))}},
	}
}

func countTask(m *metrics.Metrics, chat *task.Task) {
	m.Request(server.Request{Route: "/api/ai/v1/tasks", Method: "POST", Status: 200, Took: time.Millisecond})
	m.AttemptEnded(chat, &chat.Attempts[0])
	m.TaskEnded(chat)
	m.Commit(1, time.Millisecond)
}
