package pgstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/store/pgstore"
	"unitask/internal/store/storetest"
)

// TestCopyWaitsForAnAttachment: the last step of a copy finds a part that the server of a killed process is about to
// attach.
func TestCopyWaitsForAnAttachment(t *testing.T) {
	url := mustServer(t)
	clock := storetest.NewClock()
	from, to := newKept(t, url, false, clock.Now), newKept(t, url, true, clock.Now)
	fillTasks(t, from, clock, 3)
	source := mustSource(t, from)
	into := mustTarget(t, source, to)
	defer mustClose(t, into)
	schema := to.(keptSchema).Schema
	dead, err := mustConnect(t, url).Begin(t.Context())
	mustDo(t, err)
	finished := make(chan error, 1)
	_, err = store.Copy(t.Context(), source, &pausedTarget{Target: into, finish: func() error {
		attach := fmt.Sprintf("ALTER TABLE %[1]s.ended_tasks ATTACH PARTITION %[1]s.ended_tasks_1 FOR VALUES IN (1)", schema)
		if _, err := dead.Exec(t.Context(), attach); err != nil {
			return err
		}
		go func() { finished <- into.Finish(t.Context()) }()
		mustWait(t, mustConnect(t, url), schema, 1)
		mustDo(t, dead.Commit(t.Context()))
		return <-finished
	}}, func(store.Phase, int64) {})
	mustDo(t, err)
}

// TestCopyWaitsForACommit: a run goes on after the commit that the server of a killed process is about to make.
func TestCopyWaitsForACommit(t *testing.T) {
	url := mustServer(t)
	clock := storetest.NewClock()
	from, to := newKept(t, url, false, clock.Now), newKept(t, url, true, clock.Now)
	fillTasks(t, from, clock, 3)
	source := mustSource(t, from)
	into := mustTarget(t, source, to)
	_, err := store.Copy(t.Context(), source, &cutTarget{Target: into, commits: 1}, func(store.Phase, int64) {})
	wantErr(t, "Copy", err, errCut)
	mustClose(t, into)
	schema := to.(keptSchema).Schema
	dead, err := mustConnect(t, url).Begin(t.Context())
	mustDo(t, err)
	_, err = dead.Exec(t.Context(), "UPDATE "+schema+`.copying SET mark = regexp_replace(mark, '"last":"[^"]*"', '"last":"task_z"')`)
	mustDo(t, err)
	id, err := source.Identity(t.Context())
	mustDo(t, err)
	opened := make(chan error, 1)
	var again store.Target
	go func() {
		var err error
		again, err = to.target(store.CopyOf{From: "test", Identity: id})
		opened <- err
	}()
	mustWait(t, mustConnect(t, url), schema, 1)
	mustDo(t, dead.Commit(t.Context()))
	mustDo(t, <-opened)
	defer mustClose(t, again)
	if last, _, err := again.Last(t.Context()); err != nil || last != "task_z" {
		t.Errorf("Last: %q, %v, want that of the killed process", last, err)
	}
}

func mustConnect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	mustDo(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// pausedTarget has another Finish.
type pausedTarget struct {
	store.Target
	finish func() error
}

func (p *pausedTarget) Finish(context.Context) error { return p.finish() }

// TestCopyIntoAnEmptiedSchema: a schema that was worked on until it had other parts, and whose tables were emptied, takes
// a copy.
func TestCopyIntoAnEmptiedSchema(t *testing.T) {
	const retention = 8 * time.Hour
	url := mustServer(t)
	clock := storetest.NewClock()
	from, to := newKept(t, url, false, clock.Now), newKept(t, url, true, clock.Now)
	all := fillTasks(t, from, clock, 3)
	e := mustEngine(t, to)
	for range 20 {
		_, err := e.Store.Sweep(t.Context(), store.SweepRequest{Retention: retention, Limit: 100})
		mustDo(t, err)
		clock.Advance(time.Hour)
	}
	mustDo(t, e.Store.Close())
	schema := to.(keptSchema).Schema
	parts, first := 0, 0
	mustDo(t, mustConnect(t, url).QueryRow(t.Context(), "SELECT count(*), min(part) FROM "+schema+".parts").Scan(&parts, &first))
	if parts < 2 || first == 1 {
		t.Fatalf("the schema has %d parts from %d on: the test proves nothing", parts, first)
	}
	mustDo(t, server.Exec(t.Context(), fmt.Sprintf("TRUNCATE %[1]s.open_tasks, %[1]s.ended_tasks, %[1]s.nodes", schema)))
	mustCopy(t, from, to)
	copied, err := pgstore.Open(t.Context(), pgstore.Config(to.(keptSchema)))
	mustDo(t, err)
	defer func() { _ = copied.Close() }()
	for _, want := range all {
		if got, err := copied.GetTask(t.Context(), want.Scope, want.ID); err != nil || got.ID != want.ID {
			t.Errorf("GetTask: %s, %v, want %s", got.ID, err, want.ID)
		}
	}
}
