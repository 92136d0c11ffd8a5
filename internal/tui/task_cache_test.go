package tui

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/client"
	"unitask/internal/task"
)

// TestTaskCache: the rows of tasks that come in any order, end and go are those that a whole sort gives.
func TestTaskCache(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b, tab := newTaskCache(), table{listings: map[client.ListOptions]*listing{}}
	listed := tab.listing()
	begin := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	all := map[string]api.Task{}
	for range 3000 {
		id := fmt.Sprintf("task_%03d", random.IntN(200))
		one, old := all[id]
		if !old {
			one = api.Task{ID: id, Capability: "text.chat", CreatedAt: api.Timestamp{Time: begin.Add(time.Duration(random.IntN(50)) * time.Second)}}
		}
		one.State = task.States()[random.IntN(len(task.States()))]
		one.UpdatedAt = api.Timestamp{Time: one.CreatedAt.Add(time.Duration(random.IntN(1000)) * time.Millisecond)}
		if random.IntN(20) == 0 {
			b.forget(id)
			delete(all, id)
			continue
		}
		if b.put(one); !old || follows(one, all[id]) {
			all[id] = one
		}
		listed.ids[id] = true
	}
	want, open := make([]string, 0, len(all)), 0
	for id, one := range all {
		want = append(want, id)
		if !one.State.Terminal() {
			open++
		}
	}
	slices.SortFunc(want, func(x, y string) int {
		return cmp.Or(all[y].CreatedAt.Compare(all[x].CreatedAt.Time), cmp.Compare(y, x))
	})
	got := make([]string, 0, len(want))
	for _, row := range tab.rows(b, begin) {
		got = append(got, row.ID)
	}
	if !slices.Equal(got, want) || b.open() != open || len(want) < 100 {
		t.Errorf("rows %v, want %v; %d open, want %d", got, want, b.open(), open)
	}
}

// TestLabelIsFound: a filter finds a task by the words of its request, also if a list told of it before.
func TestLabelIsFound(t *testing.T) {
	b, tab := newTaskCache(), table{listings: map[client.ListOptions]*listing{}, filter: "fox"}
	b.put(api.Task{ID: "task_1", State: task.Running})
	b.label("task_1", "A red Fox")
	if rows := tab.rows(b, time.Time{}); len(rows) != 1 {
		t.Errorf("%d rows, want the one that was sent from here", len(rows))
	}
}
