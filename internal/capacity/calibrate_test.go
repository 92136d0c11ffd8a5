package capacity_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"unitask/internal/capacity"
)

// planted are costs that aren't those of the search's begin.
var planted = capacity.Costs{
	NodeOp: 0.03, NodeGroup: 0.5, NodeRequest: 0.2, DatabaseGroup: 0.8, DatabaseCreate: 0.05, DatabaseStep: 0.05, RoundTrip: 0.2,
	Fsync: 0.5, Wake: 0.7, Jitter: 0.5,
}

// service is a run of a point for so many seconds, all on one machine with two cores.
func service(p capacity.Point, costs capacity.Costs, seconds float64) capacity.Config {
	return capacity.Config{
		Seed: 9, Seconds: seconds, WarmUp: 1, Nodes: p.Nodes, Cores: 2, Lanes: p.Lanes, Workers: 1, DatabaseCores: 2,
		OneMachine: true, Costs: costs, Load: capacity.Load{Callers: p.Callers, Accounts: 1, CPU: p.LoadCPU},
		Suppliers: []capacity.Supplier{{Name: "instant"}},
	}
}

// TestFitFindsPlantedCosts: rows of one node that the model itself made lead back to their costs, and to the rows of two
// nodes, whose figures aren't asked.
func TestFitFindsPlantedCosts(t *testing.T) {
	if underRace {
		t.Skip("a simulation has one goroutine")
	}
	t.Parallel()
	m := capacity.Measured{Cores: 2, DatabaseCores: 2, OneMachine: true, Points: []capacity.Point{
		{Nodes: 1, Callers: 1},
		{Nodes: 1, Callers: 16},
		{Nodes: 1, Callers: 64},
		{Nodes: 2, Callers: 64, Check: true},
	}}
	for i := range m.Points {
		p := &m.Points[i]
		p.Lanes, p.LoadCPU = 2, 0.1
		r := mustRun(t, service(*p, planted, 3))
		p.Throughput, p.P50, p.P99, p.Group = r.Throughput, r.Total.P50, r.Total.P99, r.Group
		p.NodeCPU, p.DatabaseCPU, p.LogUse = r.NodeCPU, r.DatabaseCPU, r.Use.Log
	}
	f, err := capacity.Fit(m, capacity.Guess())
	if err != nil {
		t.Fatalf("Fit: %v", err)
	}
	for _, p := range f.Points {
		near(t, "throughput", p.Model.Throughput, p.Point.Throughput, 0.05)
		near(t, "group", p.Model.Group, p.Point.Group, 0.1)
	}
	perTask := func(c capacity.Costs) float64 { return 2.5*c.NodeOp + c.NodeRequest } // rows don't tell the two apart
	near(t, "node's operations and request", perTask(f.Costs), perTask(planted), 0.1)
	near(t, "node's group", f.Costs.NodeGroup, planted.NodeGroup, 0.1)
	near(t, "database's group", f.Costs.DatabaseGroup, planted.DatabaseGroup, 0.1)
	near(t, "database's operation", f.Costs.DatabaseStep, planted.DatabaseStep, 0.1)
	near(t, "round trip", f.Costs.RoundTrip, planted.RoundTrip, 0.1)
	near(t, "sync", f.Costs.Fsync, planted.Fsync, 0.1)
	near(t, "wake", f.Costs.Wake, planted.Wake, 0.1)

	last := len(m.Points) - 1
	m.Points[last].Throughput = 0
	again, err := capacity.Fit(m, capacity.Guess())
	if err != nil {
		t.Fatalf("Fit: %v", err)
	}
	if again.Costs != f.Costs {
		t.Errorf("without the figures of two nodes the costs are %+v, with them %+v", again.Costs, f.Costs)
	}
	if again.Points[last].Error != 0 {
		t.Errorf("a prediction is %v off", again.Points[last].Error)
	}
}

// TestFitOfMeasurements holds the fit and the default costs to the measured rows of one node that they are made for,
// and to those of two and three nodes that they aren't.
func TestFitOfMeasurements(t *testing.T) {
	if underRace {
		t.Skip("a simulation has one goroutine")
	}
	t.Parallel()
	raw, err := os.ReadFile("testdata/service.json")
	if err != nil {
		t.Fatal(err)
	}
	var m capacity.Measured
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	f, err := capacity.Fit(m, capacity.Guess())
	if err != nil {
		t.Fatalf("Fit: %v", err)
	}
	checks := 0
	for _, p := range f.Points {
		name, most := fmt.Sprintf("%d nodes, %d callers", p.Point.Nodes, p.Point.Callers), 0.1
		if p.Point.Check {
			checks++
			most = 0.15
		}
		near(t, name+", fitted", p.Model.Throughput, p.Point.Throughput, most)
		byDefault := mustRun(t, service(p.Point, capacity.DefaultCosts(), 2))
		near(t, name+", by default", byDefault.Throughput, p.Point.Throughput, most)
	}
	if len(f.Points) != 11 || checks != 6 {
		t.Errorf("%d points, %d of them checks", len(f.Points), checks)
	}
	d := capacity.DefaultCosts()
	for name, pair := range map[string][2]float64{
		"NodeOp": {d.NodeOp, f.Costs.NodeOp}, "NodeGroup": {d.NodeGroup, f.Costs.NodeGroup},
		"NodeRequest": {d.NodeRequest, f.Costs.NodeRequest}, "DatabaseGroup": {d.DatabaseGroup, f.Costs.DatabaseGroup},
		"DatabaseCreate": {d.DatabaseCreate, f.Costs.DatabaseCreate}, "DatabaseStep": {d.DatabaseStep, f.Costs.DatabaseStep},
		"RoundTrip": {d.RoundTrip, f.Costs.RoundTrip}, "Fsync": {d.Fsync, f.Costs.Fsync}, "Wake": {d.Wake, f.Costs.Wake},
	} {
		near(t, name, pair[0], pair[1], 0.05)
	}
}

func TestFitRefuses(t *testing.T) {
	for _, points := range [][]capacity.Point{
		nil,
		{{Nodes: 1, Lanes: 1, Callers: 5}},
		{{Nodes: 1, Lanes: 1, Throughput: 5}},
		{{Nodes: 1, Lanes: 1, Callers: 5, Throughput: 5, Check: true}},
	} {
		if f, err := capacity.Fit(capacity.Measured{DatabaseCores: 1, Points: points}, capacity.Guess()); err == nil {
			t.Errorf("Fit(%+v) = %+v", points, f)
		}
	}
}

// TestLoadOfARate: tasks that come by themselves have their callers' and suppliers' CPU on the nodes' cores too.
func TestLoadOfARate(t *testing.T) {
	c := free()
	c.OneMachine, c.DatabaseCores, c.Load.CPU = true, 4, 2
	r := mustRun(t, c)
	near(t, "use", r.Use.Nodes, r.Throughput*2/1000/4, 0.02)
}

// TestLoadOnTheNodesCores: what callers and suppliers compute there takes from the throughput, and is no node's CPU.
func TestLoadOnTheNodesCores(t *testing.T) {
	c := service(capacity.Point{Nodes: 1, Lanes: 2, Callers: 64}, planted, 2)
	alone := mustRun(t, c)
	c.Load.CPU = 1
	beside := mustRun(t, c)
	if most := 2 / c.Load.CPU * 1000; beside.Throughput > most || beside.Throughput > alone.Throughput*0.9 {
		t.Errorf("%.0f tasks a second, %.0f without the load's CPU", beside.Throughput, alone.Throughput)
	}
	if beside.NodeCPU > alone.NodeCPU+c.Load.CPU/2 {
		t.Errorf("a task takes %.2f ms of a node's CPU, %.2f without the load", beside.NodeCPU, alone.NodeCPU)
	}
}
