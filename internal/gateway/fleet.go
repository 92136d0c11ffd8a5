package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"unitask/internal/inquiry"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
)

// How often a node looks for cancellations that came through others, and exchanges notes with them.
const (
	cancelInterval = 500 * time.Millisecond
	fleetInterval  = time.Second
	// fleetGap is the time between two exchanges if one is due sooner.
	fleetGap = 250 * time.Millisecond
)

// note is what a node says to the others, in JSON.
type note struct {
	Runs    string       `json:"runs"`              // program and settings
	Address string       `json:"address,omitempty"` // where the others reach it; "": they don't
	Routes  routing.Said `json:"routes"`
	Asks    inquiry.Said `json:"asks"`
}

// The parts of a note, in bytes.
const (
	routesRoom = 36 << 10
	asksRoom   = 24 << 10
)

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

// watchFleet exchanges notes with the other nodes, sooner if there is news.
func (g *Gateway) watchFleet(ctx context.Context, s store.Fleet) {
	timer := time.NewTimer(0) // a node that starts is heard soon
	defer timer.Stop()
	for sleep(ctx, fleetGap) {
		select {
		case <-ctx.Done():
			return
		case <-g.health.Changed():
		case <-g.desk.Changed():
		case <-timer.C:
		}
		g.exchange(ctx, s)
		if g.desk.Waiting() {
			timer.Reset(0) // its answers may be there after the gap
		} else {
			timer.Reset(fleetInterval)
		}
	}
}

// exchange says what this node knows, and learns what the others said last.
func (g *Gateway) exchange(ctx context.Context, s store.Fleet) {
	name := g.session.Load().node
	own := note{Runs: *g.runs.Load(), Address: g.address, Routes: g.health.Say(routesRoom), Asks: g.desk.Say(asksRoom)}
	raw, err := json.Marshal(own)
	if err != nil {
		g.log.Error("this node's note has no form", slog.Any("error", err))
		return
	}
	heard, err := s.Exchange(ctx, name, raw)
	if err != nil {
		if len(raw) > store.MaxNote {
			g.log.Error("this node's note is too long", slog.Any("error", err))
		}
		return // the heartbeat reports a store that can't be reached, and begins another session
	}
	nodes, addresses := fleet{name: own.Runs}, map[string]string{}
	routes, asks := make([]routing.Said, 0, len(heard)), map[string]inquiry.Said{}
	for other, raw := range heard {
		var n note
		if json.Unmarshal(raw, &n) != nil {
			n = note{} // of another version: as if it hadn't spoken
		}
		nodes[other] = n.Runs
		if n.Address != "" {
			addresses[other] = n.Address
		}
		routes, asks[other] = append(routes, n.Routes), n.Asks
	}
	g.health.Hear(routes)
	g.desk.Hear(asks)
	g.addresses.Store(&addresses)
	g.seeFleet(nodes)
}

func (g *Gateway) seeFleet(nodes fleet) {
	was := g.fleet.Swap(&nodes)
	g.gate.SetNodes(len(nodes))
	runs, differed := nodes.runs(), was != nil && len(was.runs()) > 1
	switch differ := len(runs) > 1; {
	case differ && !differed:
		g.log.Warn("nodes run different programs or settings", slog.Any("runs", runs))
	case differed && !differ:
		g.log.Info("all nodes run the same program and settings", slog.Any("runs", runs))
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
