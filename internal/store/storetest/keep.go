package storetest

import (
	"encoding/json"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// testKeepInput: until when a request is kept is said by its own creation or reopening, and stays with the task after
// its end, when its input is gone.
func testKeepInput(e *env) {
	n := e.request("key")
	n.KeepInput = 48 * time.Hour
	until := e.clock.Now().Add(n.KeepInput)
	made := e.create(n).Task
	e.wantSame("until", made.InputUntil, &until)
	e.wantSame("read again", e.get(n.ID), made)

	e.clock.Advance(time.Second)
	other := e.request("key")
	e.wantSame("a replay that isn't kept", e.create(other).Task, made)
	e.begin(e.claimOne(chat), plan("s", 0))
	e.show(e.advance(e.expire(), failed(task.Rejected)))
	failed := e.get(n.ID)
	e.wantSame("until, of a failed task", failed.InputUntil, &until)
	e.wantSame("input of a failed task", failed.Input, json.RawMessage(nil))

	reopened := e.create(other)
	e.wantSame("a reopening that isn't kept", reopened.Admit, store.AdmitReopened)
	e.wantSame("until, of a reopened task", reopened.Task.InputUntil, (*time.Time)(nil))

	later := e.request("later")
	later.KeepInput = 24 * time.Hour
	until = e.clock.Now().Add(later.KeepInput)
	e.create(later)
	if e.Crash != nil {
		e.crash()
		e.session()
		e.wantSame("until, after a crash", e.get(later.ID).InputUntil, &until)
	}
	canceled, err := e.Store.RequestCancel(e.Context(), acme, later.ID)
	e.wantErr("RequestCancel", err, nil)
	e.wantSame("until, of a canceled task", canceled.InputUntil, &until)
	e.wantSame("input of a canceled task", canceled.Input, json.RawMessage(nil))
	listed := e.list(store.ListQuery{Scope: acme, State: task.Canceled})
	e.wantSame("until, in a list", listed.Tasks[0].InputUntil, &until)
}
