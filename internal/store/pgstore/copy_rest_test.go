package pgstore_test

import (
	"errors"
	"testing"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/pgstore"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
)

// TestCopyNeedsRest: a database with a node's session is no source, and neither place with a store is a target.
func TestCopyNeedsRest(t *testing.T) {
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		e := mustEngine(t, to)
		mustDo(t, e.Store.Renew(t.Context(), "node", time.Minute))
		_, err := e.Secrets.Secret(t.Context(), "signing", 32)
		mustDo(t, err)
		if k, ok := to.(keptSchema); ok {
			_, err := k.offline()
			if in, ok := errors.AsType[*store.InUseError](err); !ok || len(in.Nodes) != 1 {
				t.Errorf("a database with a session: %v", err)
			}
		}
		mustDo(t, e.Store.Close())
		_, err = to.target(store.CopyOf{From: "test", Identity: "one"})
		wantErr(t, "a target with a store", err, store.ErrOccupied)
	})
}

// TestCopyNoticesANode: a node that begins its session after the source was opened is noticed, before the copy and in
// its end, though it renews its session once and changes no record.
func TestCopyNoticesANode(t *testing.T) {
	url := mustServer(t)
	for name, late := range map[string]bool{"before the copy": false, "during the copy": true} {
		t.Run(name, func(t *testing.T) {
			clock := storetest.NewClock()
			from, to := newKept(t, url, true, clock.Now), newKept(t, url, false, clock.Now)
			fillTasks(t, from, clock, 3)
			source := mustSource(t, from)
			into := mustTarget(t, source, to)
			begins := func() { mustDo(t, mustEngine(t, from).Store.Renew(t.Context(), "node", time.Minute)) }
			if !late {
				begins()
			}
			_, err := store.Copy(t.Context(), source, into, func(p store.Phase, _ int64) {
				if late && p == store.PhaseFinish {
					begins()
				}
			})
			if in, ok := errors.AsType[*store.InUseError](err); !ok || len(in.Nodes) != 1 || errors.Is(err, store.ErrChanged) != late {
				t.Errorf("Copy: %v", err)
			}
			mustClose(t, into)
			if _, err := to.engine(); !isUnfinished(err) {
				t.Errorf("the copy can be opened: %v", err)
			}
		})
	}
}

// TestCopyBegunAndEmpty: a target that has no records yet becomes that of another source, or of the same one once a node
// has worked on it.
func TestCopyBegunAndEmpty(t *testing.T) {
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		fillTasks(t, from, clock, 3)
		into, err := to.target(store.CopyOf{From: "elsewhere", Identity: "another"})
		mustDo(t, err)
		mustClose(t, into)
		if _, err := to.engine(); !isUnfinished(err) {
			t.Errorf("the target can be opened: %v", err)
		}
		mustCopy(t, from, to)
	})
}

// TestCopyNoticesEnds: a store whose one open task was ended by `store end-unfinished`, which begins no session, is
// another source than before.
func TestCopyNoticesEnds(t *testing.T) {
	clock := storetest.NewClock()
	from := newKept(t, mustServer(t), true, clock.Now)
	_, err := mustEngine(t, from).Store.CreateTask(t.Context(), nextTask(clock, 1))
	mustDo(t, err)
	source := mustSource(t, from)
	before, err := source.Identity(t.Context())
	mustDo(t, err)
	db, err := pgstore.Open(t.Context(), pgstore.Config(from.(keptSchema)))
	mustDo(t, err)
	n, err := db.EndOpen(t.Context(), task.Failure{Code: "UNAVAILABLE", Message: "ended"})
	if mustDo(t, errors.Join(err, db.Close())); n != 1 {
		t.Fatalf("%d tasks were ended", n)
	}
	if after, err := source.Identity(t.Context()); err != nil || after == before {
		t.Errorf("Identity: %s as before, %v", after, err)
	}
}
