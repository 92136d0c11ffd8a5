// Package metrics serves the operator's monitoring: counts, durations and gauges of the whole service in the
// Prometheus format.
//
// The packages below don't know it. They report events to a function or a small interface of their own, which Metrics
// implements, and return their state at each scrape. No label is ever a caller's own words: routes, methods,
// statuses, states, codes and capabilities are closed sets, and suppliers are named by the operator. Counting takes
// no allocation and less than a microsecond.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/notify"
	"unitask/internal/server"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// Build describes the running binary.
type Build struct {
	Version, Commit, Go string
}

// Metrics counts. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	requests  *family[request, prometheus.Counter]
	durations *family[string, prometheus.Observer]
	tasks     *family[ended, prometheus.Counter]
	attempts  *family[outcome, prometheus.Counter]
	suppliers *family[string, prometheus.Observer]
	kept      *family[bool, prometheus.Counter] // true: an input
	hooks     *family[webhook.DeliveryState, prometheus.Counter]
	hookTimes prometheus.Histogram
	commits   prometheus.Histogram
	groups    prometheus.Histogram
}

// The keys of the families.
type (
	request struct {
		route, method string
		status        int
	}
	ended struct {
		capability string
		mode       task.Mode
		state      task.State
		code       fault.Code
	}
	outcome struct {
		supplier string
		state    task.AttemptState
	}
)

var (
	_ gateway.Observer = (*Metrics)(nil)
	_ notify.Observer  = (*Metrics)(nil)
)

// Buckets in seconds. An answer may be held for a minute, a supplier's job may take an hour, and a
// commit is as slow as the disk.
var (
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	attemptBuckets = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
	commitBuckets  = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1}
	groupBuckets   = prometheus.ExponentialBuckets(1, 2, 11)
)

// New returns Metrics with zero counts. It offers the runtime's and the process's own too.
func New(b Build) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.requests = counters(m, "http_requests_total", "Answered requests, by the route that took them.",
		[]string{"route", "method", "code"}, func(k request) []string { return []string{k.route, k.method, strconv.Itoa(k.status)} })
	m.durations = histograms(m, "http_request_duration_seconds", "From a request's arrival to the end of its answer.",
		requestBuckets, "route")
	m.tasks = counters(m, "tasks_ended_total", "Tasks that became terminal; code is empty but for failed ones.",
		[]string{"capability", "mode", "state", "code"},
		func(k ended) []string { return []string{k.capability, string(k.mode), string(k.state), string(k.code)} })
	m.attempts = counters(m, "attempts_total", "Attempts at suppliers whose outcome is recorded.",
		[]string{"supplier", "outcome"}, func(k outcome) []string { return []string{k.supplier, string(k.state)} })
	m.suppliers = histograms(m, "attempt_duration_seconds", "From the intent of an attempt to its recorded outcome.",
		attemptBuckets, "supplier")
	m.kept = counters(m, "artifact_written_bytes_total", "Bytes of files that were kept: results, and inputs too large for a task.",
		[]string{"kind"}, func(input bool) []string { return []string{kindOf(input)} })
	m.hooks = counters(m, "webhook_attempts_total", "Attempts to tell an endpoint of an end: delivered, waiting for the next attempt, or failed for good.",
		[]string{"outcome"}, func(k webhook.DeliveryState) []string { return []string{string(k)} })
	m.hookTimes = one(m, "webhook_attempt_duration_seconds", "From an attempt's beginning to the endpoint's answer.", requestBuckets)
	m.commits = one(m, "store_commit_duration_seconds", "How long a commit took to be on the disk.", commitBuckets)
	m.groups = one(m, "store_commit_operations", "How many operations shared a commit.", groupBuckets)
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: namespace + "build_info", Help: "What runs; always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "go": b.Go},
	})
	info.Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func kindOf(input bool) string {
	if input {
		return "input"
	}
	return "result"
}

// Handler answers a scrape.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, // readable values are shown
		Timeout:       scrapeTimeout,
	})
}

// scrapeTimeout is below Prometheus's own, so that it gets an answer.
const scrapeTimeout = 8 * time.Second

// Request counts an answered request.
func (m *Metrics) Request(r server.Request) {
	m.requests.of(request{r.Route, r.Method, r.Status}).Inc()
	m.durations.of(r.Route).Observe(r.Took.Seconds())
}

// TaskEnded implements gateway.Observer.
func (m *Metrics) TaskEnded(t *task.Task) {
	var code fault.Code
	if t.Failure != nil {
		code = t.Failure.Code
	}
	m.tasks.of(ended{t.Capability, t.Scope.Mode, t.State, code}).Inc()
}

// AttemptEnded implements gateway.Observer.
func (m *Metrics) AttemptEnded(_ *task.Task, a *task.Attempt) {
	m.attempts.of(outcome{a.Supplier, a.State}).Inc()
	m.suppliers.of(a.Supplier).Observe(a.ClosedAt.Sub(a.StartedAt).Seconds())
}

// WebhookAttempt implements notify.Observer.
func (m *Metrics) WebhookAttempt(outcome webhook.DeliveryState, took time.Duration) {
	m.hooks.of(outcome).Inc()
	m.hookTimes.Observe(took.Seconds())
}

// Commit counts a commit of the store.
func (m *Metrics) Commit(operations int, took time.Duration) {
	m.commits.Observe(took.Seconds())
	m.groups.Observe(float64(operations))
}
