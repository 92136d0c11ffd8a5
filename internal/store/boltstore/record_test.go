package boltstore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

func sampleTask(t testing.TB) task.Task {
	t.Helper()
	now := time.Date(2026, 11, 21, 8, 0, 0, 123, time.UTC)
	sample, err := freshTask().Record(now)
	if err != nil {
		t.Fatal(err)
	}
	if sample, err = sample.Apply(task.Start(), now); err != nil {
		t.Fatal(err)
	}
	sample = sample.BeginAttempt(task.Plan{Supplier: "s", Caps: []task.Cap{{Key: "supplier:s", Limit: 2}}}, now)
	sample, _ = sample.MarkSubmitted(json.RawMessage(`{"job":"<1>"}`), now)
	sample.Failure = &task.Failure{Code: fault.ProviderTimeout, Message: "too late", Retryable: true, RetryAfter: 2 * time.Second}
	return sample
}

// FuzzRecord: whatever decodes encodes to bytes that decode to the same, as encoding/json reads and writes it too.
func FuzzRecord(f *testing.F) {
	sample := sampleTask(f)
	record, err := boltstore.EncodeTask(nil, &sample)
	if err != nil {
		f.Fatal(err)
	}
	got, err := boltstore.DecodeTask(record)
	if diff := cmp.Diff(sample, got); diff != "" || err != nil {
		f.Fatalf("the sample (%v, -want +got):\n%s", err, diff)
	}
	f.Add(record)
	f.Add([]byte{})
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte("\x01\x06\x00\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, record []byte) {
		first, err := boltstore.DecodeTask(record)
		if err != nil {
			if !errors.Is(err, boltstore.ErrRecord) {
				t.Fatalf("got %v, want ErrRecord", err)
			}
			return
		}
		again, err := boltstore.EncodeTask(nil, &first)
		if err != nil || !first.State.Valid() {
			return // a state or a time that no engine writes
		}
		second, err := boltstore.DecodeTask(again)
		if err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		var standard task.Task
		if err := json.Unmarshal(again[boltstore.HeadSize:], &standard); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(standard, second); diff != "" {
			t.Fatalf("decoded otherwise than by encoding/json (-want +got):\n%s", diff)
		}
		third, err := boltstore.EncodeTask(nil, &second)
		if err != nil || !bytes.Equal(again, third) {
			t.Fatalf("encoded again (%v): got %q, want %q", err, third, again)
		}
	})
}

// FuzzID: an id has one row and a row one id, and rows sort as their ids do.
func FuzzID(f *testing.F) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	a, b := task.NewID(task.PrefixTask, now), task.NewID(task.PrefixTask, now.Add(time.Millisecond))
	f.Add(a, b)
	f.Add(a, a[:len(a)-1]+"1")
	f.Add("task_00000000000000000000000000", "task_zzzzzzzzzzzzzzzzzzzzzzzzzz")
	f.Fuzz(func(t *testing.T, a, b string) {
		rowA, again, okA := boltstore.RowID(a)
		if okA && again != a {
			t.Fatalf("%q is spelled %q from its row", a, again)
		}
		rowB, _, okB := boltstore.RowID(b)
		if okA && okB && bytes.Compare(rowA, rowB) != bytes.Compare([]byte(a), []byte(b)) {
			t.Fatalf("%q and %q sort otherwise than their rows", a, b)
		}
	})
	for range 1000 {
		if id := task.NewID(task.PrefixTask, now); !validRow(id) {
			f.Fatalf("%q has no row", id)
		}
	}
}

func validRow(id string) bool {
	_, again, ok := boltstore.RowID(id)
	return ok && again == id
}
