package pgstore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"unitask/internal/task"
)

// TestReopenedMeanwhile: a task that is reopened after a cancellation has looked for it among the open ones, and before
// it looks among the ended ones, is found.
func TestReopenedMeanwhile(t *testing.T) {
	db := mustOpenNodes(t, 1)[0]
	schema := db.Schema()
	made, err := db.CreateTask(t.Context(), newTask("key"))
	if err != nil {
		t.Fatal(err)
	}
	id := made.Task.ID
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), fmt.Sprintf(sql, schema)); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE %[1]s.kept AS SELECT * FROM %[1]s.open_tasks")
	if _, err := db.RequestCancel(t.Context(), made.Task.Scope, id); err != nil {
		t.Fatal(err)
	}
	exec("BEGIN; LOCK TABLE %[1]s.ended_tasks IN ACCESS EXCLUSIVE MODE")
	type answer struct {
		t   task.Task
		err error
	}
	answers := make(chan answer)
	go func() {
		got, err := db.RequestCancel(context.Background(), made.Task.Scope, id)
		answers <- answer{got, err}
	}()
	mustWait(t, conn, schema, 1)
	exec("DELETE FROM %[1]s.ended_tasks; INSERT INTO %[1]s.open_tasks SELECT * FROM %[1]s.kept; COMMIT")
	if got := <-answers; got.err != nil || got.t.State != task.Canceled {
		t.Errorf("RequestCancel: %s, %v, want canceled", got.t.State, got.err)
	}
}
