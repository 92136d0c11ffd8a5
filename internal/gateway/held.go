package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"unitask/internal/task"
)

// keepAfter is for how long the large input of a synchronous task may be in memory alone.
const keepAfter = 2 * time.Second

// heldInput is the large input of a synchronous task on which this node works at once, with room of Gateway.loads. It
// is stored when the work takes longer than keepAfter or may go to another worker; most such work ends sooner, and its
// caller, who has had no answer until then, brings the input once more if the node dies. It is safe for concurrent use.
type heldInput struct {
	g     *Gateway
	t     task.Task // as far as its input concerns
	input json.RawMessage
	ttl   time.Duration
	room  int64 // of Gateway.loads, until a worker has it

	timer   *time.Timer
	storing chan struct{} // its one place is taken while the input is stored

	mu     sync.Mutex
	stored bool
	over   bool // the input is needed no more
	erase  bool // nor a stored one
}

// keepApart stores an order's large input apart from its record, or holds it if its worker begins at once, its caller
// waits for longer than keepAfter and there is room.
func (g *Gateway) keepApart(ctx context.Context, o *order, wait time.Duration) error {
	o.InputRef = task.NewID(task.PrefixInput, g.now())
	h := &heldInput{
		g: g, t: task.Task{ID: o.ID, Scope: o.Scope, InputRef: o.InputRef}, input: o.Input,
		room: loadCopies * int64(len(o.Input)), ttl: o.Deadline + inputMargin, storing: make(chan struct{}, 1),
	}
	o.Input = nil
	if o.First != nil && wait > keepAfter && g.loads.Try(o.Scope.Account, h.room) {
		o.held = h
		return nil
	}
	return h.keep(ctx)
}

// begin starts the time after which the input is stored, and returns the room that its worker has from now on.
func (h *heldInput) begin() (room int64) {
	room, h.room = h.room, 0
	h.timer = time.AfterFunc(keepAfter, func() {
		if h.enter() {
			defer h.g.workers.Done()
			_ = h.keep(context.Background())
		}
	})
	return room
}

// enter has the node's end wait for one worker more; false if the input's own one is done.
func (h *heldInput) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.g.workers.Add(1)
	}
	return !h.over
}

// keep stores the input unless it is stored.
func (h *heldInput) keep(ctx context.Context) error {
	h.storing <- struct{}{}
	defer func() { <-h.storing }()
	if !h.only() {
		return nil
	}
	err := h.g.keepInput(context.WithoutCancel(ctx), h.t, h.input, h.ttl)
	if err != nil {
		h.g.log.Error("a task's input could not be stored", nameOf(&h.t), slog.Any("error", err))
	}
	h.mu.Lock()
	h.stored = err == nil
	late := h.stored && h.erase
	h.mu.Unlock()
	if late {
		h.g.dropInput(ctx, h.t.InputRef)
	}
	return err
}

// only reports whether the input is in memory alone. A nil heldInput isn't.
func (h *heldInput) only() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.stored
}

// end lets go of the input; erase: it is deleted if it was stored, or is just now. It may be called again.
func (h *heldInput) end(ctx context.Context, erase bool) {
	if h.timer != nil {
		h.timer.Stop()
	}
	h.mu.Lock()
	h.over, h.erase = true, h.erase || erase
	stored := h.stored
	h.mu.Unlock()
	if h.room > 0 {
		h.g.loads.Give(h.t.Scope.Account, h.room)
		h.room = 0
	}
	if erase && stored {
		h.g.dropInput(ctx, h.t.InputRef)
	}
}
