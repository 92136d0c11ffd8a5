// Package simulate replays a pattern of requests over routes in virtual time: which route would have had each, at
// what cost and how fast, and which would have been refused.
//
// Every decision is made by package routing itself, by the very table and health that a server uses; limits in flight
// are counted as the store does, and a task without a route waits as the gateway lets it wait. Only the suppliers are
// made up: how long they take is drawn from a seed around an average, and they fail as a what-if says. No request is
// sent. The same input gives the same result.
package simulate

import (
	"container/heap"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// How the gateway waits for a route, and how soon a supplier refuses.
const (
	placeWait     = 2 * time.Second
	placeInterval = 100 * time.Millisecond // four times the gateway's: a simulation spends its time on waiting
	queuePause    = 250 * time.Millisecond
	queueMost     = 5 * time.Second
	refusalTime   = 100 * time.Millisecond
)

// Outage is a time in which a route refuses all work.
type Outage struct{ From, To time.Duration }

// Config is a pattern of requests and the routes to replay it over. Catalog, Routes and Arrivals are required.
type Config struct {
	Catalog  *catalog.Catalog
	Routes   []routing.Route
	Arrivals []Arrival
	Seed     uint64
	Latency  map[string]time.Duration // of a route by its id, on average; by default the usual one of its capability
	Outages  map[string][]Outage      // by the route's id
}

// job is one request on its way.
type job struct {
	Arrival
	base     catalog.Name // of the capability
	sync     bool
	deadline time.Duration
	request  supplier.Request
	tried    []string
}

type event struct {
	at time.Duration
	n  int // among those of one time
	do func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || (a[i].at == a[j].at && a[i].n < a[j].n)
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}

type simulation struct {
	Config
	table  *routing.Table
	health *routing.Health
	rng    *rand.Rand
	now    time.Duration
	agenda agenda
	events int
	flight map[string]int // attempts in flight by the key of their cap
	report *Report
	took   []time.Duration
	routes map[string]*RouteReport
}

// Run replays the pattern to its end.
func Run(c Config) (Report, error) {
	table, err := routing.NewTable(c.Routes, nil)
	if err != nil {
		return Report{}, err
	}
	s := &simulation{
		Config: c, table: table, rng: rand.New(rand.NewPCG(c.Seed, 2)), flight: map[string]int{},
		report: &Report{Refused: map[fault.Code]int{}}, routes: map[string]*RouteReport{},
	}
	start := time.Unix(0, 0)
	s.health = routing.NewHealth(func() time.Time { return start.Add(s.now) })
	for _, a := range c.Arrivals {
		if err := s.expect(a); err != nil {
			return Report{}, err
		}
	}
	for len(s.agenda) > 0 {
		e := heap.Pop(&s.agenda).(event)
		s.now = e.at
		e.do()
	}
	return s.finish(), nil
}

// expect puts an arrival on the agenda.
func (s *simulation) expect(a Arrival) error {
	entry, ok := s.Catalog.Get(a.Capability)
	if !ok {
		return fault.Invalid("capability", "names no capability: "+string(a.Capability))
	}
	var example struct {
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(entry.Example, &example); err != nil {
		return err
	}
	j := &job{Arrival: a, base: entry.Base(), sync: entry.Mode == catalog.Sync, deadline: a.At + entry.Deadline}
	if j.Parameters == nil {
		j.Parameters = json.RawMessage(`{}`)
	}
	j.request = supplier.NewRequest(entry, example.Input, entry.FillDefaults(j.Parameters))
	s.after(a.At-s.now, func() { s.report.Tasks++; s.try(j) })
	return nil
}

func (s *simulation) after(d time.Duration, do func()) {
	s.events++
	heap.Push(&s.agenda, event{s.now + max(d, 0), s.events, do})
}

// everyone is the one account that a pattern's requests count for.
const everyone = "simulated"

// try looks for a route, as a worker does.
func (s *simulation) try(j *job) {
	choices, passed := s.table.Choose(routing.Want{
		Mode: task.Live, Account: everyone, Capability: j.Capability, Request: j.request, Size: j.Estimate, Tried: j.tried,
	}, s.health)
	for _, c := range choices {
		if s.room(c.Route.Caps()) {
			s.note(j, passed)
			s.begin(j, *c.Route, s.health.Keep(choices, c.Route.Supplier, c.Route.Model))
			return
		}
		passed = append(passed, c.Full())
	}
	s.health.Keep(choices, "", "")
	s.wait(j, passed)
}

func (s *simulation) room(caps []task.Cap) bool {
	return !slices.ContainsFunc(caps, func(c task.Cap) bool { return c.Limit > 0 && s.flight[c.Key] >= c.Limit })
}

func (s *simulation) begin(j *job, r routing.Route, g routing.Grant) {
	for _, c := range r.Caps() {
		s.flight[c.Key]++
	}
	own := s.route(j.Capability, r.ID())
	own.Attempts++
	if len(j.tried) > 0 {
		s.report.Failovers++
	}
	end := func() {
		for _, c := range r.Caps() {
			s.flight[c.Key]--
		}
	}
	if s.out(r.ID()) {
		s.after(refusalTime, func() {
			end()
			own.Failed++
			s.health.Failed(r.ID(), everyone)
			s.health.Spent(g, 0)
			j.tried = append(j.tried, r.ID())
			s.try(j)
		})
		return
	}
	if !j.sync {
		s.health.Accepted(r.ID())
	}
	s.after(s.takes(j, r), func() {
		end()
		s.health.Worked(r.ID(), everyone)
		s.health.Spent(g, j.Size.InputTokens+j.Size.OutputTokens)
		cost := r.Price.Cost(j.Size)
		own.Succeeded++
		own.cost = own.cost.Add(cost)
		s.report.Succeeded++
		s.took = append(s.took, s.now-j.At)
	})
}

// wait leaves the task for a moment, or refuses it if waiting is useless.
func (s *simulation) wait(j *job, passed []task.Passed) {
	waits := slices.ContainsFunc(passed, func(p task.Passed) bool {
		return p.Code == fault.CapacityExhausted || p.Reason == routing.Probing
	})
	waited := s.now - j.At
	switch {
	case waits && j.sync && waited < placeWait:
		s.after(placeInterval, func() { s.try(j) })
	case waits && !j.sync && s.now < j.deadline:
		s.after(min(max(waited/16, queuePause), queueMost, j.deadline-s.now), func() { s.try(j) })
	default:
		s.note(j, passed)
		s.report.Refused[codeOf(j, passed)]++
	}
}

// codeOf is the caller's error code.
func codeOf(j *job, passed []task.Passed) fault.Code {
	code := fault.InvalidRequest
	for _, p := range passed {
		if p.Code != "" && p.Code != fault.InvalidRequest && code != fault.ProviderUnavailable {
			code = p.Code
		}
	}
	if len(j.tried) > 0 || len(passed) == 0 {
		code = fault.ProviderUnavailable
	}
	return code
}

// note counts why routes were passed over, once for each decision that led somewhere.
func (s *simulation) note(j *job, passed []task.Passed) {
	for _, p := range passed {
		if p.Reason == "tried" {
			continue
		}
		own := s.route(j.Capability, p.Supplier+"/"+p.Model)
		if own.Passed == nil {
			own.Passed = map[string]int{}
		}
		own.Passed[p.Reason]++
	}
}

func (s *simulation) out(id string) bool {
	return slices.ContainsFunc(s.Outages[id], func(o Outage) bool { return o.From <= s.now && s.now < o.To })
}

// takes draws how long the work takes: from half the average to one and a half times it.
func (s *simulation) takes(j *job, r routing.Route) time.Duration {
	mean, ok := s.Latency[r.ID()]
	if !ok {
		mean = usual(j)
	}
	return time.Duration(float64(mean) * (0.5 + s.rng.Float64()))
}

// usual is the usual latency of hosted models: 50 tokens a second after half a second, some seconds for an image,
// some minutes for a film.
func usual(j *job) time.Duration {
	switch family, _, _ := strings.Cut(string(j.base), "."); family {
	case "image":
		return 8 * time.Second
	case "video":
		return 90 * time.Second
	default:
		return 500*time.Millisecond + time.Duration(min(j.Size.OutputTokens, 1<<20))*20*time.Millisecond
	}
}
