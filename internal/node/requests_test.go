package node

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/inquiry"
	"unitask/internal/requestlog"
	"unitask/internal/task"
)

// TestAnswerHasRoom: what a node tells another of its request log is whole, or the oldest part that an answer holds.
func TestAnswerHasRoom(t *testing.T) {
	log, err := requestlog.Open(requestlog.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	n := &Node{requests: log, log: slog.New(slog.DiscardHandler)}
	now := time.Now().UTC().Truncate(time.Millisecond)
	few, many := task.NewID(task.PrefixTask, now), task.NewID(task.PrefixTask, now)
	var want []requestlog.Entry
	for i := range 300 {
		e := requestlog.Entry{
			ID: task.NewID(task.PrefixRequest, now), At: now.Add(time.Duration(i) * time.Millisecond), KeyID: "key_1", Account: "acct_1",
			TaskID: many, Method: "GET", Route: "/" + strings.Repeat("r", 60), Status: 200, Took: time.Millisecond,
		}
		if i < 3 {
			e.TaskID = few
			want = append(want, e)
		}
		log.Add(e)
	}
	read := func(id string) (out requestsFound) {
		raw := n.answerRequests(t.Context(), id)
		if err := json.Unmarshal(raw, &out); err != nil || len(raw) > inquiry.MostAnswer {
			t.Errorf("%d bytes, %v", len(raw), err)
		}
		return out
	}
	if diff := cmp.Diff(requestsFound{Requests: want}, read(few)); diff != "" {
		t.Errorf("a whole answer (-want +got):\n%s", diff)
	}
	if got := read(many); !got.Cut || len(got.Requests) < 40 || !got.Requests[0].At.Equal(now.Add(3*time.Millisecond)) {
		t.Errorf("an answer that is cut: %v, %d requests", got.Cut, len(got.Requests))
	}
	n.requests = nil
	if got := read(few); got.Cut || len(got.Requests) > 0 {
		t.Errorf("without a log: %+v", got)
	}
}
