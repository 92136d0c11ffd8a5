package pgstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/store/pgstore"
	"unitask/internal/task"
)

// TestPlansOfEmptyTables: plans that were made when the tables were empty read no more rows when they are large.
func TestPlansOfEmptyTables(t *testing.T) {
	const large, most = 30_000, 5_000
	_, c := mustOpen(t, mustServer(t), nil)
	conn, err := pgx.Connect(t.Context(), c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	exec := func(format string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), fmt.Sprintf(format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"open_tasks", "ended_tasks_1", "counters", "usage", "turns", "endpoints", "deliveries"} { // or plans are made anew
		exec("ALTER TABLE %s.%s SET (autovacuum_enabled = false)", c.Schema, table)
	}
	name := c.Schema
	engine := mustAttach(t, pgstore.Config{URL: c.URL + "&application_name=" + name, Schema: c.Schema, Lanes: 1})
	carryOut(t, engine, "empty")
	exec(`INSERT INTO %s.counters SELECT 'key:' || i, 'open', 's', 1 FROM generate_series(1, %d) AS i`, c.Schema, large)
	exec(`INSERT INTO %s.turns SELECT 'account' || i, i FROM generate_series(1, %d) AS i`, c.Schema, large)
	exec(`INSERT INTO %s.ended_tasks SELECT part, id || i, decode(md5(i::text), 'hex'), account, mode, capability, state, epoch, updated, record
		FROM (SELECT * FROM %[1]s.ended_tasks LIMIT 1) AS t, generate_series(1, %d) AS i`, c.Schema, large)
	exec(`INSERT INTO %s.open_tasks SELECT id || i, decode(md5(i::text), 'hex'), 'account' || i, mode, capability, '', state, deadline, pause, NULL, epoch,
			claim, nth, cancel, place, record, input
		FROM (SELECT * FROM %[1]s.open_tasks LIMIT 1) AS t, generate_series(1, %d) AS i`, c.Schema, large)
	exec(`INSERT INTO %s.accounts SELECT 'other' || i, 'other' || i, '{}' FROM generate_series(1, %d) AS i`, c.Schema, large)
	exec(`INSERT INTO %s.endpoints SELECT 'whe_' || i, 'other' || i, 'live', true, true, '{}', '{}', NULL, '{}' FROM generate_series(1, %d) AS i`, c.Schema, large)
	exec(`INSERT INTO %s.deliveries SELECT 'whe_' || i, 'event', 'waiting', now(), NULL, now(), '{}' FROM generate_series(1, %d) AS i`, c.Schema, large)
	carryOut(t, engine, "large")
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	for left := 1; left > 0; time.Sleep(5 * time.Millisecond) { // a connection counts what it read when it ends
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", name).Scan(&left); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.Query(t.Context(), `SELECT relname, seq_tup_read + coalesce((SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i
		WHERE i.relid = t.relid), 0)::bigint FROM pg_stat_user_tables t WHERE schemaname = $1`, c.Schema)
	if err != nil {
		t.Fatal(err)
	}
	var table string
	var read int
	seen := 0
	if _, err := pgx.ForEachRow(rows, []any{&table, &read}, func() error {
		seen++
		if read > 2*large+most { // the copies above read them
			t.Errorf("%d rows of %s were read", read, table)
		}
		return nil
	}); err != nil || seen < 10 {
		t.Errorf("%d tables, %v", seen, err)
	}
}

// carryOut lets tasks go through each operation that groups make, on the same connections.
func carryOut(t *testing.T, db *pgstore.DB, word string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(db.Renew(t.Context(), "node_plans", time.Hour))
	plan := task.Plan{Supplier: "s", Model: "m", Caps: []task.Cap{{Key: "supplier:s", Limit: 1000}}}
	for i := range 12 {
		n := newTask(fmt.Sprint(word, i), task.Hold{Scope: "key:1", Kind: task.HoldOpen, Amount: 1, Limit: 100_000})
		n.First = &store.First{Node: "node_plans", Plans: []task.Plan{plan}}
		created, err := db.CreateTask(t.Context(), n)
		must(err)
		_, err = db.FindTask(t.Context(), n.Scope, n.IdempotencyHash)
		must(err)
		if i == 0 {
			continue // it stays open
		}
		_, err = db.Advance(t.Context(), created.Lease.Ref, store.Step{
			Close: &task.Closing{State: task.Rejected}, Moves: []task.Transition{task.Transfer()},
		})
		must(err)
		ended, err := db.Advance(t.Context(), store.LeaseRef{TaskID: created.Lease.Ref.TaskID, Epoch: created.Lease.Ref.Epoch, Write: 2}, store.Step{
			Moves: []task.Transition{task.Cancel(nil)},
		})
		must(err)
		must(db.MarkShown(t.Context(), []task.Task{ended}))
	}
}
