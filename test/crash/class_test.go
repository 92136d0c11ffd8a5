package crash_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestClasses kills the server in the middle of a submission to a supplier of each class. The next step depends on
// the supplier: the same submission again, a look for it, or none until the caller asks.
func TestClasses(t *testing.T) {
	const slow = `{"capability":"text.chat","input":{"prompt":"hello @slow:1s %s"}}`
	first := func(state task.AttemptState) []task.AttemptState { return []task.AttemptState{state} }
	for name, tt := range map[string]struct {
		word     string
		supplier string
		want     []task.AttemptState // by the service alone
		code     fault.Code
		retried  []task.AttemptState // after its caller's retry
	}{
		"honours a key":     {"", "sandbox-a", first(task.OK), "", first(task.OK)},
		"can be looked up":  {"@class:findable", "sandbox-findable", first(task.OK), "", first(task.OK)},
		"neither":           {"@class:neither", "sandbox-neither", first(task.UnknownOutcome), fault.ProviderTimeout, []task.AttemptState{task.UnknownOutcome, task.OK}},
		"can't be told yet": {"@class:findable @unknown", "sandbox-findable", first(task.OK), "", first(task.OK)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewServer(t)
			s.Start()
			key, body := s.MustNewKey(task.Test), fmt.Sprintf(slow, tt.word)
			id := mustCreate(t, s, key, "class-0001", body)
			if strings.Contains(tt.word, "@unknown") {
				end(t, s, id)
				mustRead(t, s, key, id)
				mustCreate(t, s, key, "class-0001", body)
			}
			if strings.Contains(tt.word, "findable") {
				s.Until(time.Minute, "the supplier has it", func() bool {
					kept, _ := filepath.Glob(filepath.Join(s.Data(), "sandbox", "*"))
					return slices.ContainsFunc(kept, func(name string) bool { return filepath.Ext(name) == "" }) // else it is being written
				})
			}
			s.Kill()
			s.Start()
			got := end(t, s, id)
			expectAttempts(t, got, tt.supplier, tt.want, tt.code)
			mustRead(t, s, key, id)
			mustCreate(t, s, key, "class-0001", body)
			expectAttempts(t, end(t, s, id), tt.supplier, tt.retried, "")
		})
	}
}

// mustRead has the caller read the task, so that it knows how the task ended.
func mustRead(t *testing.T, s *harness.Server, key, id string) {
	t.Helper()
	got, err := s.Send(t.Context(), harness.Request{Method: http.MethodGet, Path: api.PathTasks + "/" + id, Key: key})
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("%d %s %v", got.Status, got.Body, err)
	}
}

// end waits for the task's end and returns it as the operator reads it.
func end(t *testing.T, s *harness.Server, id string) (got api.AdminTask) {
	t.Helper()
	s.Until(time.Minute, "the task has ended", func() bool {
		var err error
		got, err = s.AdminTask(t.Context(), id)
		return err == nil && got.State.Terminal()
	})
	return got
}

func expectAttempts(t *testing.T, got api.AdminTask, supplier string, want []task.AttemptState, code fault.Code) {
	t.Helper()
	var states []task.AttemptState
	for _, a := range got.Attempts {
		states = append(states, a.State)
		if a.Supplier != supplier {
			t.Errorf("attempt %d went to %s, want %s", a.N, a.Supplier, supplier)
		}
	}
	if fmt.Sprint(states) != fmt.Sprint(want) || got.Code != code {
		t.Errorf("the task ended with %v and code %q, want %v and %q", states, got.Code, want, code)
	}
}
