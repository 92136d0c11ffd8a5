package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// The rhythms of the background services.
const (
	claimInterval  = time.Second // how often the queue is looked at without a wake
	claimBatch     = 64          // tasks claimed at once
	upkeepInterval = time.Minute
	upkeepDelay    = 15 * time.Minute // after a start: a clock that is wrong at boot is set right by then
	flushInterval  = 5 * time.Second
	sweepBatch     = 1000
	urgentSlots    = 16 // workers beyond the limit for tasks that can't wait
)

// dispatch claims waiting tasks while there are free workers.
func (g *Gateway) dispatch(ctx context.Context) {
	wake, stop := g.store.Wake(store.TopicQueue)
	defer stop()
	timer := time.NewTicker(claimInterval)
	defer timer.Stop()
	var number claimNumber
	for ctx.Err() == nil {
		if g.claim(ctx, &number) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-g.free:
		case <-timer.C:
		}
	}
}

// claimNumber is the number of the next claim under a node's name. It stays after an error: the same claim is made
// again then, and its leases are found if the answer was lost.
type claimNumber struct {
	node string
	n    int64
}

// under returns the number for the name.
func (c *claimNumber) under(node string) int64 {
	if c.node != node {
		*c = claimNumber{node, 1}
	}
	return c.n
}

// claim takes as many tasks as there are free workers and returns their number. With every worker busy it still takes
// tasks that can't wait: tasks past their deadline, canceled, or with an open attempt.
func (g *Gateway) claim(ctx context.Context, number *claimNumber) int {
	if !g.enter() { // counted in, so that Shutdown waits for those who begin here
		return 0
	}
	defer g.workers.Done()
	limit, lines := g.freeSlots(), []store.Line(nil)
	if limit > 0 {
		lines = g.lines()
	} else if limit > -urgentSlots {
		limit += urgentSlots
	} else {
		return 0
	}
	s := g.session.Load()
	if !g.leaseValid(s.node) {
		return 0 // its worker would give it back at once
	}
	leases, err := g.store.Claim(ctx, store.ClaimRequest{
		Node: s.node, Lines: lines, Limit: min(limit, claimBatch), Number: number.under(s.node),
	})
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, store.ErrFenced) { // the heartbeat sees to that
			g.log.Error("claiming work failed", slog.Any("error", err))
		}
		return 0
	}
	number.n++
	g.takeSlots(len(leases))
	for _, l := range leases {
		g.workers.Go(func() {
			defer g.releaseSlot()
			g.run(&l, s.node, handoff{})
		})
	}
	return len(leases)
}

// lines returns the queues whose routes have room: one for each capability and mode, so that one whose routes are
// full doesn't delay the others.
func (g *Gateway) lines() []store.Line {
	routes := g.routes.Load()
	var lines []store.Line
	for name := range g.catalog.Load().Names() {
		for _, mode := range []task.Mode{task.Live, task.Test} {
			if places, open := routes.Places(mode, name, g.health); open {
				lines = append(lines, store.Line{Mode: mode, Capability: string(name), Places: places})
			}
		}
	}
	return lines
}

func (g *Gateway) freeSlots() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.slots
}

func (g *Gateway) takeSlots(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slots -= n
}

func (g *Gateway) releaseSlot() {
	g.mu.Lock()
	g.slots++
	g.mu.Unlock()
	select {
	case g.free <- struct{}{}:
	default:
	}
}

// noteUse writes the keys' times of last use.
func (g *Gateway) noteUse(ctx context.Context) {
	every(ctx, flushInterval, func() {
		if err := g.gate.FlushLastUsed(ctx); err != nil && ctx.Err() == nil {
			g.log.Error("writing the keys' last use failed", slog.Any("error", err))
		}
	})
}

// upkeep calls sweep again and again. A sweep of many tasks takes long.
func (g *Gateway) upkeep(ctx context.Context, sweep func(context.Context)) {
	select {
	case <-ctx.Done():
	case <-time.After(upkeepDelay - upkeepInterval):
		every(ctx, upkeepInterval, func() { sweep(ctx) })
	}
}

func (g *Gateway) sweepTasks(ctx context.Context) {
	for waiting := store.MaxWaiting; ctx.Err() == nil; waiting = 0 {
		l := g.limits.Load()
		s, err := g.store.Sweep(ctx, store.SweepRequest{Retention: l.Retention, Usage: l.Usage, Limit: sweepBatch, Waiting: waiting})
		if err != nil {
			g.log.Error("removing old tasks failed", slog.Any("error", err))
		}
		for _, id := range s.Disabled {
			g.log.Warn("too many deliveries wait for a webhook, which is disabled", slog.String("endpoint_id", id))
		}
		if err != nil || s.Removed == 0 {
			return
		}
	}
}

func (g *Gateway) sweepArtifacts(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := g.artifacts.Sweep(ctx, g.clock.Past(), sweepBatch)
		if err != nil {
			g.log.Error("removing old artifacts failed", slog.Any("error", err))
		}
		if err != nil || n < sweepBatch {
			return
		}
	}
}

func every(ctx context.Context, d time.Duration, f func()) {
	ticker := time.NewTicker(d)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f()
		}
	}
}
