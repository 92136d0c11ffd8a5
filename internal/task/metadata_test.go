package task_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
)

func mustWrite(t *testing.T, one task.Task) []byte {
	t.Helper()
	w := jsonwrite.New(1024)
	one.Write(w)
	record, err := w.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// TestRecordWithoutMetadata: the record of a task without metadata is what it was before there was any.
func TestRecordWithoutMetadata(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	one := task.Task{
		ID: "task_1", Scope: task.Scope{Account: "acct_1", Mode: task.Live}, KeyID: "key_1", Capability: "text.chat", Sync: true,
		State: task.Queued, Revision: 1, Timeline: []task.Move{{State: task.Queued, At: at}}, CreatedAt: at, UpdatedAt: at,
		DeadlineAt: at.Add(time.Hour), Input: []byte(`{"prompt":"hi"}`), Parameters: []byte(`{}`),
		Price: task.Price{Unit: task.PerImage, Output: 3}, Reserved: 10,
	}
	const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	const want = `{"id":"task_1","scope":{"account":"acct_1","mode":"live"},"key_id":"key_1","capability":"text.chat","sync":true,` +
		`"state":"queued","rev":1,"timeline":[{"state":"queued","at":"2026-11-21T08:00:00Z"}],"created_at":"2026-11-21T08:00:00Z",` +
		`"updated_at":"2026-11-21T08:00:00Z","deadline_at":"2026-11-21T09:00:00Z","idem":"` + zeros + `","fingerprint":"` + zeros + `",` +
		`"input":{"prompt":"hi"},"parameters":{},"price":{"unit":"image","input":0,"output":3},"reserved":10}`
	if got := mustWrite(t, one); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	one.Metadata = task.Metadata{}
	if got := mustWrite(t, one); string(got) != want {
		t.Errorf("with empty metadata: got  %s\nwant %s", got, want)
	}
}

// TestPairsStandInTheRecord: each pair of a task's metadata is found in the beginning of its record, however large it is.
func TestPairsStandInTheRecord(t *testing.T) {
	largest := task.Metadata{}
	for i := range catalog.MaxMetadata {
		name := strings.Repeat("n", catalog.MaxMetadataName-2) + fmt.Sprintf("%02d", i)
		largest[name] = strings.Repeat("🦊", catalog.MaxMetadataText-1) + `"`
	}
	id := task.NewID(task.PrefixTask, time.Now())
	for _, m := range []task.Metadata{largest, {"team": "search"}, {"a": "<&> \u2028 \\ \"b\":\"c\"", "b": "", "c": "\u00e9"}} {
		if rows := catalog.MetadataRows(m); rows != nil {
			t.Fatal(rows)
		}
		record := mustWrite(t, task.Task{
			ID: id, Scope: task.Scope{Account: id, Mode: task.Live}, KeyID: id, Capability: strings.Repeat("c", 128), Sync: true,
			Metadata: m, Input: bytes.Repeat([]byte(" "), task.MetadataEnd),
		})
		for _, pair := range m.Pairs() {
			if !bytes.Contains(record[:task.MetadataEnd], pair) {
				t.Errorf("%.40s isn't in the beginning of %.200s", pair, record)
			}
		}
	}
}

func TestMetadataHas(t *testing.T) {
	m := task.Metadata{"team": "search", "user": ""}
	for _, tt := range []struct {
		want task.Metadata
		has  bool
	}{
		{nil, true},
		{task.Metadata{"team": "search"}, true},
		{task.Metadata{"user": ""}, true},
		{task.Metadata{"team": "search", "user": ""}, true},
		{task.Metadata{"team": "Search"}, false},
		{task.Metadata{"teams": "search"}, false},
		{task.Metadata{"none": ""}, false},
		{task.Metadata{"team": "search", "user": "1"}, false},
	} {
		if got := m.Has(tt.want); got != tt.has {
			t.Errorf("%v has %v: %v, want %v", m, tt.want, got, tt.has)
		}
	}
}
