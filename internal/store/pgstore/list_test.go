package pgstore_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/store/pgstore"
	"unitask/internal/task"
)

// TestListByMetadataIsBounded: a page that finds little looks at no more rows than its bound and leads on.
func TestListByMetadataIsBounded(t *testing.T) {
	db, c := mustOpen(t, mustServer(t), nil)
	start := time.Now().Add(-time.Hour)
	oldest := store.NewTask{
		ID: task.NewID(task.PrefixTask, start), Scope: task.Scope{Account: "acct_1", Mode: task.Live}, Capability: "text.chat",
		Input: json.RawMessage(`{}`), Deadline: time.Hour, Metadata: task.Metadata{"team": "search"},
	}
	made, err := db.CreateTask(t.Context(), oldest)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	ids := make([]string, 2*pgstore.RecordWindow)
	for i := range ids {
		ids[i] = task.NewID(task.PrefixTask, start.Add(time.Duration(i+1)*time.Millisecond))
	}
	more := fmt.Sprintf(`INSERT INTO %s.open_tasks SELECT i, decode(md5(i), 'hex'), account, mode, capability, '', state, deadline, pause,
			NULL, epoch, claim, nth, cancel, place, convert_to(replace(convert_from(record, 'UTF8'), 'search', 'ads'), 'UTF8'), input
		FROM %[1]s.open_tasks, unnest($1::text[]) AS i`, c.Schema)
	if _, err := conn.Exec(t.Context(), more, ids); err != nil {
		t.Fatal(err)
	}
	q := store.ListQuery{Scope: oldest.Scope, Metadata: oldest.Metadata, Limit: 1}
	var pages []store.Page
	for len(pages) < 5 {
		page, err := db.ListTasks(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if q.Cursor = page.Next; q.Cursor != "" {
			page.Next = "more"
		}
		if pages = append(pages, page); q.Cursor == "" {
			break
		}
	}
	want := []store.Page{{Next: "more"}, {Next: "more"}, {Tasks: []task.Task{made.Task}}}
	if diff := cmp.Diff(want, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}
