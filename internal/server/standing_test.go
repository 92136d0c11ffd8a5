package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestSuspendedAccount: no request by a key of a suspended account is answered or makes a task, an accepted task is done
// all the same, and the same key reads it once the account is resumed.
func TestSuspendedAccount(t *testing.T) {
	w := newWorld(t, options{})
	ctx := t.Context()
	accepted := w.post("accepted-0001", image("@slow:1s a fox")).task(t)
	if accepted.State.Terminal() {
		t.Fatalf("the task is %s at once", accepted.State)
	}
	fixture.Must(w.Operator.SuspendAccount(ctx, "default"))(t)
	for name, got := range map[string]response{
		"a creation":   w.post("suspended-0001", chat("hello")),
		"a replay":     w.post("accepted-0001", image("@slow:1s a fox")),
		"a read":       w.do(request{path: api.PathTasks + "/" + accepted.ID, key: w.test}),
		"a list":       w.do(request{path: api.PathTasks, key: w.test}),
		"capabilities": w.do(request{path: api.PathCapabilities, key: w.live}),
		"a cancel":     w.do(request{method: http.MethodPost, path: api.PathTasks + "/" + accepted.ID + "/cancel", key: w.test}),
	} {
		e := got.error(t)
		if got.StatusCode != http.StatusUnauthorized || e.Error.Code != fault.Unauthenticated || e.Error.Retryable || !strings.Contains(e.Error.Message, "suspended") {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	if got := w.post("suspended-0001", chat("hello"), by(w.otherAccountsKey())); got.StatusCode != http.StatusOK {
		t.Errorf("another account: %d %s", got.StatusCode, got.body)
	}
	for fixture.Must(w.Operator.Task(ctx, accepted.ID))(t).State != task.Succeeded {
		select {
		case <-ctx.Done():
			t.Fatal("the accepted task isn't done")
		case <-time.After(20 * time.Millisecond):
		}
	}
	fixture.Must(w.Operator.ResumeAccount(ctx, "default"))(t)
	if got := w.end(w.test, accepted.ID); got.State != task.Succeeded {
		t.Errorf("the accepted task is %s", got.State)
	}
	if got := w.post("suspended-0001", chat("hello")); got.StatusCode != http.StatusOK || got.Header.Get(api.HeaderIdempotentReplay) != "" {
		t.Errorf("the refused request left a trace: %d %s", got.StatusCode, got.body)
	}
}
