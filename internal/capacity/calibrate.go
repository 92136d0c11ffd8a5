package capacity

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Measured are figures of real runs on one kind of machine, to which Fit fits the costs: synchronous tasks without
// streams, far from all limits, at suppliers that answer at once.
type Measured struct {
	Source        string  `json:"source"` // which program, which machine, when
	Cores         int     `json:"cores"`  // of each node
	DatabaseCores int     `json:"database_cores"`
	OneMachine    bool    `json:"one_machine"`
	Points        []Point `json:"points"`
}

// Point is one run with callers that each send the next task to their node once the last one ended. Figures that are 0
// weren't measured. A check isn't fitted to, only compared; without a throughput it is a prediction.
type Point struct {
	Nodes       int     `json:"nodes"`
	Lanes       int     `json:"lanes"`
	Callers     int     `json:"callers"`
	Throughput  float64 `json:"throughput"`             // tasks a second
	P50         float64 `json:"p50,omitempty"`          // ms
	P99         float64 `json:"p99,omitempty"`          // ms
	Group       float64 `json:"group,omitempty"`        // operations in a group
	NodeCPU     float64 `json:"node_cpu,omitempty"`     // ms of a task
	DatabaseCPU float64 `json:"database_cpu,omitempty"` // ms of a task
	LoadCPU     float64 `json:"load_cpu,omitempty"`     // ms of a task that callers and suppliers computed on the nodes' cores
	LogUse      float64 `json:"log_use,omitempty"`      // 0 to 1, of the time in syncs
	Check       bool    `json:"check,omitempty"`
}

// Compared is a point beside the model's.
type Compared struct {
	Point Point   `json:"point"`
	Model Report  `json:"model"`
	Error float64 `json:"error"` // of the throughput: 0.1 means that the model has 10 % more
}

// Fitted is the outcome of Fit.
type Fitted struct {
	Costs  Costs      `json:"costs"`
	Points []Compared `json:"points"`
}

// How long a point is simulated: so many of each caller's tasks, and at least so many seconds.
const (
	fitWarmUp = 6
	fitTasks  = 24
	fitLeast  = 0.5
)

// Fit searches for the costs with which the model comes nearest to the points: a node's CPU for an operation, for a
// transaction and for the rest of a request, the database's for a transaction and for an operation, a round trip, a
// sync and a wake. Points that don't tell two costs apart, as a node's for operations and for the rest of requests,
// leave them near those of start.
func Fit(m Measured, start Costs) (Fitted, error) {
	fits := 0
	for i, p := range m.Points {
		if p.Throughput < 0 || p.Throughput == 0 && !p.Check {
			return Fitted{}, fmt.Errorf("points[%d] has no throughput", i)
		}
		if err := m.config(p, start).Check(); err != nil {
			return Fitted{}, fmt.Errorf("points[%d]: %w", i, err)
		}
		if !p.Check {
			fits++
		}
	}
	if fits == 0 {
		return Fitted{}, errors.New("there is no point to fit to")
	}
	first := logs(start)
	miss := func(x []float64) float64 {
		sum := 0.0
		for i, v := range x {
			sum += prior * (v - first[i]) * (v - first[i])
		}
		for _, p := range m.Points {
			if !p.Check {
				sum += p.miss(m.run(p, withLogs(start, x)))
			}
		}
		return sum
	}
	found := first
	for range fitTurns {
		found = descend(found, miss)
	}
	f := Fitted{Costs: withLogs(start, found)}
	for _, p := range m.Points {
		r := m.run(p, f.Costs)
		c := Compared{Point: p, Model: r}
		if p.Throughput > 0 {
			c.Error = r.Throughput/p.Throughput - 1
		}
		f.Points = append(f.Points, c)
	}
	return f, nil
}

// prior is how much the search prefers costs near those that it began with.
const prior = 0.002

// config is the run of a point.
func (m Measured) config(p Point, costs Costs) Config {
	cycle := float64(p.Callers) / cmp.Or(p.Throughput, m.most())
	return Config{
		Seed: 1, Seconds: max(fitTasks*cycle, fitLeast), WarmUp: fitWarmUp * cycle,
		Nodes: p.Nodes, Cores: max(m.Cores, 1), Lanes: p.Lanes, Workers: 1,
		DatabaseCores: m.DatabaseCores, OneMachine: m.OneMachine, Costs: costs,
		Load: Load{Callers: p.Callers, Accounts: 1, CPU: p.LoadCPU}, Suppliers: []Supplier{{Name: "instant"}},
	}
}

// most is the highest throughput that was measured.
func (m Measured) most() (most float64) {
	for _, p := range m.Points {
		most = max(most, p.Throughput)
	}
	return most
}

func (m Measured) run(p Point, costs Costs) Report {
	r, err := Run(m.config(p, costs))
	if err != nil { // the search went too far
		return Report{}
	}
	return r
}

// miss is how far the model is from the point, as a sum of squared logarithms.
func (p Point) miss(r Report) float64 {
	sum := 0.0
	for _, f := range []struct{ want, got, weight float64 }{
		{p.Throughput, r.Throughput, 16},
		{p.P50, r.Total.P50, 0.5},
		{p.P99, r.Total.P99, 0.1},
		{p.Group, r.Group, 1},
		{p.NodeCPU, r.NodeCPU, 4},
		{p.DatabaseCPU, r.DatabaseCPU, 4},
		{p.LogUse, r.Use.Log, 4},
	} {
		if f.want > 0 {
			far := math.Log(max(f.got, 1e-9) / f.want)
			sum += f.weight * far * far
		}
	}
	return sum
}

// fitted are the costs that Fit searches for. A creation costs the database what a step does.
func (c *Costs) fitted() []*float64 {
	return []*float64{
		&c.NodeOp, &c.NodeGroup, &c.NodeRequest, &c.DatabaseGroup, &c.DatabaseStep, &c.RoundTrip, &c.Fsync, &c.Wake,
	}
}

// logs are the logarithms of the fitted costs, and withLogs the costs with them.
func logs(c Costs) (x []float64) {
	for _, cost := range c.fitted() {
		x = append(x, math.Log(max(*cost, 1e-3)))
	}
	return x
}

func withLogs(c Costs, x []float64) Costs {
	for i, cost := range c.fitted() {
		*cost = math.Exp(x[i])
	}
	c.DatabaseCreate = c.DatabaseStep
	return c
}
