package main

import (
	"os"
	"testing"

	"unitask/internal/store/pgstore/pgtest"
)

func TestMain(m *testing.M) {
	serveRole()
	os.Exit(m.Run())
}

// TestBareTasks holds pgbench's script to the engine: what it leaves in the tables is what tasks leave there.
func TestBareTasks(t *testing.T) {
	if _, err := pgtest.Available(); err != nil && os.Getenv("CI") == "" {
		t.Skipf("not run: %v", err)
	}
	t.Chdir("../..")
	b, err := newTestbed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	d, err := b.openDatabase()
	if d == nil || err != nil {
		t.Fatalf("no database: %v", err)
	}
	name, err := d.create(t.Context(), "template1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.capture(t.Context(), d, name)
	if err != nil {
		t.Fatal(err)
	}
	script, err := c.script()
	if err != nil {
		t.Fatal(err)
	}
	const clients, each = 3, "20"
	if _, err := b.pgbenchOnce(t.Context(), d, name, script, clients, "-t", each); err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
	conn, err := d.connect(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	var got, want left
	err = conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM unitask.open_tasks), (SELECT count(DISTINCT (id, digest)) FROM unitask.ended_tasks),
		(SELECT count(*) FROM (SELECT 1 FROM unitask.counters GROUP BY kind, scope HAVING sum(amount) <> 0) AS c),
		(SELECT sum(n1) FROM unitask.usage WHERE kind = 'usage')`).Scan(&got.open, &got.ended, &got.held, &got.used)
	if err != nil {
		t.Fatal(err)
	}
	const captured = 2
	want.ended = clients*20 + captured
	want.used = want.ended
	if got != want {
		t.Errorf("the tables hold %+v, want %+v", got, want)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// left is what tasks leave in the tables.
type left struct{ open, ended, held, used int }
