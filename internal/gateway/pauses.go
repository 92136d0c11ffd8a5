package gateway

import (
	"context"
	"log/slog"
	"time"

	"unitask/internal/store"
	"unitask/internal/supplier"
)

// pausesInterval is how often a node looks for the pauses of suppliers that came through others.
const pausesInterval = time.Second

// ReadPauses takes the pauses of suppliers from the store: from now on this node sends no work to those that are paused.
func (g *Gateway) ReadPauses(ctx context.Context) error {
	s, ok := g.store.(store.Pauses)
	if !ok {
		return nil
	}
	g.pausing.Lock()
	defer g.pausing.Unlock()
	all, err := s.ListPauses(ctx)
	if err != nil {
		return err
	}
	paused := make(map[string]bool, len(all))
	for _, p := range all {
		paused[p.Supplier] = true
	}
	g.health.SetPaused(paused)
	return nil
}

// heedPauses reads the pauses again and again. Those of a store that can't be reached stay as they were.
func (g *Gateway) heedPauses(ctx context.Context) {
	failed := false
	every(ctx, pausesInterval, func() {
		err := g.ReadPauses(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			g.log.Warn("reading the pauses of suppliers failed", slog.Any("error", err))
		}
		failed = err != nil
	})
}

// Reach asks a supplier from here, without cost, whether it answers, and how long that took. It isn't an attempt: the
// routes stand as before. keyed and err are those of supplier.Reach; a supplier without routes has no way to ask.
func (g *Gateway) Reach(ctx context.Context, name string) (keyed bool, took time.Duration, err error) {
	a := g.routes.Load().Adapter(name)
	started := time.Now()
	keyed, err = supplier.Reach(ctx, a)
	return keyed, time.Since(started), err
}

// Reset forgets the failures and pauses of a supplier's routes, at all nodes: the next requests are sent there.
func (g *Gateway) Reset(name string) {
	for _, r := range g.Routes() {
		if r.Supplier == name {
			g.health.Reset(r.Supplier + "/" + r.Model)
		}
	}
}
