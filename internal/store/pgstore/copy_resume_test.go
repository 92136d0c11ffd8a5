package pgstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/pgstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// cutTarget is cut off after some commits, or changes what it is given.
type cutTarget struct {
	store.Target
	commits int // that are made before
	spoil   func(*task.Task)
}

var errCut = errors.New("cut off")

func (c *cutTarget) PutTasks(ctx context.Context, tasks []task.Task) error {
	if c.spoil != nil {
		c.spoil(&tasks[0])
	}
	for i := range tasks { // small commits
		if c.commits--; c.commits < 0 {
			return errCut
		}
		if err := c.Target.PutTasks(ctx, tasks[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

func fillTasks(t *testing.T, from kept, clock *storetest.Clock, n int) []task.Task {
	t.Helper()
	e := mustEngine(t, from)
	fillCallers(t, e, clock.Now())
	var all []task.Task
	for i := range n {
		all = append(all, endedTask(t, e, clock, byte(i)))
	}
	mustDo(t, e.Store.Close())
	return all
}

func mustSource(t *testing.T, at kept) store.Source {
	t.Helper()
	from, err := at.source()
	mustDo(t, err)
	t.Cleanup(func() { mustClose(t, from) })
	return from
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestCopyResumes: a copy that was cut off keeps its target closed, goes on there, and refuses another source.
func TestCopyResumes(t *testing.T) {
	quiet := func(store.Phase, int64) {}
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		all := fillTasks(t, from, clock, 20)
		source := mustSource(t, from)
		for _, commits := range []int{0, 5, 5} {
			into := mustTarget(t, source, to)
			_, err := store.Copy(t.Context(), source, &cutTarget{Target: into, commits: commits}, quiet)
			wantErr(t, "Copy", err, errCut)
			mustClose(t, into)
			if _, err := to.engine(); !isUnfinished(err) {
				t.Fatalf("Open of a half copy: %v", err)
			}
			half, err := to.source()
			mustDo(t, err)
			if _, err = half.Identity(t.Context()); !isUnfinished(err) {
				t.Errorf("a half copy as a source: %v", err)
			}
			if err := looked(t.Context(), half, to); !isUnfinished(err) {
				t.Errorf("a look at a half copy: %v", err)
			}
			mustClose(t, half)
		}
		_, err := to.target(store.CopyOf{From: "elsewhere", Identity: "another"})
		wantErr(t, "a copy of another store", err, store.ErrOccupied)
		into := mustTarget(t, source, to)
		if last, begun, err := into.Last(t.Context()); err != nil || !begun || last != all[9].ID {
			t.Errorf("Last: %s, %t, %v, want %s", last, begun, err, all[9].ID)
		}
		mustClose(t, into)
		mustCopy(t, from, to)
		e := mustEngine(t, to)
		for _, want := range all {
			got, err := e.Store.FindTask(t.Context(), want.Scope, want.IdempotencyHash)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("FindTask: %v (-want +got):\n%s", err, diff)
			}
		}
	})
}

// TestCopyIsFinishedOnce: the same copy once more says that it is finished and what it copied, until a node has worked
// on it; another one is refused.
func TestCopyIsFinishedOnce(t *testing.T) {
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		fillTasks(t, from, clock, 3)
		tally := mustCopy(t, from, to)
		id, err := mustSource(t, from).Identity(t.Context())
		mustDo(t, err)
		_, err = to.target(store.CopyOf{From: "elsewhere", Identity: "another"})
		wantErr(t, "another copy", err, store.ErrOccupied)
		for range 2 {
			_, err = to.target(store.CopyOf{From: "test", Identity: id})
			done, ok := errors.AsType[*store.FinishedError](err)
			if !ok {
				t.Fatalf("the same copy: %v", err)
			}
			if diff := cmp.Diff(tally, done.Tally); diff != "" {
				t.Errorf("its tally (-want +got):\n%s", diff)
			}
		}
		e := mustEngine(t, to)
		mustDo(t, e.Store.Renew(t.Context(), "node", time.Minute))
		mustDo(t, e.Store.Close())
		_, err = to.target(store.CopyOf{From: "test", Identity: id})
		wantErr(t, "the same copy after a node's work", err, store.ErrOccupied)
	})
}

// looked returns the error of a backup of a file, or of a check of a database.
func looked(ctx context.Context, half store.Source, at kept) error {
	if c, ok := at.(keptSchema); ok {
		_, err := pgstore.Check(ctx, pgstore.Config(c))
		return err
	}
	_, _, err := half.(*boltstore.Offline).Image(ctx)
	return err
}

func isUnfinished(err error) bool {
	_, ok := errors.AsType[*store.UnfinishedError](err)
	return ok
}
