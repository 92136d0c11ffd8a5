package tui

import (
	"cmp"
	"slices"

	"unitask/internal/api"
	"unitask/internal/task"
)

// taskCache is the tasks known, by id. Answers that overtake each other don't turn it back.
type taskCache struct {
	all    map[string]api.Task
	labels map[string]string // the requests of the tasks sent from here
	texts  map[string]string // the received text of an open task
}

func newTaskCache() taskCache {
	return taskCache{all: map[string]api.Task{}, labels: map[string]string{}, texts: map[string]string{}}
}

// change is the news of an answer.
type change struct {
	moved bool // the task is new, or in another state
	ended bool // it was known open and is terminal now
}

// put takes a task as an answer showed it.
func (b *taskCache) put(t api.Task) change {
	known, ok := b.all[t.ID]
	if ok && !follows(t, known) {
		return change{}
	}
	t.RequestID = cmp.Or(t.RequestID, known.RequestID) // a list's rows have no text
	b.all[t.ID] = t
	if t.State.Terminal() {
		delete(b.texts, t.ID)
	}
	return change{
		moved: !ok || t.State != known.State,
		ended: ok && !known.State.Terminal() && t.State.Terminal(),
	}
}

// follows reports whether a isn't older than b.
func follows(a, b api.Task) bool {
	if c := a.UpdatedAt.Compare(b.UpdatedAt.Time); c != 0 {
		return c > 0
	}
	order := task.States()
	return slices.Index(order, a.State) >= slices.Index(order, b.State)
}

// open counts the tasks that haven't ended.
func (b *taskCache) open() int {
	n := 0
	for _, t := range b.all {
		if !t.State.Terminal() {
			n++
		}
	}
	return n
}
