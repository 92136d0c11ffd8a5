package main

import (
	"context"
	"fmt"
	"strconv"

	"unitask/internal/capacity"
	"unitask/internal/hint"
)

func calibrateRun(ctx context.Context, t *terminal, o *capacityOptions) error {
	var m capacity.Measured
	if err := readModel(ctx, t, o.calibrate, &m); err != nil {
		return err
	}
	fitted, err := capacity.Fit(m, capacity.Guess())
	switch {
	case err != nil:
		return &hint.UsageError{Message: o.calibrate + ": " + err.Error()}
	case o.asJSON:
		return t.json(fitted)
	}
	c := fitted.Costs
	t.note("milliseconds of a node's CPU for an operation %.3f, for a group %.3f, for the rest of a request %.3f,",
		c.NodeOp, c.NodeGroup, c.NodeRequest)
	t.note("  of the database's for an operation %.3f, for a group %.3f;", c.DatabaseStep, c.DatabaseGroup)
	t.note("  a round trip %.3f, a sync of the log %.3f, a wake while all cores compute %.3f",
		c.RoundTrip, c.Fsync, c.Wake)
	return printFitted(t, fitted)
}

func printFitted(t *terminal, fitted capacity.Fitted) error {
	b := table{header: []string{
		"", "NODES", "CALLERS", "TASKS/S", "MODEL", "ERROR", "P50", "MODEL", "P99", "MODEL", "GROUP", "MODEL",
	}}
	for _, one := range fitted.Points {
		p, r, kind := one.Point, one.Model, "fitted"
		if p.Check {
			kind = "check"
		}
		far := cell{human: fmt.Sprintf("%+.1f%%", one.Error*100), plain: fmt.Sprintf("%.3f", one.Error)}
		if p.Throughput == 0 {
			kind, far = "predicted", cell{}
		}
		b.row(same(kind), same(strconv.Itoa(p.Nodes)), same(strconv.Itoa(p.Callers)),
			whole(p.Throughput), whole(r.Throughput),
			far,
			tenths(p.P50), tenths(r.Total.P50), tenths(p.P99), tenths(r.Total.P99), tenths(p.Group), tenths(r.Group))
	}
	return b.write(t)
}

func whole(n float64) cell  { return same(strconv.FormatFloat(n, 'f', 0, 64)) }
func tenths(n float64) cell { return same(strconv.FormatFloat(n, 'f', 1, 64)) }

func share(part float64) cell {
	return cell{human: strconv.FormatFloat(part*100, 'f', 0, 64) + "%", plain: strconv.FormatFloat(part, 'f', 3, 64)}
}

// printSweep prints a row for each run, and says where latency breaks.
func printSweep(t *terminal, swept capacity.Swept) error {
	b := table{header: []string{
		"NODES", "LOAD", "TASKS/S", "ADDED P50", "P99", "QUEUE P99", "COMMITS/S", "GROUP",
		"NODE", "DATABASE", "LOG", "COUNTER", "CLAIMS", "BUSIEST", "",
	}, spare: []string{"QUEUE P99", "CLAIMS", "GROUP", "COMMITS/S"}}
	for _, r := range swept.Reports {
		load, state := r.Offered, ""
		if r.Callers > 0 {
			load = float64(r.Callers)
		}
		if r.Overloaded {
			state = "overloaded"
		}
		b.row(same(strconv.Itoa(r.Nodes)), whole(load), whole(r.Throughput),
			tenths(r.Added.P50), tenths(r.Added.P99), tenths(r.Queue.P99), whole(r.Commits), tenths(r.Group),
			share(r.Use.Nodes), share(r.Use.Database), share(r.Use.Log), share(r.Use.Counter), share(r.Use.Claims),
			same(r.Busiest), same(state))
	}
	if err := b.write(t); err != nil {
		return err
	}
	for _, k := range swept.Knees {
		switch {
		case k.Broke == 0:
			t.note("a fleet of %d keeps up with all of these loads", k.Nodes)
		case k.Good == 0:
			t.note("a fleet of %d: even at %.0f, %s; the busiest part is %s", k.Nodes, k.Broke, k.Why, k.Part)
		default:
			t.note("a fleet of %d keeps up at %.0f; at %.0f, %s; the busiest part is %s", k.Nodes, k.Good, k.Broke, k.Why, k.Part)
		}
	}
	return nil
}
