package gateway

import (
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// Observer receives the events that an operator counts. It is called after the commit, from many goroutines, and must
// be quick: callers wait for it.
type Observer interface {
	// TaskEnded is a task that became terminal; code is "" unless it failed.
	TaskEnded(capability string, mode task.Mode, state task.State, code fault.Code)
	// AttemptEnded is an attempt whose outcome was recorded, and how long after its intent.
	AttemptEnded(supplier string, outcome task.AttemptState, took time.Duration)
}

// Working returns how many tasks have a worker on this node.
func (g *Gateway) Working() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.running)
}

// Routes returns how the routes stand on this node.
func (g *Gateway) Routes() []routing.State { return g.routes.Load().States(g.health) }

// observe reports the tasks and attempts that one commit ended.
func (g *Gateway) observe(before, after task.Task) {
	for i, a := range after.Attempts {
		if a.State.Ended() && (i >= len(before.Attempts) || before.Attempts[i].State.Open()) && a.ClosedAt != nil {
			g.observer.AttemptEnded(a.Supplier, a.State, a.ClosedAt.Sub(a.StartedAt))
		}
	}
	if !after.State.Terminal() || before.State.Terminal() {
		return
	}
	var code fault.Code
	if after.Failure != nil {
		code = after.Failure.Code
	}
	g.observer.TaskEnded(after.Capability, after.Scope.Mode, after.State, code)
}

// noopObserver is the observer of a gateway without one.
type noopObserver struct{}

func (noopObserver) TaskEnded(string, task.Mode, task.State, fault.Code)   {}
func (noopObserver) AttemptEnded(string, task.AttemptState, time.Duration) {}
