package gateway

import (
	"unitask/internal/routing"
	"unitask/internal/task"
)

// Observer receives the events that an operator counts. It is called after the commit, from many goroutines, and must
// be quick: callers wait for it.
type Observer interface {
	// TaskEnded is a task that became terminal. It must not be changed or kept.
	TaskEnded(t *task.Task)
	// AttemptEnded is an attempt of a task whose outcome was recorded, with the time of that.
	AttemptEnded(t *task.Task, a *task.Attempt)
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
func (g *Gateway) observe(before, after *task.Task) {
	for i := range after.Attempts {
		a := &after.Attempts[i]
		if a.State.Ended() && (i >= len(before.Attempts) || before.Attempts[i].State.Open()) && a.ClosedAt != nil {
			g.observer.AttemptEnded(after, a)
		}
	}
	if after.State.Terminal() && !before.State.Terminal() {
		g.observer.TaskEnded(after)
	}
}

// noopObserver is the observer of a gateway without one.
type noopObserver struct{}

func (noopObserver) TaskEnded(*task.Task)                   {}
func (noopObserver) AttemptEnded(*task.Task, *task.Attempt) {}
