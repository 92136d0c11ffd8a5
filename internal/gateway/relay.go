package gateway

import (
	"context"
	"log/slog"

	"unitask/internal/store"
)

// Relay reads a task's text at the node of an address as it comes, and passes on each piece, until the text or ctx
// ends. The pieces are best effort: an error is only logged.
type Relay func(ctx context.Context, address string, said func(piece string)) error

// relayText has the text relayed from the other node that works on its task, once for all who follow it here.
func (g *Gateway) relayText(ctx context.Context, v *textStream, relay Relay) {
	address := g.workplace(ctx, v.id)
	if address == "" || !g.enter() {
		return
	}
	defer g.workers.Done() // services may begin as long as one is held
	g.texts.relay(g.quietCtx, v, func(ctx context.Context) {
		g.services.Go(func() {
			defer g.texts.unrelayed(v)
			if err := relay(ctx, address, v.relayed); err != nil && ctx.Err() == nil {
				g.log.Info("a text can't be relayed from another node", slog.String("task_id", v.id), slog.Any("error", err))
			}
		})
	})
}

// workplace returns the address of the other node that works on a task; "" if none does that has one.
func (g *Gateway) workplace(ctx context.Context, id string) string {
	s, shared := g.store.(store.Fleet)
	addresses := g.addresses.Load()
	if !shared || addresses == nil || len(*addresses) == 0 {
		return ""
	}
	node, err := s.Worker(ctx, id)
	if err != nil {
		return "" // the read before this one reports a store that can't be reached
	}
	return (*addresses)[node]
}
