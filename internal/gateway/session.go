package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// beats is how often a session is renewed within its term, so that one beat may be missed. A node without a session,
// and one that couldn't renew it, try again sooner.
const (
	beats     = 3
	retryBeat = time.Second
)

// session is the node's session in the store as last known. Its leases last exactly as long.
type session struct {
	node    string    // its name in leases
	renewed time.Time // just before it was renewed last; zero: it hasn't begun
}

// renewSession begins the node's session, or keeps it for another term.
func (g *Gateway) renewSession(ctx context.Context) error {
	s, term, start := g.session.Load(), g.limits.Load().LeaseTerm, time.Now()
	most := term / beats // the next beat tries again
	if left := g.leaseLeft(s); left > 0 {
		most = min(most, left) // so that a node whose database doesn't answer drops its work in time
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := g.store.Renew(ctx, s.node, term); err != nil {
		return err
	}
	g.session.Store(&session{s.node, start})
	return nil
}

// heartbeat keeps this node's session until its last worker is done.
func (g *Gateway) heartbeat(ctx context.Context) {
	failed := false
	for last := time.Now(); ; {
		s, pause := g.session.Load(), g.limits.Load().LeaseTerm/beats
		if failed || s.renewed.IsZero() {
			pause = min(pause, retryBeat)
		}
		wait := time.Until(last.Add(pause))
		if !s.renewed.IsZero() {
			wait = min(wait, g.leaseLeft(s)) // the work is dropped in time
		}
		if !sleep(ctx, wait) {
			return
		}
		last = time.Now()
		failed = !g.beat(ctx)
	}
}

// beat renews the session, and reports whether it could. A node that can't drops its work before another takes it
// over, and one whose session is over drops it too: it may be somebody else's by now.
func (g *Gateway) beat(ctx context.Context) bool {
	if s := g.session.Load(); !s.renewed.IsZero() && g.leaseLeft(s) <= 0 {
		g.log.Error("the leases couldn't be kept; all work is dropped and taken up again")
		return g.dropAll(ctx)
	}
	err := g.renewSession(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return true
	case errors.Is(err, store.ErrFenced):
		g.log.Error("the leases have run out; all work is dropped and taken up again")
		g.dropAll(ctx)
	default:
		g.log.Error("keeping the leases failed", slog.Any("error", err))
	}
	return false
}

// endTime bounds a stopping node's last word to the store.
const endTime = 2 * time.Second

// endSession gives up what this node still holds, so that others go on with it at once.
func (g *Gateway) endSession(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := g.store.Renew(ctx, g.session.Load().node, 0); err != nil && !errors.Is(err, store.ErrFenced) {
		g.log.Warn("ending the session failed; its work is taken up when it has run out", slog.Any("error", err))
	}
}

// leaseValid reports whether a lease under the given name is sure to last for another sixth of its term. It reads the
// monotonic clock, which a step of the wall clock leaves alone.
func (g *Gateway) leaseValid(node string) bool {
	s := g.session.Load()
	return s.node == node && g.leaseLeft(s) > 0
}

// leaseLeft returns how long the leases of a session are sure to last, but for a sixth of their term.
func (g *Gateway) leaseLeft(s *session) time.Duration {
	term := g.limits.Load().LeaseTerm
	return term - term/6 - time.Since(s.renewed) // a session that hasn't begun was renewed ages ago
}

// leaseDropped reports whether the node has given up the leases under the given name: others take the tasks over.
func (g *Gateway) leaseDropped(node string) bool { return g.session.Load().node != node }

// dropAll ends every worker of a node that can't tell whether its leases still hold. The node takes another name, so
// that it doesn't keep a lease without a worker any more. dropAll reports whether the session under that name has begun.
func (g *Gateway) dropAll(ctx context.Context) bool {
	g.mu.Lock()
	g.session.Store(&session{node: task.NewID("node_", g.now())})
	for _, r := range g.running {
		r.cancelLocked(errDropped)
	}
	g.forgetParkedLocked()
	g.mu.Unlock()
	err := g.renewSession(ctx)
	if err != nil && ctx.Err() == nil {
		g.log.Error("beginning a session failed", slog.Any("error", err))
	}
	return err == nil || ctx.Err() != nil
}
