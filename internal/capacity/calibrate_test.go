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
	m := capacity.Measured{Cores: 2, DatabaseCores: 2, OneMachine: true}
	for _, p := range []capacity.Point{
		{Nodes: 1, Lanes: 2, Callers: 1},
		{Nodes: 1, Lanes: 2, Callers: 16},
		{Nodes: 1, Lanes: 2, Callers: 64},
		{Nodes: 3, Lanes: 1, Callers: 60},
	} {
		r := mustRun(t, capacity.Config{
			Seed: 9, Seconds: 3, WarmUp: 1, Nodes: p.Nodes, Lanes: p.Lanes, Cores: 2, Workers: 1, DatabaseCores: 2,
			OneMachine: true, Costs: planted, Load: capacity.Load{Callers: p.Callers, Accounts: 1},
			Suppliers: []capacity.Supplier{{Name: "instant"}},
		})
		p.Throughput, p.P50, p.P99, p.Group = r.Throughput, r.Total.P50, r.Total.P99, r.Group
		p.NodeCPU, p.DatabaseCPU, p.LogUse = r.NodeCPU, r.DatabaseCPU, r.Use.Log
		m.Points = append(m.Points, p)
	}
	f, err := capacity.Fit(m, capacity.Guess())
	if err != nil {
		t.Fatalf("Fit: %v", err)
	}
	near(t, "node's operation", f.Costs.NodeOp, planted.NodeOp, 0.1)
	near(t, "database's group", f.Costs.DatabaseGroup, planted.DatabaseGroup, 0.15)
	near(t, "database's operation", f.Costs.DatabaseStep, planted.DatabaseStep, 0.15)
	near(t, "round trip", f.Costs.RoundTrip, planted.RoundTrip, 0.3)
	near(t, "sync", f.Costs.Fsync, planted.Fsync, 0.15)
	near(t, "wake", f.Costs.Wake, planted.Wake, 0.3)
	for _, p := range f.Points {
		near(t, "throughput", p.Model.Throughput, p.Point.Throughput, 0.1)
	}
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
