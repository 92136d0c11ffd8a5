package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/harness"
)

// takeovers is the setting's default.
const takeovers = 5

// TestPoison kills the server as soon as it has taken up one task again, as a task does whose work ends
// the process. After five times the task is given up; the server lives, and its caller may try again.
func TestPoison(t *testing.T) {
	s := harness.NewServer(t)
	s.Start()
	key := s.MustNewKey(task.Test)
	id := mustCreate(t, s, key, "poison-01", `{"capability":"text.chat","input":{"prompt":"hello @slow:1h"}}`)
	for n := range takeovers {
		s.Kill()
		s.Start()
		s.Until(time.Minute, fmt.Sprintf("takeover %d is counted", n+1), func() bool {
			got, err := s.AdminTask(t.Context(), id)
			return err == nil && got.Takeovers == n+1
		})
	}
	s.Kill()
	s.Start()
	var got api.AdminTask
	s.Until(time.Minute, "the task is given up", func() bool {
		var err error
		got, err = s.AdminTask(t.Context(), id)
		return err == nil && got.State.Terminal()
	})
	a := got.Attempts[len(got.Attempts)-1]
	if got.State != task.Failed || got.Code != fault.Internal || len(got.Attempts) != 1 ||
		a.State != task.UnknownOutcome || !strings.HasSuffix(a.Reason, "; given up after 5 takeovers in a row") {
		t.Errorf("the task is %s with %s and %+v", got.State, got.Code, got.Attempts)
	}
	again := mustCreate(t, s, key, "poison-02", `{"capability":"text.chat","input":{"prompt":"hello"}}`)
	s.Until(time.Minute, "another task is done", func() bool {
		got, err := s.AdminTask(t.Context(), again)
		return err == nil && got.State == task.Succeeded
	})
}

// mustCreate creates a task without waiting for it and returns its id.
func mustCreate(t *testing.T, s *harness.Server, key, idempotency, body string) string {
	t.Helper()
	reply, err := s.Send(t.Context(), harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: key, Body: body,
		Header: map[string]string{api.HeaderIdempotencyKey: idempotency, "Prefer": "wait=0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID     string `json:"id"`
		Failed string `json:"task_id"` // of one that ended before it was answered
	}
	if err := json.Unmarshal(reply.Body, &got); err != nil || got.ID+got.Failed == "" {
		t.Fatalf("%d %s", reply.Status, reply.Body)
	}
	return got.ID + got.Failed
}
