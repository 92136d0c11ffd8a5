package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
)

// After this many takeovers in a row a task is suspected to end whoever works on it: suspects go on one
// at a time, so that the others can show that it isn't them.
const suspectAfter = 2

// suspectPause is how long a suspect is left alone while another has its turn.
const suspectPause = time.Second

// inherit counts that this worker takes over work that another left open, on disk and before anything
// is done with it. A task that was taken over too often in a row, without ever coming to rest, is given
// up: its caller may ask for it again, and a known job is polled on then.
func (w *work) inherit(ctx context.Context) error {
	n := w.t.Takeovers
	if n >= w.g.limits.Load().Takeovers {
		w.g.log.Error("a task is given up: every worker that took it over ended in the middle of it",
			nameOf(&w.t), slog.Int("takeovers", n))
		closing := w.unsettled(w.t.OpenAttempt(), fault.Internal)
		closing.Note = fmt.Sprintf("given up after %d takeovers in a row", n)
		return w.fail(ctx, closing, fault.New(fault.Internal, "the work met a fault of the service"))
	}
	if n >= suspectAfter && !w.g.suspect() {
		if err := w.advance(ctx, store.Step{Release: new(suspectPause)}); err != nil {
			return err
		}
		return errDropped
	}
	w.suspect = n >= suspectAfter
	if err := w.advance(ctx, store.Step{Takeovers: new(n + 1)}); err != nil {
		return err
	}
	w.inherited = false
	return nil
}

// settled notes that a task which was taken over more than once has come to rest, if it has.
func (w *work) settled(ctx context.Context) error {
	if w.inherited || w.t.Takeovers < suspectAfter {
		return nil
	}
	return w.advance(ctx, store.Step{Takeovers: new(int)})
}

// suspect gives the one turn that suspects have; false if another has it.
func (g *Gateway) suspect() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	free := !g.suspecting
	g.suspecting = true
	return free
}

// clear gives the suspects' turn back.
func (w *work) clear() {
	if w.suspect {
		w.g.mu.Lock()
		defer w.g.mu.Unlock()
		w.suspect, w.g.suspecting = false, false
	}
}
