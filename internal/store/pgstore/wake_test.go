package pgstore_test

import (
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/task"
)

// TestWakeForPlaces: claims are tried again when a place is free that a task may wait for, not after each task.
func TestWakeForPlaces(t *testing.T) {
	db, _ := mustOpen(t, mustServer(t), nil)
	if err := db.Renew(t.Context(), "node_wake", time.Hour); err != nil {
		t.Fatal(err)
	}
	for limit, want := range []bool{false, true} {
		queue, stop := db.Wake(store.TopicQueue)
		n := newTask("limit " + string(rune('0'+limit)))
		n.First = &store.First{Node: "node_wake", Plans: []task.Plan{
			{Supplier: "s", Model: "m", Caps: []task.Cap{{Key: "supplier:s", Limit: limit}}},
		}}
		created, err := db.CreateTask(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		end := store.Step{Close: &task.Closing{State: task.Rejected}, Moves: []task.Transition{task.Cancel(nil)}}
		if _, err := db.Advance(t.Context(), created.Lease.Ref, end); err != nil {
			t.Fatal(err)
		}
		woken := false
		select {
		case <-queue: // a commit rings before it is answered
			woken = true
		default:
		}
		if woken != want {
			t.Errorf("after an attempt under a limit of %d: woken %v", limit, woken)
		}
		stop()
	}
}
