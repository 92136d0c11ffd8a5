package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"unitask/internal/task"
)

// Showing is an answer under way that carries failures which have to be shown before a POST reopens their
// tasks, see task.Task.Unshown. A nil Showing carries no such failure.
type Showing struct {
	g     *Gateway
	tasks []task.Task
	ended chan struct{}
}

// showings are the answers under way, by the ids of their tasks.
type showings struct {
	mu sync.Mutex
	of map[string][]*Showing
}

// Show is called before an answer or a stream's event is written that carries the tasks, and End after it. It returns
// nil if there is no failure to record.
func (g *Gateway) Show(tasks ...task.Task) *Showing {
	var unshown []task.Task
	for i := range tasks {
		if tasks[i].Unshown() {
			unshown = append(unshown, tasks[i])
		}
	}
	if unshown == nil {
		return nil
	}
	s := &Showing{g: g, tasks: unshown, ended: make(chan struct{})}
	g.showings.mu.Lock()
	defer g.showings.mu.Unlock()
	if g.showings.of == nil {
		g.showings.of = map[string][]*Showing{}
	}
	for _, t := range unshown {
		g.showings.of[t.ID] = append(g.showings.of[t.ID], s)
	}
	return s
}

// End records the failures as shown if the answer was written completely. A crash before the record costs the caller
// one replay more; a record before the answer would let a retry by a caller who got no answer pay twice. It may be
// called on nil.
func (s *Showing) End(written bool) {
	if s == nil {
		return
	}
	if written {
		if err := s.g.store.MarkShown(context.Background(), s.tasks); err != nil {
			s.g.log.Warn("a failure that was shown isn't recorded so; the next request is answered with it again",
				slog.String("task_id", s.tasks[0].ID), slog.Any("error", err))
		}
	}
	s.g.showings.end(s)
	close(s.ended)
}

func (all *showings) end(s *Showing) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, t := range s.tasks {
		var left []*Showing
		for _, other := range all.of[t.ID] {
			if other != s {
				left = append(left, other)
			}
		}
		if all.of[t.ID] = left; left == nil {
			delete(all.of, t.ID)
		}
	}
}

// showTime bounds how long a POST waits for answers under way: their readers may be gone.
const showTime = 5 * time.Second

// wait returns once the answers under way about a task have ended: the client that sends a POST now may
// have read one of them before it was recorded.
func (all *showings) wait(ctx context.Context, id string) {
	all.mu.Lock()
	under := all.of[id]
	all.mu.Unlock()
	patience := time.NewTimer(showTime)
	defer patience.Stop()
	for _, s := range under {
		select {
		case <-s.ended:
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
