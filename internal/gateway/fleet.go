package gateway

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// How often a node looks for cancellations that came through others, and at which others there are.
const (
	cancelInterval = 500 * time.Millisecond
	fleetInterval  = time.Second
)

// announcement is what a node says of itself to the others: what it runs, and where they reach it, "" if they can't.
type announcement struct{ runs, address string }

// String returns the announcement as the store keeps it.
func (a announcement) String() string { return strings.TrimSuffix(a.runs+"\n"+a.address, "\n") }

// parseAnnouncement reads what the store kept.
func parseAnnouncement(text string) (a announcement) {
	a.runs, a.address, _ = strings.Cut(text, "\n")
	return a
}

// fleet is what the nodes run that have a session, by name; "" of one that hasn't said it yet.
type fleet map[string]string

// runs returns what the nodes run, each once, sorted.
func (f fleet) runs() []string {
	all := slices.Sorted(maps.Values(f))
	return slices.Compact(slices.DeleteFunc(all, func(s string) bool { return s == "" }))
}

// Fleet returns how many nodes with a session run each version of program and settings; nil for a store of one node.
func (g *Gateway) Fleet() map[string]int {
	f := g.fleet.Load()
	if f == nil {
		return nil
	}
	counts := map[string]int{}
	for _, runs := range *f {
		counts[runs]++
	}
	return counts
}

// mixed reports whether other nodes run something else, or haven't said what: they may have a route that this one lacks.
func (g *Gateway) mixed() bool {
	f := g.fleet.Load()
	if f == nil {
		return false
	}
	own, mine := g.session.Load().node, *g.runs.Load()
	for name, runs := range *f {
		if name != own && runs != mine {
			return true
		}
	}
	return false
}

// heedCancels tells the workers of this node about cancellations that came through others.
func (g *Gateway) heedCancels(ctx context.Context, s store.Fleet) {
	every(ctx, cancelInterval, func() {
		ids, err := s.ListCanceled(ctx, g.session.Load().node)
		if err != nil && ctx.Err() == nil {
			g.log.Warn("looking for cancellations failed", slog.Any("error", err))
		}
		for _, id := range ids {
			g.interrupt(id)
		}
	})
}

// watchFleet announces this node to the others and sees which they are.
func (g *Gateway) watchFleet(ctx context.Context, s store.Fleet) {
	every(ctx, fleetInterval, func() { g.lookAtFleet(ctx, s) })
}

func (g *Gateway) lookAtFleet(ctx context.Context, s store.Fleet) {
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return // the heartbeat reports a store that can't be reached
	}
	name, own := g.session.Load().node, announcement{*g.runs.Load(), g.address}.String()
	runs, addresses := fleet{}, map[string]string{}
	for node, text := range nodes {
		said := parseAnnouncement(text)
		runs[node] = said.runs
		if said.address != "" && node != name {
			addresses[node] = said.address
		}
	}
	g.seeFleet(runs)
	g.addresses.Store(&addresses)
	if announced, alive := nodes[name]; alive && announced != own {
		if err := s.Announce(ctx, name, own); err != nil && ctx.Err() == nil {
			g.log.Warn("telling the other nodes what this one runs failed", slog.Any("error", err))
		}
	}
}

func (g *Gateway) seeFleet(nodes fleet) {
	was := g.mixed()
	g.fleet.Store(&nodes)
	g.gate.SetNodes(len(nodes))
	switch mixed := g.mixed(); {
	case mixed && !was:
		g.log.Warn("nodes run different programs or settings", slog.Any("runs", nodes.runs()))
	case was && !mixed:
		g.log.Info("all nodes run the same program and settings", slog.Any("runs", nodes.runs()))
	}
}

// handOn leaves an attempt whose route this node lacks to another node that may have it. If all nodes run the same, the
// route is gone for good.
func (w *work) handOn(ctx context.Context, a task.Attempt) error {
	if !w.g.mixed() {
		return w.orphan(ctx, a)
	}
	if err := w.advance(ctx, store.Step{Release: new(handOnPause)}); err != nil {
		return err
	}
	return errDropped
}

// handOnPause is how long a task is left alone that a node handed on: others look for work as often.
const handOnPause = claimInterval
