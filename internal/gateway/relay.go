package gateway

import (
	"context"
	"log/slog"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/store"
)

// Relay reads a task's text at the node of an address as it comes, and passes on each piece, until the text or ctx
// ends. The pieces are best effort: an error is only logged.
type Relay func(ctx context.Context, address string, said func(piece api.Delta)) error

// relayText has the text relayed from the other node that works on its task, once for all who follow it here. It looks
// for that node once at each revision, and only if a text may come from there.
func (s *Stream) relayText(ctx context.Context) {
	g, v := s.g, s.text
	if s.relay == nil || s.t.State.Terminal() || s.t.Revision == s.relayed || !g.tellsText(s.t.Capability) || !g.texts.lacks(v) {
		return
	}
	s.relayed = s.t.Revision
	if g.worksOn(v.id) {
		return
	}
	address := g.workplace(ctx, v.id)
	if address == "" || !g.enter() {
		return
	}
	defer g.workers.Done() // services may begin as long as one is held
	relay := s.relay
	g.texts.relay(g.quietCtx, v, func(ctx context.Context) {
		g.services.Go(func() {
			defer g.texts.unrelayed(v)
			if err := relay(ctx, address, v.relayed); err != nil && ctx.Err() == nil {
				g.log.Info("a text can't be relayed from another node", slog.String("task_id", v.id), slog.Any("error", err))
			}
		})
	})
}

// tellsText reports whether the results of a capability have a text. One that this node doesn't know may have.
func (g *Gateway) tellsText(capability string) bool {
	entry, known := g.catalog.Load().Get(catalog.Name(capability))
	return entry.OutputText || !known
}

// worksOn reports whether a worker of this node has the task.
func (g *Gateway) worksOn(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running[id] != nil
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
