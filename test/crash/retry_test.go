package crash_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
	"unitask/test/harness"
)

// TestRetryWithoutAnAnswer kills the server while a chat is at the supplier and sends the same POST again, as a
// client does that never got an answer. It learns the outcome and pays once; the POST after that is a retry.
func TestRetryWithoutAnAnswer(t *testing.T) {
	paid, s := harness.NewSupplier(t), harness.NewServer(t)
	s.Config = paid.Config()
	s.Start()
	request := harness.Request{
		Method: http.MethodPost, Path: api.PathTasks, Key: s.MustNewKey(task.Live), Body: `{"capability":"text.chat","input":{"prompt":"hello"}}`,
		Header: map[string]string{api.HeaderIdempotencyKey: "unanswered-1"},
	}
	release := paid.Hold()
	unanswered := make(chan error, 1)
	go func() {
		_, err := s.Send(t.Context(), request)
		unanswered <- err
	}()
	s.Until(time.Minute, "the supplier has the submission", func() bool { return len(paid.Sent()) == 1 })
	ids, err := s.List(t.Context(), request.Key)
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	s.Kill()
	if err := <-unanswered; err == nil {
		t.Fatal("the request was answered before the kill")
	}
	release()
	s.Start()
	end(t, s, ids[0])
	for _, want := range []struct {
		what        string
		status      int
		replayed    bool
		submissions int
	}{
		{"the client's own repetition", http.StatusGatewayTimeout, true, 1},
		{"the retry of one that was told", http.StatusOK, false, 2},
		{"a repetition after that", http.StatusOK, true, 2},
	} {
		got, err := s.Send(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if replayed := got.Header.Get(api.HeaderIdempotentReplay) == "true"; got.Status != want.status || replayed != want.replayed {
			t.Errorf("%s: %d, replayed %v, want %+v\n%s", want.what, got.Status, replayed, want, got.Body)
		}
		var e api.ErrorResponse
		if err := json.Unmarshal(got.Body, &e); err != nil {
			t.Fatal(err)
		}
		if want.status == http.StatusGatewayTimeout &&
			(e.Error.Code != fault.ProviderTimeout || !e.Error.Retryable || e.TaskID == "" || got.Header.Get("Retry-After") == "") {
			t.Errorf("%s: %+v %v", want.what, e, got.Header)
		}
		if n := len(paid.Sent()); n != want.submissions {
			t.Errorf("%s: %d submissions, want %d", want.what, n, want.submissions)
		}
	}
}
