package pgstore_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// endedTask makes a task and cancels it.
func endedTask(t *testing.T, e storetest.Engine, clock *storetest.Clock, key byte) task.Task {
	t.Helper()
	n := nextTask(clock, key)
	_, err := e.Store.CreateTask(t.Context(), n)
	mustDo(t, err)
	ended, err := e.Store.RequestCancel(t.Context(), n.Scope, n.ID)
	mustDo(t, err)
	return ended
}

func nextTask(clock *storetest.Clock, key byte) store.NewTask {
	clock.Advance(time.Millisecond)
	return store.NewTask{
		ID: task.NewID(task.PrefixTask, clock.Now()), Scope: task.Scope{Account: "acct_0", Mode: task.Live}, Capability: "text.chat",
		IdempotencyHash: task.Hash{key}, Fingerprint: task.Hash{1}, Input: json.RawMessage(`{"prompt":"hi"}`), Deadline: time.Hour,
	}
}

// TestCopyKeepsAges: a task is removed at its age, not at that of the copy.
func TestCopyKeepsAges(t *testing.T) {
	const day, retention, days = 24 * time.Hour, 10 * 24 * time.Hour, 9
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		e := mustEngine(t, from)
		var all []task.Task
		for i := range days {
			all = append(all, endedTask(t, e, clock, byte(i)))
			clock.Advance(day)
		}
		mustDo(t, e.Store.Close())
		mustCopy(t, from, to)
		copied := mustEngine(t, to)
		for age := range 2 * days {
			for {
				swept, err := copied.Store.Sweep(t.Context(), store.SweepRequest{Retention: retention, Limit: 100})
				mustDo(t, err)
				if swept.Removed == 0 {
					break
				}
			}
			for _, ended := range all {
				_, err := copied.Store.GetTask(t.Context(), ended.Scope, ended.ID)
				since := clock.Now().Sub(ended.UpdatedAt)
				switch {
				case since < retention && err != nil:
					t.Errorf("after %d days: a task of the age %s: %v", age, since, err)
				case since > retention+2*day && !errors.Is(err, store.ErrNotFound): // a part is as wide as an eighth of nine days
					t.Errorf("after %d days: a task of the age %s is still there: %v", age, since, err)
				}
			}
			clock.Advance(day)
		}
	})
}
