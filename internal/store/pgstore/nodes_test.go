package pgstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/store/pgstore"
	"unitask/internal/task"
)

var acme = task.Scope{Account: "acct_acme", Mode: task.Live}

const someNode = "node_1"

// newTask returns a request under an idempotency key.
func newTask(key string, holds ...task.Hold) store.NewTask {
	n := store.NewTask{
		ID: task.NewID(task.PrefixTask, time.Now()), Scope: acme, KeyID: "key_1", Capability: "text.chat",
		Input: json.RawMessage(`{"prompt":"hello"}`), Deadline: time.Hour, Holds: holds,
	}
	copy(n.IdempotencyHash[:], key)
	return n
}

// mustOpenNodes opens engines on the same tables, each with a session named node_1, node_2, ….
func mustOpenNodes(t *testing.T, count int) []*pgstore.DB {
	t.Helper()
	first, c := mustOpen(t, mustServer(t), nil)
	nodes := []*pgstore.DB{first}
	for len(nodes) < count {
		nodes = append(nodes, mustAttach(t, c))
	}
	for i, db := range nodes {
		if err := db.Renew(t.Context(), fmt.Sprint("node_", i+1), time.Hour); err != nil {
			t.Fatalf("Renew: %v", err)
		}
	}
	return nodes
}

// TestLimitsAcrossNodes: takers at three nodes get all that a counter and a cap have, and no more, however they meet.
func TestLimitsAcrossNodes(t *testing.T) {
	for name, limit := range map[string]int64{"few": 30, "many": 4000} {
		t.Run(name, func(t *testing.T) {
			const callers = 48
			nodes := mustOpenNodes(t, 3)
			var taken, refused atomic.Int64
			var all sync.WaitGroup
			for caller := range callers {
				db := nodes[caller%len(nodes)]
				all.Go(func() {
					for i := range 2 * limit {
						n := newTask(fmt.Sprint(caller, " ", i), task.Hold{Scope: "k", Kind: task.HoldBudget, Amount: 1, Limit: limit})
						_, err := db.CreateTask(context.Background(), n)
						if _, full := errors.AsType[*store.HoldError](err); full {
							refused.Add(1)
							return
						}
						if err != nil {
							t.Errorf("CreateTask: %v", err)
							return
						}
						taken.Add(1)
					}
				})
			}
			all.Wait()
			if taken.Load() != limit || refused.Load() != callers {
				t.Errorf("%d taken and %d callers refused, want %d and %d", taken.Load(), refused.Load(), limit, callers)
			}
		})
	}
}

// TestCapsAcrossNodes: attempts of three nodes never exceed a cap, while they begin and end.
func TestCapsAcrossNodes(t *testing.T) {
	const callers, limit, each = 24, 5, 20
	nodes := mustOpenNodes(t, 3)
	p := task.Plan{Supplier: "s", Model: "m", Caps: []task.Cap{{Key: "supplier:s", Limit: limit}}}
	var open, most, started atomic.Int64
	var all sync.WaitGroup
	for caller := range callers {
		db, name := nodes[caller%len(nodes)], fmt.Sprint("node_", caller%len(nodes)+1)
		all.Go(func() {
			for i := range each {
				n := newTask(fmt.Sprint(caller, " ", i))
				n.First = &store.First{Node: name, Plans: []task.Plan{p}}
				c, err := db.CreateTask(context.Background(), n)
				if err != nil {
					t.Errorf("CreateTask: %v", err)
					return
				}
				s := store.Step{Moves: []task.Transition{task.Cancel(nil)}}
				if c.Task.OpenAttempt() != nil {
					started.Add(1)
					now := open.Add(1)
					for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
					}
					s.Close = &task.Closing{State: task.Rejected}
					open.Add(-1) // before the commit that gives it back
				}
				if _, err := db.Advance(context.Background(), c.Lease.Ref, s); err != nil {
					t.Errorf("Advance: %v", err)
				}
			}
		})
	}
	all.Wait()
	if most.Load() > limit || started.Load() < limit {
		t.Errorf("%d at once of %d, want up to %d", most.Load(), started.Load(), limit)
	}
	left, err := nodes[0].InFlight(t.Context())
	if err != nil || len(left) != 0 {
		t.Errorf("InFlight: %v, %v, want none", left, err)
	}
}

// TestOneTaskAcrossNodes: the same request at several nodes at once is one task, also if it ends meanwhile.
func TestOneTaskAcrossNodes(t *testing.T) {
	const keys, callers = 60, 12
	nodes := mustOpenNodes(t, 3)
	var created atomic.Int64
	var all sync.WaitGroup
	for i := range keys * callers {
		db := nodes[i%len(nodes)]
		all.Go(func() {
			n := newTask(fmt.Sprint("key ", i/callers))
			c, err := db.CreateTask(context.Background(), n)
			if err != nil {
				t.Errorf("CreateTask: %v", err)
			}
			if c.Admit != store.AdmitCreated {
				return
			}
			created.Add(1)
			if _, err := db.RequestCancel(context.Background(), acme, n.ID); err != nil {
				t.Errorf("RequestCancel: %v", err)
			}
		})
	}
	all.Wait()
	if created.Load() != keys {
		t.Errorf("%d tasks, want %d", created.Load(), keys)
	}
}

// TestOldSchema: the tables of the first version are brought forward with what is in them, and the notes of nodes that
// were forgotten go with a sweep.
func TestOldSchema(t *testing.T) {
	db, c := mustOpen(t, mustServer(t), nil)
	schema := db.Schema()
	for _, sql := range []string{
		"DROP SCHEMA " + schema + " CASCADE", "CREATE SCHEMA " + schema, pgstore.Migrations(db)[0],
		"CREATE TABLE " + schema + ".version (one boolean PRIMARY KEY CHECK (one), version int NOT NULL)",
		"INSERT INTO " + schema + ".version VALUES (true, 1)",
		"INSERT INTO " + schema + ".nodes (name, until, freed) VALUES ('" + someNode + "', now() + interval '1 hour', false), ('gone', now() - interval '2 days', true)",
		"INSERT INTO " + schema + ".usage VALUES ('usage', 'acct_1', 20000, 'live', 'text.chat', 'key_1', 'a node', 1, 2, 3, 4, 5, 6, 7, 8, 9)",
	} {
		if err := server.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	db = mustAttach(t, c)
	if others, err := db.Exchange(t.Context(), someNode, []byte("a note")); err != nil || len(others) != 0 {
		t.Fatalf("Exchange: %v, %v", others, err)
	}
	wantUsage := store.Usage{Succeeded: 1, Failed: 2, Canceled: 3, Cost: 9, Usage: task.Usage{
		InputTokens: 4, OutputTokens: 5, Images: 6, Milliseconds: 7, Characters: 8,
	}}
	err := db.EachUsage(t.Context(), store.UsageQuery{First: 20000, Last: 20000}, func(k store.UsageKey, u store.Usage) bool {
		if k.KeyID != "key_1" || u != wantUsage {
			t.Errorf("usage %+v of %+v, want %+v", u, k, wantUsage)
		}
		wantUsage = store.Usage{}
		return true
	})
	if err != nil || wantUsage != (store.Usage{}) {
		t.Errorf("EachUsage: %v, without %+v", err, wantUsage)
	}
	if err := server.Exec(t.Context(), "INSERT INTO "+schema+".notes VALUES ('gone', 'b')"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Sweep(t.Context(), store.SweepRequest{Limit: 10}); err != nil {
		t.Fatal(err)
	}
	if rows := mustCount(t, c.Schema+".notes"); rows != 1 {
		t.Errorf("%d notes after the sweep, want 1", rows)
	}
}

// TestSilentNode: a node that is stopped within a transaction doesn't keep the others from the counter for long, and
// its transaction isn't committed when it goes on.
func TestSilentNode(t *testing.T) {
	nodes := mustOpenNodes(t, 2)
	pgstore.SetIdle(nodes[0], 300*time.Millisecond)
	wake, err := pgstore.Hold(t.Context(), nodes[0], nil, pgstore.Take{Counter: store.Counter{Scope: "k", Kind: task.HoldOpen}, Amount: 1, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := newTask("key", task.Hold{Scope: "k", Kind: task.HoldOpen, Amount: 1, Limit: 1})
	if _, err := nodes[1].CreateTask(t.Context(), n); err != nil {
		t.Errorf("CreateTask beside a silent node: %v", err)
	}
	if err := wake(); err == nil {
		t.Error("a transaction was committed after its locks were given to others")
	}
}

// TestLocks: transactions take little from a full counter beside each other, and wait for each other near its limit, also
// if a node remembers a counter that was fuller.
func TestLocks(t *testing.T) {
	const limit = 20_000
	nodes := mustOpenNodes(t, 2)
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	hold := func(amount int64) task.Hold {
		return task.Hold{Scope: "k", Kind: task.HoldBudget, Amount: amount, Limit: limit}
	}
	take := func(key string, amount int64) {
		if _, err := nodes[0].CreateTask(t.Context(), newTask(key, hold(amount))); err != nil {
			t.Fatalf("CreateTask: %v", err)
		}
	}
	// waits reports whether a creation at one node waits for the other's transaction, and ends both.
	waits := func(key string, amount int64, of *store.NewTask, takes ...pgstore.Take) bool {
		t.Helper()
		commit, err := pgstore.Hold(t.Context(), nodes[1], of, takes...)
		if err != nil {
			t.Fatal(err)
		}
		n := newTask(key)
		if amount > 0 {
			n.Holds = []task.Hold{hold(amount)}
		}
		done := make(chan error, 1)
		go func() {
			_, err := nodes[0].CreateTask(context.Background(), n)
			done <- err
		}()
		waited, ended := false, false
		for !waited && !ended {
			select {
			case err = <-done:
				ended = true
			case <-time.After(5 * time.Millisecond):
				waited = len(waiting(t, conn, "pg_advisory_xact_lock")) > 0
			}
		}
		if commitErr := commit(); commitErr != nil {
			t.Errorf("commit: %v", commitErr)
		}
		if waited {
			err = <-done
		}
		if err != nil {
			t.Errorf("CreateTask: %v", err)
		}
		return waited
	}
	one := pgstore.Take{Counter: store.Counter{Scope: "k", Kind: task.HoldBudget}, Amount: 1, Limit: limit}
	take("first", 1) // so that both know the counter
	if _, err := nodes[1].CreateTask(t.Context(), newTask("second", hold(1))); err != nil {
		t.Fatal(err)
	}
	if waits("little of much", 1, nil, one) {
		t.Error("little of much: waits")
	}
	if !waits("much of much", limit/10, nil, one) {
		t.Error("much of much: doesn't wait")
	}
	if _, err := nodes[1].CreateTask(t.Context(), newTask("most", hold(limit*8/10))); err != nil {
		t.Fatal(err)
	}
	if !waits("little of little", 1, nil, one) {
		t.Error("little of little: doesn't wait")
	}
	same := newTask("the same request")
	if !waits("the same request", 0, &same) {
		t.Error("the same request: doesn't wait")
	}
	if waits("another request", 0, &same) {
		t.Error("another request: waits")
	}
}

// TestFold: shards of many nodes are folded, and the sums stay.
func TestFold(t *testing.T) {
	first, c := mustOpen(t, mustServer(t), nil)
	const engines = 20
	for round := range 2 {
		for i := range engines {
			db := mustAttach(t, c)
			n := newTask(fmt.Sprint(round, " ", i), task.Hold{Scope: "k", Kind: task.HoldBudget, Amount: 3, Lasts: time.Hour})
			if _, err := db.CreateTask(t.Context(), n); err != nil {
				t.Fatalf("CreateTask: %v", err)
			}
			if _, err := db.RequestCancel(t.Context(), acme, n.ID); err != nil {
				t.Fatalf("RequestCancel: %v", err)
			}
			n = newTask(fmt.Sprint(round, " ", i, " stays"), task.Hold{Scope: "k", Kind: task.HoldBudget, Amount: 5})
			if _, err := db.CreateTask(t.Context(), n); err != nil {
				t.Fatalf("CreateTask: %v", err)
			}
		}
		if _, err := first.Sweep(t.Context(), store.SweepRequest{Limit: 10}); err != nil {
			t.Fatalf("Sweep: %v", err)
		}
		n := newTask("too much", task.Hold{Scope: "k", Kind: task.HoldBudget, Amount: 1 << 60, Limit: 1})
		_, err := first.CreateTask(t.Context(), n)
		if he, ok := errors.AsType[*store.HoldError](err); !ok || he.Held != int64(5*engines*(round+1)) {
			t.Errorf("after a fold: %v, want %d held", err, 5*engines*(round+1))
		}
		canceled := int64(0)
		if err := first.EachUsage(t.Context(), store.UsageQuery{Last: 1 << 30}, func(_ store.UsageKey, u store.Usage) bool {
			canceled += u.Canceled
			return true
		}); err != nil || canceled != int64(engines*(round+1)) {
			t.Errorf("%d canceled (%v), want %d", canceled, err, engines*(round+1))
		}
		for _, table := range []string{"counters WHERE scope = 'k'", "usage"} {
			if rows := mustCount(t, c.Schema+"."+table); rows != 1 {
				t.Errorf("%d rows of %s, want 1", rows, table)
			}
		}
	}
}

func mustCount(t *testing.T, from string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM "+from).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSchema: nodes that start at once make one schema, and a newer one is refused in words.
func TestSchema(t *testing.T) {
	url := mustServer(t)
	name := fmt.Sprintf("test_%d", schemas.Add(1))
	wantFound := func(want string) {
		t.Helper()
		found, err := pgstore.Check(t.Context(), pgstore.Config{URL: url, Schema: name})
		if said := fmt.Sprint(found, err); !strings.Contains(said, want) {
			t.Errorf("Check: %s, want %s", said, want)
		}
	}
	wantFound("no tables yet")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			db, err := pgstore.Open(context.Background(), pgstore.Config{URL: url, Schema: name})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			_ = db.Close()
		})
	}
	all.Wait()
	wantFound("schema " + name + " of version ")
	if err := server.Exec(t.Context(), "UPDATE "+name+".version SET version = 1000"); err != nil {
		t.Fatal(err)
	}
	wantFound("run the newer program")
	_, err := pgstore.Open(t.Context(), pgstore.Config{URL: url, Schema: name})
	if err == nil || !strings.Contains(err.Error(), "run the newer program") {
		t.Errorf("Open of a newer schema: %v", err)
	}
	_, err = pgstore.Open(t.Context(), pgstore.Config{URL: "postgres://u:secret@%zz/", Schema: name})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("Open of a wrong URL: %v", err)
	}
}
