package task_test

import (
	"testing"
	"time"

	"unitask/internal/task"
)

// TestFirstID: it lies between the ids of the millisecond before and those of its own, at the ends of time too.
func TestFirstID(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for range 100 {
		first := task.FirstID(task.PrefixTask, at)
		before, own := task.NewID(task.PrefixTask, at.Add(-time.Millisecond)), task.NewID(task.PrefixTask, at)
		if !task.ValidID(task.PrefixTask, first) || before >= first || own <= first || !task.IDTime(first).Equal(at) {
			t.Fatalf("%s lies between %s and %s: its time is %s", first, before, own, task.IDTime(first))
		}
		if next := task.FirstID(task.PrefixTask, at.Add(time.Nanosecond)); next <= own {
			t.Fatalf("a nanosecond later: %s isn't after %s", next, own)
		}
		at = at.Add(37 * time.Hour)
	}
	for _, far := range []time.Time{time.Unix(-1e12, 0), time.Unix(1<<50, 0)} {
		if first := task.FirstID(task.PrefixTask, far); !task.ValidID(task.PrefixTask, first) {
			t.Errorf("%s of %d", first, far.Unix())
		}
	}
}
