package simulate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// Report is the outcome of the pattern. Amounts are decimal USD, durations seconds.
type Report struct {
	Tasks     int                `json:"tasks"`
	Succeeded int                `json:"succeeded"`
	Refused   map[fault.Code]int `json:"refused"`
	Failovers int                `json:"failovers"` // attempts on another route after a failure
	Cost      string             `json:"cost"`
	Latency   Latency            `json:"latency_seconds"`
	Routes    []RouteReport      `json:"routes"`
}

// Latency is from the arrival to the result, of succeeded requests, in seconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// RouteReport is one route's part.
type RouteReport struct {
	Capability catalog.Name   `json:"capability"`
	Route      string         `json:"route"`
	Attempts   int            `json:"attempts"`
	Succeeded  int            `json:"succeeded"`
	Failed     int            `json:"failed"`
	Cost       string         `json:"cost"`
	Passed     map[string]int `json:"passed_over,omitempty"` // by reason
	cost       task.Money
}

func (s *simulation) route(name catalog.Name, id string) *RouteReport {
	key := string(name) + " " + id
	r := s.routes[key]
	if r == nil {
		r = &RouteReport{Capability: name, Route: id}
		s.routes[key] = r
	}
	return r
}

// finish sums up. Routes without a request are shown too, if their capability was asked for.
func (s *simulation) finish() Report {
	asked := map[catalog.Name]bool{}
	for _, a := range s.Arrivals {
		asked[a.Capability] = true
	}
	for _, r := range s.Routes {
		if r.Approved && r.Mode == task.Live && asked[r.Capability] {
			s.route(r.Capability, r.ID())
		}
	}
	var cost task.Money
	for _, r := range s.routes {
		cost = cost.Add(r.cost)
		r.Cost = r.cost.String()
		s.report.Routes = append(s.report.Routes, *r)
	}
	slices.SortFunc(s.report.Routes, func(a, b RouteReport) int {
		return cmp.Or(cmp.Compare(a.Capability, b.Capability), cmp.Compare(b.Succeeded, a.Succeeded), cmp.Compare(a.Route, b.Route))
	})
	s.report.Cost = cost.String()
	slices.Sort(s.took)
	s.report.Latency = Latency{s.quantile(0.5), s.quantile(0.9), s.quantile(0.99), s.quantile(1)}
	return *s.report
}

// quantile is by the nearest rank, to the millisecond.
func (s *simulation) quantile(q float64) float64 {
	if len(s.took) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(s.took)))) - 1
	return s.took[i].Round(time.Millisecond).Seconds()
}
