package gateway

import (
	"context"
	"time"

	"unitask/internal/fault"
	"unitask/internal/task"
)

// How workers share Limits.WorkMemory, the room for large inputs in memory. Small ones, which stand in the task's
// record and bring no large media, take no room and don't wait.
const (
	loadCopies  = 3  // of an input while it is worked on: the input, the supplier's request, and an intermediate form
	loadParts   = 2  // of the room one account has at most
	loadWaiters = 32 // asynchronous tasks that wait for room, each on a worker's slot
	loadEach    = 4  // of them of one account

	// loadPause is how long a task that found no room is left alone: an eighth of its age within these.
	loadPause     = time.Second
	loadPauseMost = 15 * time.Second
)

// artifactMedia is how many bytes of media apart from its input a task may have: as many as have room in memory.
func (l *Limits) artifactMedia() int64 { return l.WorkMemory / loadCopies }

// MostMedia is how many bytes an artifact may have that an input names.
func (g *Gateway) MostMedia() int64 { return g.limits.Load().artifactMedia() }

// errCrowded is that large inputs have taken all the room.
var errCrowded = fault.New(fault.CapacityExhausted, "the service has no room for so large an input at the moment").
	WithRetryAfter(retryCapacity)

// load takes room for an input of so many bytes, with its media. It waits as long as synchronous work waits for a
// route, and gives errCrowded then; asynchronous work doesn't wait if others do already.
func (w *work) load(ctx context.Context, bytes int64) error {
	account, bytes := w.t.Scope.Account, loadCopies*bytes
	if !w.g.loads.Try(account, bytes) {
		if all, own := w.g.loads.Waiting(account); !w.t.Sync && (all >= loadWaiters || own >= loadEach) {
			return errCrowded
		}
		wait, stop := context.WithTimeout(ctx, w.g.limits.Load().PlaceWait)
		defer stop()
		if w.g.loads.Take(wait, account, bytes) != nil {
			return errCrowded
		}
	}
	w.loaded = bytes
	return nil
}

// unload drops the loaded input and gives its room back, unless it can't be loaded again.
func (w *work) unload() {
	if w.loaded > 0 && !w.held.only() {
		w.request, w.places, w.media = nil, nil, false
		w.giveRoom()
	}
}

// giveRoom gives the room of the loaded input back.
func (w *work) giveRoom() {
	if w.loaded > 0 {
		w.g.loads.Give(w.t.Scope.Account, w.loaded)
		w.loaded = 0
	}
}

// handOver stores a held input for the next worker. Without it, that one lets the task fail, to be sent again.
func (w *work) handOver(ctx context.Context) {
	if w.held != nil {
		_ = w.held.keep(ctx)
	}
}

// setAside is unload for a long pause, before which a held input is stored.
func (w *work) setAside(ctx context.Context) error {
	if w.held != nil {
		if err := w.held.keep(ctx); err != nil {
			return err
		}
	}
	w.unload()
	return nil
}

// eraseInputs deletes what was stored of the task's input, once it has ended. before is the task as it was before its
// end, whose commit erased the input in the record.
func (w *work) eraseInputs(ctx context.Context, before task.Task) {
	ended := w.t.State.Terminal()
	switch {
	case w.held != nil:
		w.held.end(ctx, ended)
		for _, id := range w.fetched {
			if ended {
				w.g.dropInput(ctx, id)
			}
		}
	case ended:
		w.g.eraseInputs(ctx, before)
	}
}

// waitForInput requeues a task whose input found no room or can't be read for the moment, if it can wait. An attempt
// that was started for it alone is taken back; one that may have been sent stays.
func (w *work) waitForInput(ctx context.Context, why *fault.Error) error {
	switch open := w.t.OpenAttempt(); {
	case open != nil && open.N != w.fresh:
		return w.pause(ctx, loadPause)
	case w.t.Sync:
		return w.fail(ctx, w.unsettled(open, why.Code), why)
	}
	age := w.g.now().Sub(w.t.CreatedAt)
	s := w.takeBack()
	s.Release = new(min(max(age/8, loadPause), loadPauseMost, max(time.Until(w.ends), 0)))
	if err := w.advance(ctx, s); err != nil {
		return err
	}
	return errDropped
}
