package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"unitask/internal/capacity"
)

// lanes is how many a node has for creations and for steps each.
const lanes = 2

// measured returns what was measured of nodes on PostgreSQL as unitask simulate capacity --calibrate reads it: it fits
// to one node, and is compared with the others.
func (s samples) measured(p plan) capacity.Measured {
	m := capacity.Measured{
		Source: fmt.Sprintf("The whole service, with the database, the driver and the upstream on one machine: "+
			"go run ./test/bench -only '%s' -rounds %d -d %s, the median of the rounds.", p.only, p.rounds, p.duration),
		Cores: runtime.NumCPU(), DatabaseCores: runtime.NumCPU(), OneMachine: true,
	}
	for _, f := range fleets {
		point := capacity.Point{Nodes: f.nodes, Lanes: lanes, Callers: f.callers, Check: f.nodes > 1}
		for _, one := range []struct {
			figure string
			into   *float64
			factor float64
		}{
			{rate, &point.Throughput, 1},
			{p50, &point.P50, 1e3},
			{p99, &point.P99, 1e3},
			{group, &point.Group, 1},
			{cpu, &point.NodeCPU, 1e3},
			{databaseCPU, &point.DatabaseCPU, 1e3},
			{loadCPU, &point.LoadCPU, 1e3},
			{logUse, &point.LogUse, 1},
		} {
			if v, ok := s.median(f.name() + " " + one.figure); ok {
				*one.into = v * one.factor
			}
		}
		if point.Throughput > 0 {
			m.Points = append(m.Points, point)
		}
	}
	return m
}

// writeMeasured writes what was measured of nodes on PostgreSQL into a file, if one is named.
func (s samples) writeMeasured(p plan) error {
	if p.measured == "" {
		return nil
	}
	raw, err := json.MarshalIndent(s.measured(p), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(p.measured, append(raw, '\n'), 0o644)
}
