package boltstore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// mustCheck checks the file offline, with files as they are told to be.
func mustCheck(t *testing.T, path string, cfg boltstore.CheckConfig) boltstore.Report {
	t.Helper()
	cfg.Now = func() time.Time { return afterOldStore }
	o, err := boltstore.OpenOffline(path)
	if err != nil {
		t.Fatal(err)
	}
	report, err := o.Check(t.Context(), cfg)
	if err := errors.Join(err, o.Close()); err != nil {
		t.Fatal(err)
	}
	return report
}

// mustUpgrade brings the old store to the newest schema and returns its path and its content.
func mustUpgrade(t *testing.T) (string, oldStore) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "unitask.db")
	old := mustReadOldStore(t, path)
	if err := boltstore.UpgradeRowByRow(path); err != nil {
		t.Fatal(err)
	}
	return path, old
}

func TestCheckOfASoundStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	mustReadOldStore(t, path)
	for _, schema := range []uint64{1, 9} {
		got := mustCheck(t, path, boltstore.CheckConfig{})
		want := boltstore.Report{
			Schema: schema, Bytes: got.Bytes, Tasks: 60, Open: 12, Keys: 20, Findings: []boltstore.Finding{},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("schema %d (-want +got):\n%s", schema, diff)
		}
		if err := boltstore.UpgradeRowByRow(path); err != nil {
			t.Fatal(err)
		}
	}
}

// beyondRepair are the faults of TestCheckFinds that no other row can restore.
var beyondRepair = []string{
	"an idempotency key leads to another task", "an ended task has an open attempt", "an attempt has another number",
	"a move that isn't allowed", "an input that wasn't erased",
}

// TestCheckFinds plants one fault at a time, which a check finds and a repair says and mends.
func TestCheckFinds(t *testing.T) {
	sound, old := mustUpgrade(t)
	image, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := boltstore.RowID(old.Tasks[0].ID)
	second, _, _ := boltstore.RowID(old.Tasks[1].ID)
	drop := func(bucket string, which func(k, v []byte) bool) func(tx *bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			c := tx.Bucket([]byte(bucket)).Cursor()
			for k, v := c.First(); k != nil; k, v = c.Next() {
				if which(k, v) {
					return tx.Bucket([]byte(bucket)).Delete(bytes.Clone(k))
				}
			}
			return errors.New("nothing to drop")
		}
	}
	anyRow := func([]byte, []byte) bool { return true }
	keyed := func(part string) func(k, v []byte) bool {
		return func(k, _ []byte) bool { return bytes.Contains(k, []byte(part)) }
	}
	change := func(edit func(map[string]any)) func(tx *bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("tasks"))
			record := bytes.Clone(b.Get(first))
			var fields map[string]any
			if err := json.Unmarshal(record[10:], &fields); err != nil {
				return err
			}
			edit(fields)
			raw, err := json.Marshal(fields)
			if err != nil {
				return err
			}
			return b.Put(first, append(record[:10], raw...))
		}
	}
	attempt := func(member string, value any) func(map[string]any) {
		return func(fields map[string]any) { fields["attempts"].([]any)[0].(map[string]any)[member] = value }
	}
	for _, tt := range []struct {
		name, want string
		damage     func(tx *bolt.Tx) error
	}{
		{"a task is gone from the listing", "it isn't in the listing of its account", drop("by_scope", keyed(string(first)))},
		{"a task is gone", "the listing leads to it, and it isn't there", drop("tasks", keyed(string(first)))},
		{"a task is gone from the queue", "its row in the queue isn't there, or says otherwise", drop("open", anyRow)},
		{"an ended task is in the queue", "the queue leads to it, and it isn't there or has ended", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("open")).Put(first, []byte("x"))
		}},
		{"an idempotency key is gone", "its idempotency key doesn't lead to it", drop("idem_log", anyRow)},
		{"an idempotency key leads to another task", "another idempotency key leads to it", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("idem_log")).Put([]byte("zzzzzzzz"), append(bytes.Repeat([]byte{7}, 16), second...))
		}},
		{"a counter holds more than was taken", "7 held of open, open tasks took 0", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("holds")).Put([]byte("open\x00key:other"), []byte{0, 0, 0, 0, 0, 0, 0, 7})
		}},
		{"a counter is gone", "nothing held of queue, open tasks took 4", drop("holds", keyed("queue\x00"))},
		{"a budget holds less than was taken", "open tasks took 4000", func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("holds"))
			for _, tt := range old.Tasks {
				if !tt.State.Terminal() {
					key := []byte("budget\x00" + tt.Holds[len(tt.Holds)-1].Scope)
					return b.Put(key, append(make([]byte, 8), b.Get(key)[8:]...))
				}
			}
			return errors.New("no open task")
		}},
		{"an end is gone", "nothing leads to the end of the budget counter", drop("hold_ends", anyRow)},
		{"an end leads nowhere", "its row says otherwise", drop("holds", keyed(":2026-10"))},
		{"a record can't be read", "not a record of this version", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("tasks")).Put(first, []byte("garbage"))
		}},
		{"a record is another's", "its record begins with another id", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("tasks")).Put(first, bytes.Clone(tx.Bucket([]byte("tasks")).Get(second)))
		}},
		{"an ended task has an open attempt", "attempt 1 of a succeeded task was left intent", change(attempt("state", "intent"))},
		{"an attempt has another number", "attempt 1 is number 2, ok", change(attempt("n", 2))},
		{"a move that isn't allowed", "it moved from queued to transferring", change(func(fields map[string]any) {
			moves := fields["timeline"].([]any)
			fields["timeline"] = append(moves[:1:1], moves[2:]...)
		})},
		{"an input that wasn't erased", "it has ended and still holds something", change(func(fields map[string]any) {
			fields["input"] = map[string]any{}
		})},
		{"a key's hash is gone", "19 rows for 20 keys", drop("keys_by_hash", anyRow)},
		{"an account is gone", "its account isn't there", drop("accounts", anyRow)},
		{"sums can't be read", "sums of another form", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("usage")).Put([]byte("kacct_1\x00\x00\x00\x00\x07live\x00text.chat\x00key_1"), []byte{1, 0x80})
		}},
		{"sums of nobody", "sums of another form", func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("usage")).Put([]byte("k"), []byte{1})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "unitask.db")
			if err := os.WriteFile(path, image, 0o600); err != nil {
				t.Fatal(err)
			}
			b, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.Update(tt.damage), b.Close()); err != nil {
				t.Fatal(err)
			}
			report := mustCheck(t, path, boltstore.CheckConfig{})
			if !slices.ContainsFunc(report.Findings, func(f boltstore.Finding) bool { return strings.Contains(f.Problem, tt.want) }) {
				t.Errorf("got %+v, want %q among it", report.Findings, tt.want)
			}
			stays := slices.Contains(beyondRepair, tt.name)
			done, err := boltstore.Repair(t.Context(), path)
			if said := len(done.Lost)+len(done.Mended) > 0; err != nil || !said && !stays {
				t.Errorf("Repair: got %+v, %v", done, err)
			}
			if report := mustCheck(t, path, boltstore.CheckConfig{}); len(report.Findings) > 0 != stays {
				t.Errorf("after the repair: %+v", report.Findings)
			}
		})
	}
}

func TestCheckFindsDamagedPages(t *testing.T) {
	path, _ := mustUpgrade(t)
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(image, []byte(`"prompt"`)) // in a leaf page, whose head is damaged
	for i := range 16 {
		image[at/4096*4096+i] ^= 0xff
	}
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if report := mustCheck(t, path, boltstore.CheckConfig{}); len(report.Findings) == 0 {
		t.Error("a damaged page isn't found")
	}
	if err := os.Truncate(path, int64(at)); err != nil {
		t.Fatal(err)
	}
	if _, err := boltstore.OpenOffline(path); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("a file that was cut short: %v", err)
	}
}

// TestCheckAsksForFiles asks for each file of a success that hasn't expired.
func TestCheckAsksForFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unitask.db")
	db := mustOpen(t, boltstore.Config{Path: path})
	kept := task.Artifact{ID: "art_kept", Bytes: 3, ExpiresAt: afterOldStore.Add(time.Second)}
	gone := task.Artifact{ID: "art_gone", Bytes: 3, ExpiresAt: afterOldStore}
	id := mustSucceed(t, db, task.Output{Files: []task.Artifact{kept, gone}})
	n := freshTask()
	n.Input, n.InputRef = nil, "in_1"
	if _, err := db.CreateTask(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	held := freshTask()
	held.Input, held.InputRef, held.Sync = nil, "in_2", true
	if _, err := db.CreateTask(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	missing := errors.New("it isn't there")
	report := mustCheck(t, path, boltstore.CheckConfig{
		File: func(a task.Artifact) error {
			if diff := cmp.Diff(kept, a); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			return missing
		},
		Input: func(ref string) error { return errors.New(ref + " neither") },
	})
	want := []boltstore.Finding{
		{Subject: id, Problem: "file art_kept: it isn't there"},
		{Subject: n.ID, Problem: "input in_1: in_1 neither"},
	}
	// They come in the order of the tasks, which is chance within a millisecond.
	slices.SortFunc(want, func(a, b boltstore.Finding) int { return strings.Compare(a.Subject, b.Subject) })
	if diff := cmp.Diff(want, report.Findings); diff != "" || report.Files != 2 {
		t.Errorf("%d files; findings (-want +got):\n%s", report.Files, diff)
	}
}

// mustSucceed makes a task that ended with the output, and returns its id.
func mustSucceed(t *testing.T, db *boltstore.DB, out task.Output) string {
	t.Helper()
	n := freshTask()
	n.First = &store.First{Node: testNode, Plans: []task.Plan{{Supplier: "s", Model: "m"}}}
	made, err := db.CreateTask(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Advance(t.Context(), made.Lease.Ref, store.Step{
		Close: &task.Closing{State: task.OK}, Moves: []task.Transition{task.Transfer(), task.Succeed(out, task.Usage{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.Task.ID
}
