package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// TestFailureIsShownBeforeAReopening creates tasks whose caller isn't told that they failed with an unknown
// outcome. A POST reopens one only after an answer that carries the failure; else it gets the failure itself.
func TestFailureIsShownBeforeAReopening(t *testing.T) {
	w := newWorld(t, options{})
	other := w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*"}})
	read := func(method, path string, change ...func(*request)) func(key, id, body string) response {
		return func(_, id, _ string) response {
			r := request{method: method, path: fmt.Sprintf(path, id), key: w.test, header: map[string]string{}}
			for _, c := range change {
				c(&r)
			}
			return w.do(r)
		}
	}
	const one, list = api.PathTasks + "/%s", api.PathTasks + "?limit=200%.0s"
	for name, tt := range map[string]struct {
		answer func(key, id, body string) response // to the caller, before the POST
		shows  bool
	}{
		"none":                 {func(string, string, string) response { return response{} }, false},
		"POST":                 {func(key, _, body string) response { return w.post(key, body) }, true},
		"POST for a stream":    {func(key, _, body string) response { return w.post(key, body, streamed) }, true},
		"another request":      {func(key, _, _ string) response { return w.post(key, chat("another")) }, false},
		"GET":                  {read(http.MethodGet, one), true},
		"GET that waits":       {read(http.MethodGet, one, with("Prefer", "wait=5")), true},
		"GET of a stream":      {read(http.MethodGet, one, streamed), true},
		"GET of the list":      {read(http.MethodGet, list), true},
		"POST of a cancel":     {read(http.MethodPost, one+"/cancel"), true},
		"GET of another node":  {read(http.MethodGet, one, streamed, with("Unitask-Relay", "1")), false},
		"HEAD":                 {read(http.MethodHead, one), false},
		"HEAD of the list":     {read(http.MethodHead, list), false},
		"GET that finds 304":   {read(http.MethodGet, one, with("If-None-Match", "*")), false},
		"GET of the timeline":  {read(http.MethodGet, one+"/timeline"), false},
		"GET out of the scope": {read(http.MethodGet, one, by(other)), false},
		"list out of scope":    {read(http.MethodGet, list, by(other)), false},
	} {
		t.Run(name, func(t *testing.T) {
			body := chat("say hello @unknown " + name)
			key, id := w.unshown(t, name, body)
			tt.answer(key, id, body)
			if !tt.shows {
				got := w.post(key, body)
				e := got.error(t)
				if got.StatusCode != http.StatusGatewayTimeout || got.Header.Get(api.HeaderIdempotentReplay) != "true" ||
					got.Header.Get("Retry-After") == "" || e.Error.Code != fault.ProviderTimeout || !e.Error.Retryable || e.TaskID != id {
					t.Fatalf("before it was shown: %d %v %s", got.StatusCode, got.Header, got.body)
				}
			}
			got := w.post(key, body)
			if got.StatusCode != http.StatusOK || got.Header.Get(api.HeaderIdempotentReplay) != "" || got.task(t).ID != id {
				t.Errorf("once it was shown: %d %v %s", got.StatusCode, got.Header, got.body)
			}
		})
	}
}

// TestFailureIsShownToWhoHangsUpThen: a program that reads the failure and ends, as curl does, was told: its next run
// is a retry.
func TestFailureIsShownToWhoHangsUpThen(t *testing.T) {
	w := newWorld(t, options{})
	for n := range 50 {
		body := chat(fmt.Sprint("say hello @unknown ", n))
		key, _ := w.unshown(t, "curl", body)
		c := w.dial(t)
		if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Idempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s", api.PathTasks, w.test, key, len(body), body); err != nil {
			t.Fatal(err)
		}
		if got := c.answer(); got.status != http.StatusGatewayTimeout {
			t.Fatalf("the failure: %d", got.status)
		}
		_ = c.Close()
		if got := w.post(key, body); got.StatusCode != http.StatusOK || got.Header.Get(api.HeaderIdempotentReplay) != "" {
			t.Fatalf("run %d, the retry: %d %v %s", n, got.StatusCode, got.Header, got.body)
		}
	}
}

// unshown creates a task that fails without an answer to its caller, and returns its key and id.
func (w *world) unshown(t *testing.T, name, body string) (key, id string) {
	t.Helper()
	for n := 0; ; n++ {
		key = fmt.Sprintf("unshown %s %d", name, n)
		got := w.post(key, body, with("Prefer", "wait=0"))
		if got.StatusCode == http.StatusAccepted { // else it had failed by then
			id = got.task(t).ID
			w.failed(t, id)
			return key, id
		}
	}
}

// failed waits until the task has failed, without an answer to its caller.
func (w *world) failed(t *testing.T, id string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		got, err := w.Operator.Task(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got.State == task.Failed {
			return
		}
	}
	t.Fatalf("%s doesn't fail", id)
}

// TestShownFailureAsynchronous: the failed task of an asynchronous capability is answered 200 with the Task,
// which shows it.
func TestShownFailureAsynchronous(t *testing.T) {
	w := newWorld(t, options{})
	id := w.post("shown-async", image("@unknown")).task(t).ID
	w.failed(t, id)
	replay := w.post("shown-async", image("@unknown"))
	if got := replay.task(t); replay.StatusCode != http.StatusOK || replay.Header.Get(api.HeaderIdempotentReplay) != "true" ||
		got.State != task.Failed || !got.Error.Retryable {
		t.Errorf("the failure: %d %s", replay.StatusCode, replay.body)
	}
	again := w.post("shown-async", image("@unknown"))
	if got := again.task(t); again.StatusCode != http.StatusAccepted || again.Header.Get(api.HeaderIdempotentReplay) != "" || got.ID != id {
		t.Errorf("the retry: %d %s", again.StatusCode, again.body)
	}
}
