package losstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"unitask/internal/store"
	"unitask/internal/task"
)

// line is an acknowledged write, with its state: with the state last, a line that was cut off doesn't count.
const line = "%s %d %s\n"

func acknowledge(out io.Writer, id string, revision int64, state task.State) error {
	_, err := fmt.Fprintf(out, line, id, revision, state)
	return err
}

// Record holds the newest acknowledgement of each task. It is used by one goroutine.
type Record struct {
	newest map[string]ack
	noted  int
}

type ack struct {
	revision int64
	state    task.State
}

// Note keeps an acknowledgement, and reports whether the text is a whole one.
func (b *Record) Note(text string) bool {
	var id string
	var a ack
	n, err := fmt.Sscanf(text+"\n", line, &id, &a.revision, &a.state)
	if err != nil || n != 3 || !task.ValidID(task.PrefixTask, id) || !a.state.Valid() {
		return false
	}
	if b.newest == nil {
		b.newest = map[string]ack{}
	}
	b.noted++
	if a.revision > b.newest[id].revision {
		b.newest[id] = a
	}
	return true
}

// Noted returns the number of acknowledgements.
func (b *Record) Noted() int { return b.noted }

// Tasks returns the number of tasks that were acknowledged.
func (b *Record) Tasks() int { return len(b.newest) }

// Check compares the store with the record and returns every broken promise: a task that is lost, older or in
// another state than was acknowledged, under another key, missing in the list, or counted wrongly.
func (b *Record) Check(ctx context.Context, db store.Store) error {
	listed, err := list(ctx, db)
	if err != nil {
		return err
	}
	var broken []error
	for _, id := range slices.Sorted(maps.Keys(b.newest)) {
		if err := b.newest[id].check(ctx, db, id); err != nil {
			broken = append(broken, fmt.Errorf("%s, acknowledged at revision %d as %s: %w",
				id, b.newest[id].revision, b.newest[id].state, err))
		}
		if _, ok := listed[id]; !ok {
			broken = append(broken, fmt.Errorf("%s isn't in the list", id))
		}
	}
	return errors.Join(append(broken, count(ctx, db, listed), deliveries(ctx, db, listed))...)
}

func (a ack) check(ctx context.Context, db store.Store, id string) error {
	t, err := db.GetTask(ctx, scope, id)
	if err != nil {
		return err
	}
	found, err := db.FindTask(ctx, scope, keyOf(id))
	switch {
	case err != nil:
		return fmt.Errorf("under its key: %w", err)
	case t.ID != id || found.ID != id:
		return fmt.Errorf("found as %s, under its key as %s", t.ID, found.ID)
	case t.Revision < a.revision, t.Revision == a.revision && t.State != a.state, a.state.Terminal() && t.State != a.state:
		return fmt.Errorf("found at revision %d as %s", t.Revision, t.State)
	}
	return nil
}

// Revisions returns the newest acknowledged revision of each task, by its id.
func (b *Record) Revisions() map[string]int64 {
	all := make(map[string]int64, len(b.newest))
	for id, a := range b.newest {
		all[id] = a.revision
	}
	return all
}

// ReadTask returns the store's task under the id of a writer's task, and under its idempotency key.
func ReadTask(ctx context.Context, db store.Store, id string) (byID, byKey task.Task, errs [2]error) {
	byID, errs[0] = db.GetTask(ctx, scope, id)
	byKey, errs[1] = db.FindTask(ctx, scope, keyOf(id))
	return byID, byKey, errs
}

// ListAll reads the listing of the writers' tasks to its end.
func ListAll(ctx context.Context, db store.Store) error {
	_, err := list(ctx, db)
	return err
}

// list returns the state of every task, by id.
func list(ctx context.Context, db store.Store) (map[string]task.State, error) {
	states := map[string]task.State{}
	for q := (store.ListQuery{Scope: scope, Limit: store.MaxPage}); ; {
		page, err := db.ListTasks(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tasks {
			states[t.ID] = t.State
		}
		if page.Next == "" {
			return states, nil
		}
		q.Cursor = page.Next
	}
}

// count compares the engine's counts with its lists.
func count(ctx context.Context, db store.Store, listed map[string]task.State) error {
	stats, err := db.Stats(ctx)
	if err != nil {
		return err
	}
	want := map[task.State]int64{}
	for _, state := range listed {
		want[state]++
	}
	var wrong []string
	for _, state := range task.States() {
		if got := stats.ByState[state]; !state.Terminal() && got != want[state] {
			wrong = append(wrong, fmt.Sprintf("%d %s, listed %d", got, state, want[state]))
		}
	}
	if wrong != nil {
		return errors.New("counted " + strings.Join(wrong, "; "))
	}
	return nil
}
