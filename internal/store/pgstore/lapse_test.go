package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/store/pgstore"
	"unitask/internal/task"
)

// TestCreationAcrossALapse: a creation that saw its node's session alive and is committed when it has run out leaves no
// task that nobody takes over.
func TestCreationAcrossALapse(t *testing.T) {
	nodes := mustOpenNodes(t, 2)
	const short = 400 * time.Millisecond
	if err := nodes[0].Renew(t.Context(), "node_short", short); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	schema := nodes[0].Schema()
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE "+schema+".counters IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	n := newTask("key")
	n.First = &store.First{Node: "node_short", Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
	created := make(chan error, 1)
	go func() {
		_, err := nodes[0].CreateTask(context.Background(), n)
		created <- err
	}()
	time.Sleep(2 * short)
	claim := store.ClaimRequest{Node: "node_2", Limit: 1}
	if _, err := nodes[1].Claim(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-created; err != nil {
		t.Fatalf("CreateTask: %v", err)
	}
	leases, err := nodes[1].Claim(t.Context(), claim)
	if err != nil || len(leases) != 1 {
		t.Errorf("the task of the session that has run out: %d leases, %v, want 1", len(leases), err)
	}
}

// TestUnreadableTask: a record that can't be read is an error to who asks for that task, and to no one else.
func TestUnreadableTask(t *testing.T) {
	db := mustOpenNodes(t, 1)[0]
	broken := newTask("broken")
	if _, err := db.CreateTask(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	if err := server.Exec(t.Context(), "UPDATE "+db.Schema()+".open_tasks SET record = substr(record, 1, 20)"); err != nil {
		t.Fatal(err)
	}
	sound := newTask("sound")
	if _, err := db.CreateTask(t.Context(), sound); err != nil {
		t.Fatal(err)
	}
	lines := []store.Line{{Mode: task.Live, Capability: sound.Capability, Places: [][]task.Cap{{{Key: "supplier:s", Limit: 1}}}}}
	leases, err := db.Claim(t.Context(), store.ClaimRequest{Node: someNode, Limit: 1, Lines: lines}) // neither a lease nor the place is lost to it
	if err != nil || len(leases) != 1 || leases[0].Ref.TaskID != sound.ID {
		t.Fatalf("Claim: %+v, %v, want %s", leases, err, sound.ID)
	}
	if leases, err = db.Claim(t.Context(), store.ClaimRequest{Node: someNode, Limit: 10, Lines: lines}); err != nil || len(leases) != 0 {
		t.Errorf("Claim: %+v, %v", leases, err)
	}
	if page, err := db.ListTasks(t.Context(), store.ListQuery{Scope: acme}); err != nil || len(page.Tasks) != 1 {
		t.Errorf("ListTasks: %d tasks, %v, want the one that can be read", len(page.Tasks), err)
	}
	if g, err := db.Gauges(t.Context()); err != nil || g.Quarantined != 1 {
		t.Errorf("%d tasks that can't be read, %v, want 1", g.Quarantined, err)
	}
	if _, err := db.CreateTask(t.Context(), newTask("broken")); err == nil {
		t.Error("a second task under the key of the one that can't be read")
	}
	if _, err := db.RequestCancel(t.Context(), acme, broken.ID); err == nil {
		t.Error("a task that can't be read was canceled")
	}
	if got, err := db.RequestCancel(t.Context(), acme, sound.ID); err != nil || !got.CancelRequested {
		t.Errorf("RequestCancel of the sound one: %+v, %v", got.State, err)
	}

	// A worker whose task becomes unreadable drops it.
	if err := server.Exec(t.Context(), "UPDATE "+db.Schema()+".open_tasks SET record = substr(record, 1, 20)"); err != nil {
		t.Fatal(err)
	}
	ref := store.LeaseRef{TaskID: sound.ID, Epoch: 1}
	if _, err := db.Advance(t.Context(), ref, store.Step{Takeovers: new(1)}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("Advance: %v, want ErrFenced", err)
	}
}

// TestEndOpen: all open tasks of a database that no node works on are ended, and those that can't be read are named.
func TestEndOpen(t *testing.T) {
	db := mustOpenNodes(t, 1)[0]
	failure := task.FailureOf(fault.New(fault.ProviderTimeout, "nobody knows"))
	var ids []string
	for i := range 300 { // more than a transaction ends
		n := newTask(fmt.Sprint(i))
		if i%2 == 0 {
			n.First = &store.First{Node: someNode, Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
		}
		if _, err := db.CreateTask(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, n.ID)
	}
	var inUse *store.InUseError
	if n, err := db.EndOpen(t.Context(), failure); !errors.As(err, &inUse) || n != 0 {
		t.Fatalf("while a node has a session: %d, %v", n, err)
	}
	if err := db.Renew(t.Context(), someNode, 0); err != nil {
		t.Fatal(err)
	}
	if err := server.Exec(t.Context(), "UPDATE "+db.Schema()+".open_tasks SET record = substr(record, 1, 20) WHERE id = $1", ids[0]); err != nil {
		t.Fatal(err)
	}
	n, err := db.EndOpen(t.Context(), failure)
	if err == nil || !strings.Contains(err.Error(), ids[0]) || n != len(ids)-1 {
		t.Errorf("%d ended, %v, want %d and the name of the other", n, err, len(ids)-1)
	}
	for _, id := range ids[1:] {
		got, err := db.GetTask(t.Context(), acme, id)
		if err != nil || got.State != task.Failed || got.OpenAttempt() != nil {
			t.Fatalf("%s: %s, %v", id, got.State, err)
		}
	}
	if err := pgstore.EndAll(t.Context(), db, "a node that starts meanwhile", ids, failure); !errors.As(err, &inUse) {
		t.Errorf("with a node that started meanwhile: %v", err)
	}
}

// waiting returns the connections whose statement holds a text and waits for a lock.
func waiting(t *testing.T, conn *pgx.Conn, text string) []int {
	t.Helper()
	if _, err := conn.Exec(t.Context(), "SELECT pg_stat_clear_snapshot()"); err != nil { // or the transaction sees its first look for ever
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND strpos(query, $1) > 0 ORDER BY pid", text)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// mustWait waits until so many statements about the tables of a schema wait for a lock, and returns their connections.
func mustWait(t *testing.T, conn *pgx.Conn, schema string, statements int) []int {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		found := waiting(t, conn, schema)
		if len(found) >= statements {
			return found
		}
		if time.Now().After(end) {
			t.Fatalf("%d statements wait, want %d", len(found), statements)
		}
	}
}

// TestLargeResults: steps with large results that wait for the database don't keep a small one waiting.
func TestLargeResults(t *testing.T) {
	db := mustOpenNodes(t, 1)[0]
	working := func(key string) *store.Lease {
		n := newTask(key)
		n.First = &store.First{Node: someNode, Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
		c, err := db.CreateTask(t.Context(), n)
		if err != nil || c.Lease == nil {
			t.Fatalf("CreateTask: %+v, %v", c, err)
		}
		return c.Lease
	}
	finish := func(l *store.Lease, text string) error {
		got, err := db.Advance(context.Background(), l.Ref, store.Step{
			Close: &task.Closing{State: task.OK},
			Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: fmt.Appendf(nil, `{"text":%q}`, text)}, task.Usage{})},
		})
		if kept := got.Output.Text(); err == nil && (kept == nil || *kept != text) {
			t.Errorf("a text of %d bytes was kept as another", len(text))
		}
		return err
	}
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	small, large := working("small"), []*store.Lease{working("a"), working("b"), working("c")}
	if _, err := conn.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, len(large))
	for _, l := range large {
		if _, err := conn.Exec(t.Context(), "SELECT 1 FROM "+db.Schema()+".open_tasks WHERE id = $1 FOR UPDATE", l.Ref.TaskID); err != nil {
			t.Fatal(err)
		}
		go func() { done <- finish(l, strings.Repeat("large ", 50_000)) }()
	}
	mustWait(t, conn, db.Schema(), 1) // large results follow one another
	start := time.Now()
	if err := finish(small, "small"); err != nil || time.Since(start) > 5*time.Second {
		t.Errorf("a small result: %v after %s", err, time.Since(start))
	}
	if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for range large {
		if err := <-done; err != nil {
			t.Errorf("a large result: %v", err)
		}
	}
}

// TestReadersLeaveRoom: readers that wait for the database keep neither a commit nor the node's session waiting.
func TestReadersLeaveRoom(t *testing.T) {
	db := mustOpenNodes(t, 1)[0]
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE "+db.Schema()+".accounts IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 40 {
		readers.Go(func() { _, _ = db.ListAccounts(context.Background()) })
	}
	before := mustWait(t, conn, db.Schema(), 8) // as many as have connections
	if err := db.Renew(t.Context(), someNode, time.Hour); err != nil {
		t.Errorf("Renew: %v", err)
	}
	if _, err := db.CreateTask(t.Context(), newTask("key")); err != nil {
		t.Errorf("CreateTask: %v", err)
	}
	if diff := cmp.Diff(before, waiting(t, conn, db.Schema())); diff != "" { // one that gives up makes room
		t.Errorf("the connections of readers that wait (-before +after):\n%s", diff)
	}
	if _, err := conn.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	readers.Wait()
}
