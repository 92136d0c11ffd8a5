package node

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

// TestAskRequests: a request's record ends the question, those of a task are waited for, and who gave none is named.
func TestAskRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		has := &Node{log: slog.New(slog.DiscardHandler)}
		id := task.NewID(task.PrefixRequest, time.Now())
		answer := func(context.Context, string) json.RawMessage {
			raw, err := json.Marshal(requestsFound{Requests: []requestlog.Entry{{ID: id}}})
			if err != nil {
				t.Error(err)
			}
			return raw
		}
		n := &Node{desk: inquiry.New(inquiry.Config{Name: "asks", AnswerFunc: has.answerRequests})}
		desks := map[string]*inquiry.Desk{
			"asks": n.desk, "empty": inquiry.New(inquiry.Config{Name: "empty", AnswerFunc: has.answerRequests}),
			"has": inquiry.New(inquiry.Config{Name: "has", AnswerFunc: answer}),
		}
		for _, d := range desks {
			all.Go(func() { d.Run(ctx) })
		}
		all.Go(func() {
			notes := map[string]inquiry.Said{"hangs": {Name: "hangs"}}
			for ctx.Err() == nil {
				for name, d := range desks {
					delete(notes, name)
					own := d.Say(24 << 10)
					d.Hear(notes)
					notes[name] = own
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		synctest.Wait()
		for one, want := range map[bool][]string{true: nil, false: {"hangs"}} {
			start := time.Now()
			found, incomplete := n.askRequests(ctx, id, one)
			if took := time.Since(start); len(found) != 1 || one != (took < time.Second) {
				t.Errorf("one %v: %d found after %s", one, len(found), took)
			}
			if diff := cmp.Diff(want, incomplete); diff != "" {
				t.Errorf("one %v: incomplete (-want +got):\n%s", one, diff)
			}
		}
	})
}
