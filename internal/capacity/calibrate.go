package capacity

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Measured are figures of real runs on one kind of machine, to which Fit fits the costs of the engine.
type Measured struct {
	Source        string  `json:"source"` // which program, which machine, when
	Cores         int     `json:"cores"`  // of each node
	DatabaseCores int     `json:"database_cores"`
	OneMachine    bool    `json:"one_machine"`
	Whole         bool    `json:"whole"`      // the whole service, of synchronous tasks without streams; otherwise the engine alone
	Accounts      int     `json:"accounts"`   // 0: one
	OpenTasks     int     `json:"open_tasks"` // the limits that creations were held to; 0: none
	Queue         int     `json:"queue"`
	Cap           int     `json:"cap"` // of the supplier
	Points        []Point `json:"points"`
}

// Point is one run with callers that each send the next task once the last one ended, against suppliers that answer at
// once. Figures that are 0 weren't measured. A check isn't fitted to, only compared; without a throughput it is a
// prediction.
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

// Fit searches for the costs of the engine with which the model comes nearest to the points: a node's CPU for an
// operation, the database's for a group and for an operation, a round trip, a sync and a wake; of the whole service
// also a node's CPU for a transaction and for the rest of a request. Points that don't tell two costs apart leave them near those of start.
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
	first := m.logs(start)
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

// config is the run of a point: the engine alone, as it was measured.
func (m Measured) config(p Point, costs Costs) Config {
	if !m.Whole {
		costs.NodeRequest, costs.NodeGroup = 0, 0
	}
	cycle := float64(p.Callers) / cmp.Or(p.Throughput, m.most())
	return Config{
		Seed: 1, Seconds: max(fitTasks*cycle, fitLeast), WarmUp: fitWarmUp * cycle,
		Nodes: p.Nodes, Cores: max(m.Cores, 1), Lanes: p.Lanes, Workers: 1,
		DatabaseCores: m.DatabaseCores, OneMachine: m.OneMachine, Costs: costs,
		Load:   Load{Callers: p.Callers, Accounts: max(m.Accounts, 1), CPU: p.LoadCPU},
		Limits: Limits{OpenTasks: m.OpenTasks, Queue: m.Queue}, Suppliers: []Supplier{{Name: "instant", Cap: m.Cap}},
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
		{p.Throughput, r.Throughput, 4},
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

// logs are the logarithms of the fitted costs, and withLogs the costs with them.
func (m Measured) logs(c Costs) []float64 {
	var x []float64
	op := (c.DatabaseCreate + c.DatabaseStep) / 2
	fitted := []float64{c.NodeOp, c.DatabaseGroup, op, c.RoundTrip, c.Fsync, c.Wake}
	if m.Whole {
		fitted = append(fitted, c.NodeRequest, c.NodeGroup)
	}
	for _, cost := range fitted {
		x = append(x, math.Log(max(cost, 1e-3)))
	}
	return x
}

func withLogs(c Costs, x []float64) Costs {
	c.NodeOp, c.DatabaseGroup, c.DatabaseCreate = math.Exp(x[0]), math.Exp(x[1]), math.Exp(x[2])
	c.RoundTrip, c.Fsync, c.Wake = math.Exp(x[3]), math.Exp(x[4]), math.Exp(x[5])
	c.DatabaseStep = c.DatabaseCreate
	if len(x) > 6 {
		c.NodeRequest, c.NodeGroup = math.Exp(x[6]), math.Exp(x[7])
	}
	return c
}
