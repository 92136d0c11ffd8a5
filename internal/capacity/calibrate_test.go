package capacity_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"unitask/internal/capacity"
)

// planted are costs that aren't those of the search's begin.
var planted = capacity.Costs{
	NodeOp: 0.06, DatabaseGroup: 0.8, DatabaseCreate: 0.05, DatabaseStep: 0.05, RoundTrip: 0.4, Fsync: 1.2, Wake: 0.7,
	Jitter: 0.5,
}

// TestFitFindsPlantedCosts: points that the model itself made lead back to their costs.
func TestFitFindsPlantedCosts(t *testing.T) {
	if underRace {
		t.Skip("a simulation has one goroutine")
	}
	t.Parallel()
	f := mustFit(t, planted, capacity.Measured{Points: []capacity.Point{
		{Nodes: 1, Lanes: 2, Callers: 1},
		{Nodes: 1, Lanes: 2, Callers: 16},
		{Nodes: 1, Lanes: 2, Callers: 64},
		{Nodes: 3, Lanes: 1, Callers: 60},
	}})
	near(t, "node's operation", f.Costs.NodeOp, planted.NodeOp, 0.1)
	near(t, "database's group", f.Costs.DatabaseGroup, planted.DatabaseGroup, 0.15)
	near(t, "database's operation", f.Costs.DatabaseStep, planted.DatabaseStep, 0.15)
	near(t, "round trip", f.Costs.RoundTrip, planted.RoundTrip, 0.3)
	near(t, "sync", f.Costs.Fsync, planted.Fsync, 0.15)
	near(t, "wake", f.Costs.Wake, planted.Wake, 0.3)
}

// TestFitOfTheWholeService: rows of one node tell what a request costs beside the engine, and predict two nodes.
func TestFitOfTheWholeService(t *testing.T) {
	if underRace {
		t.Skip("a simulation has one goroutine")
	}
	t.Parallel()
	whole := planted
	whole.NodeRequest, whole.NodeGroup = 0.2, 0.5
	m := capacity.Measured{Whole: true, Points: []capacity.Point{
		{Nodes: 1, Lanes: 2, Callers: 1, LoadCPU: 0.1},
		{Nodes: 1, Lanes: 2, Callers: 16, LoadCPU: 0.1},
		{Nodes: 1, Lanes: 2, Callers: 64, LoadCPU: 0.1},
		{Nodes: 2, Lanes: 2, Callers: 64, LoadCPU: 0.1, Check: true},
	}}
	f := mustFit(t, whole, m)
	near(t, "node's request", f.Costs.NodeRequest, whole.NodeRequest, 0.2)
	near(t, "node's group", f.Costs.NodeGroup, whole.NodeGroup, 0.2)

	foretold := m
	foretold.Cores, foretold.DatabaseCores, foretold.OneMachine = 2, 2, true
	foretold.Points = nil
	for _, p := range f.Points {
		if p.Point.Check {
			near(t, "two nodes", p.Model.Throughput, p.Point.Throughput, 0.1)
			p.Point.Throughput = 0
		}
		foretold.Points = append(foretold.Points, p.Point)
	}
	again, err := capacity.Fit(foretold, capacity.Guess())
	if err != nil {
		t.Fatalf("Fit: %v", err)
	}
	last := again.Points[len(again.Points)-1]
	near(t, "two nodes, without their figures", last.Model.Throughput, f.Points[len(f.Points)-1].Model.Throughput, 0.05)
	if last.Error != 0 {
		t.Errorf("a prediction is %v off", last.Error)
	}
}

// mustFit has the model make the points' figures with the costs, and fits to them.
func mustFit(t *testing.T, costs capacity.Costs, m capacity.Measured) capacity.Fitted {
	t.Helper()
	m.Cores, m.DatabaseCores, m.OneMachine = 2, 2, true
	for i := range m.Points {
		p := &m.Points[i]
		r := mustRun(t, capacity.Config{
			Seed: 9, Seconds: 3, WarmUp: 1, Nodes: p.Nodes, Lanes: p.Lanes, Cores: 2, Workers: 1, DatabaseCores: 2,
			OneMachine: true, Costs: costs, Load: capacity.Load{Callers: p.Callers, Accounts: 1, CPU: p.LoadCPU},
			Suppliers: []capacity.Supplier{{Name: "instant"}},
		})
		p.Throughput, p.P50, p.P99, p.Group = r.Throughput, r.Total.P50, r.Total.P99, r.Group
		p.NodeCPU, p.DatabaseCPU, p.LogUse = r.NodeCPU, r.DatabaseCPU, r.Use.Log
	}
	f, err := capacity.Fit(m, capacity.Guess())
	if err != nil {
		t.Fatalf("Fit: %v", err)
	}
	for _, p := range f.Points {
		near(t, "throughput", p.Model.Throughput, p.Point.Throughput, 0.1)
	}
	return f
}

// TestFitOfMeasurements holds the fit to the measurements: those that it was made for, and the one that it wasn't; and
// the default costs to the fit.
func TestFitOfMeasurements(t *testing.T) {
	if underRace {
		t.Skip("a simulation has one goroutine")
	}
	t.Parallel()
	raw, err := os.ReadFile("testdata/measured.json")
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
		most := 0.08
		if p.Point.Check {
			checks++
			most = 0.15
		}
		if math.Abs(p.Error) > most {
			t.Errorf("%d nodes, %d callers: %.0f tasks a second, measured %.0f",
				p.Point.Nodes, p.Point.Callers, p.Model.Throughput, p.Point.Throughput)
		}
	}
	if len(f.Points) != 4 || checks != 1 {
		t.Errorf("%d points, %d of them checks", len(f.Points), checks)
	}
	d := capacity.DefaultCosts()
	for name, pair := range map[string][2]float64{
		"NodeOp": {d.NodeOp, f.Costs.NodeOp}, "DatabaseGroup": {d.DatabaseGroup, f.Costs.DatabaseGroup},
		"DatabaseStep": {d.DatabaseStep, f.Costs.DatabaseStep}, "RoundTrip": {d.RoundTrip, f.Costs.RoundTrip},
		"Fsync": {d.Fsync, f.Costs.Fsync}, "Wake": {d.Wake, f.Costs.Wake},
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

// TestLoadOnTheNodesCores: what callers and suppliers compute there takes from the throughput, and is no node's CPU.
func TestLoadOnTheNodesCores(t *testing.T) {
	c := capacity.Config{
		Seed: 1, Seconds: 2, Nodes: 1, Cores: 2, Lanes: 2, Workers: 1, DatabaseCores: 2, OneMachine: true, Costs: planted,
		Load: capacity.Load{Callers: 64, Accounts: 1}, Suppliers: []capacity.Supplier{{Name: "instant"}},
	}
	alone := mustRun(t, c)
	c.Load.CPU = 1
	beside := mustRun(t, c)
	if most := 2 / c.Load.CPU * 1000; beside.Throughput > most || beside.Throughput > alone.Throughput*0.9 {
		t.Errorf("%.0f tasks a second, %.0f without the load's CPU", beside.Throughput, alone.Throughput)
	}
	if beside.NodeCPU > 2*(planted.NodeRequest+2*planted.NodeOp) {
		t.Errorf("a task takes %.2f ms of a node's CPU", beside.NodeCPU)
	}
}
