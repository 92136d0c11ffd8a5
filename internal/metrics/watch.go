package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Watch shows how the store stands at each scrape, and how many tasks working says have a worker. Call
// it once.
func (m *Metrics) Watch(s store.Gauger, working func() int) {
	m.registry.MustRegister(&watch{store: s, working: working})
}

// WatchRequests shows at each scrape how many requests the request log lacks. Call it once.
func (m *Metrics) WatchRequests(lost func() (dropped, skipped int64)) {
	m.registry.MustRegister(requestsWatch(lost))
}

// WatchFleet shows at each scrape how many nodes are on the store, by what they run; nil counts: a store of one node.
// Call it once.
func (m *Metrics) WatchFleet(counts func() map[string]int) {
	m.registry.MustRegister(fleetWatch(counts))
}

// fleetWatch counts the nodes.
type fleetWatch func() map[string]int

var descNodes = desc("nodes", "Nodes with a session in the store, by their program and settings: more than one row is a mixed fleet.", "runs")

// Describe implements prometheus.Collector.
func (fleetWatch) Describe(ch chan<- *prometheus.Desc) { ch <- descNodes }

// Collect implements prometheus.Collector.
func (counts fleetWatch) Collect(ch chan<- prometheus.Metric) {
	for runs, n := range counts() {
		ch <- prometheus.MustNewConstMetric(descNodes, prometheus.GaugeValue, float64(n), runs)
	}
}

// requestsWatch counts the lines that the request log lost.
type requestsWatch func() (dropped, skipped int64)

var descLost = desc("request_log_lost_total",
	"Requests that the request log lacks: dropped for want of room or time, or refused ones beyond those that are kept.", "reason")

// Describe implements prometheus.Collector.
func (requestsWatch) Describe(ch chan<- *prometheus.Desc) { ch <- descLost }

// Collect implements prometheus.Collector.
func (lost requestsWatch) Collect(ch chan<- prometheus.Metric) {
	dropped, skipped := lost()
	ch <- prometheus.MustNewConstMetric(descLost, prometheus.CounterValue, float64(dropped), "dropped")
	ch <- prometheus.MustNewConstMetric(descLost, prometheus.CounterValue, float64(skipped), "refused")
}

// watch reads everything at once, so that one scrape is one moment.
type watch struct {
	store   store.Gauger
	working func() int
}

var (
	descTasks   = desc("tasks", "Tasks that aren't terminal.", "state")
	descOldest  = desc("queue_oldest_age_seconds", "Since the acceptance of the oldest task in the queue; 0 where it is empty.")
	descLeases  = desc("leases", "Tasks that a worker holds.")
	descWorkers = desc("workers", "Tasks that have a worker on this node.")
	descSize    = desc("store_size_bytes", "The size of the store's files.")
	descAside   = desc("store_quarantined_rows", "Rows of the database that couldn't be read and were set aside.")
	descGone    = desc("store_lost_writes_total", "Acknowledged writes that the database had lost when it came back.")
	descWaiting = desc("webhook_deliveries_waiting", "Deliveries to webhooks that wait for an attempt, also to disabled ones.")
	descOverdue = desc("webhook_overdue_seconds", "For how long the delivery has been due that should have been sent first; 0 where none is due.")
	descFree    = desc("store_free_bytes", "What the store may still grow by before new tasks are refused.")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(namespace+name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (w *watch) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descTasks, descOldest, descLeases, descWorkers, descSize, descFree, descAside, descGone, descWaiting, descOverdue} {
		ch <- d
	}
}

// readTimeout bounds a scrape's wait for the store.
const readTimeout = 5 * time.Second

// Collect implements prometheus.Collector.
func (w *watch) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(descWorkers, float64(w.working()))
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	g, err := w.store.Gauges(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(descTasks, err)
		return
	}
	for _, state := range task.States() {
		if !state.Terminal() {
			gauge(descTasks, float64(g.ByState[state]), string(state))
		}
	}
	gauge(descOldest, g.Oldest.Seconds())
	gauge(descLeases, float64(g.Leases))
	gauge(descSize, float64(g.Bytes))
	gauge(descFree, float64(g.Free))
	gauge(descAside, float64(g.Quarantined))
	gauge(descWaiting, float64(g.Waiting))
	gauge(descOverdue, g.Overdue.Seconds())
	ch <- prometheus.MustNewConstMetric(descGone, prometheus.CounterValue, float64(g.Lost))
}
