package tui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/task"
)

// taskCache is the tasks known. Answers that overtake each other don't turn it back.
type taskCache struct {
	all    map[string]*known // by id
	newest []*known          // the newest first
	going  map[string]*known // those that haven't ended
	labels map[string]string // the requests of the tasks sent from here
	texts  map[string]string // the received text of an open task
}

// known is a task, with what a table of thousands needs of each for every frame.
type known struct {
	api.Task
	text       string // that a filter looks through, in lower case
	amount     float64
	rank       int // of its state
	capability int // columns that this takes
	cost       int // likewise
}

func newTaskCache() taskCache {
	return taskCache{all: map[string]*known{}, going: map[string]*known{}, labels: map[string]string{}, texts: map[string]string{}}
}

// get returns a task by its id.
func (b taskCache) get(id string) (t api.Task, ok bool) {
	k := b.all[id]
	if k == nil {
		return t, false
	}
	return k.Task, true
}

// change is the news of an answer.
type change struct {
	moved bool // the task is new, or in another state
	ended bool // it was known open and is terminal now
}

// put takes a task as an answer showed it.
func (b *taskCache) put(t api.Task) change {
	k := b.all[t.ID]
	if k != nil && !follows(t, k.Task) {
		return change{}
	}
	news := change{moved: true}
	if k == nil {
		k = &known{Task: t}
		b.all[t.ID] = k
		at, _ := slices.BinarySearchFunc(b.newest, k, byAge)
		b.newest = slices.Insert(b.newest, at, k)
	} else {
		t.RequestID = cmp.Or(t.RequestID, k.RequestID) // a list's rows have no text
		news = change{moved: t.State != k.State, ended: !k.State.Terminal() && t.State.Terminal()}
		k.Task = t
	}
	k.measure(b.labels[t.ID])
	b.going[t.ID] = k
	if t.State.Terminal() {
		delete(b.going, t.ID)
		delete(b.texts, t.ID)
	}
	return news
}

// byAge sorts the newest first.
func byAge(x, y *known) int {
	return cmp.Or(y.CreatedAt.Compare(x.CreatedAt.Time), cmp.Compare(y.ID, x.ID))
}

// measure computes what tables need.
func (k *known) measure(label string) {
	k.text = strings.ToLower(strings.Join([]string{
		line(string(k.State)), line(k.Capability), what(k.Task, label), label, line(k.ID), line(string(k.Mode)),
	}, "\n"))
	k.amount, k.rank = amount(k.Task), slices.Index(task.States(), k.State)
	k.capability, k.cost = cells(line(k.Capability)), cells(cost(k.Task))
}

// label notes the request of a task that was sent from here.
func (b *taskCache) label(id, words string) {
	b.labels[id] = words
	if k := b.all[id]; k != nil {
		k.measure(words)
	}
}

// forget removes a task that the service doesn't have any more.
func (b *taskCache) forget(id string) {
	delete(b.all, id)
	delete(b.going, id)
	b.newest = slices.DeleteFunc(b.newest, func(k *known) bool { return k.ID == id })
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
func (b *taskCache) open() int { return len(b.going) }

// capabilities are those of the tasks.
func (b *taskCache) capabilities() []string {
	all := map[string]bool{}
	for _, k := range b.newest {
		all[k.Capability] = true
	}
	return slices.Collect(maps.Keys(all))
}
