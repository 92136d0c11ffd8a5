package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// namespace begins every name of the service's own.
const namespace = "unitask_"

// family is a metric's children by a key of its own, each resolved at its first use.
type family[K comparable, M any] struct {
	make func(K) M

	mu  sync.RWMutex
	all map[K]M
}

func newFamily[K comparable, M any](make func(K) M) *family[K, M] {
	return &family[K, M]{make: make, all: map[K]M{}}
}

func (f *family[K, M]) of(k K) M {
	f.mu.RLock()
	child, ok := f.all[k]
	f.mu.RUnlock()
	if ok {
		return child
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	child = f.make(k) // a second one is the same child
	f.all[k] = child
	return child
}

func counters[K comparable](m *Metrics, name, help string, labels []string, values func(K) []string) *family[K, prometheus.Counter] {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: namespace + name, Help: help}, labels)
	m.registry.MustRegister(v)
	return newFamily(func(k K) prometheus.Counter { return v.WithLabelValues(values(k)...) })
}

func histograms(m *Metrics, name, help string, buckets []float64, label string) *family[string, prometheus.Observer] {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: namespace + name, Help: help, Buckets: buckets}, []string{label})
	m.registry.MustRegister(v)
	return newFamily(func(value string) prometheus.Observer { return v.WithLabelValues(value) })
}

func one(m *Metrics, name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: namespace + name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}
