package mcp_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/journal"
	"unitask/internal/task"
)

const key = "svc_test_0000000000000000000000000000fake"

// fake is a service in memory. A task ends after takes; its output is the test's.
type fake struct {
	mu      sync.Mutex
	entries []api.Capability
	takes   time.Duration
	output  api.Output
	failure *fault.Error // of a task
	refuse  *fault.Error // of a submission
	away    bool         // no listener
	silent  bool         // no answer to a submission
	files   map[string][]byte
	created []api.CreateRequest
	keys    []string
	made    time.Time
	journal *journal.Journal // of whoever asks
	seen    []string         // what it held at each request
	ended   bool
}

func newFake(t testing.TB) *fake {
	t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{files: map[string][]byte{}}
	for _, c := range directory.All() {
		f.entries = append(f.entries, api.FromCapability(c, task.Price{Unit: task.PerImage, Output: task.USD / 100}))
	}
	return f
}

// artifact adds a file.
func (f *fake) artifact(contentType string, size int) api.Artifact {
	raw := bytes.Repeat([]byte{7}, size)
	sum := sha256.Sum256(raw)
	id := fmt.Sprintf("art_%d", len(f.files)+1)
	f.files["/artifacts/"+id] = raw
	return api.Artifact{
		ID: id, URL: "http://service/artifacts/" + id + "?a=1&sig=x", ContentType: contentType, Bytes: int64(size), SHA256: hex.EncodeToString(sum[:]),
	}
}

// RoundTrip answers in the place of a network.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.look(r.Method)
	away, silent := f.away, f.silent && r.Method == http.MethodPost
	f.mu.Unlock()
	switch {
	case away:
		return nil, errors.New("connection refused")
	case silent:
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	f.serve(w, r)
	return w.Result(), nil
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if raw, ok := f.files[r.URL.Path]; ok {
		_, _ = w.Write(raw)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+key {
		refuse(w, fault.New(fault.Unauthenticated, "the API key is missing or not valid"))
		return
	}
	switch {
	case r.URL.Path == api.PathCapabilities:
		answer(w, http.StatusOK, api.CapabilityList{Data: f.entries, RequestID: "req_1"})
	case r.URL.Path == api.PathTasks:
		f.create(w, r)
	case strings.HasSuffix(r.URL.Path, "/cancel"):
		f.ended = true
		answer(w, http.StatusOK, f.task(task.Canceled))
	case strings.HasPrefix(r.URL.Path, api.PathTasks+"/task_1"):
		f.get(w)
	default:
		refuse(w, fault.New(fault.NotFound, "there is no such task"))
	}
}

func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	var req api.CreateRequest
	if json.NewDecoder(r.Body).Decode(&req) != nil {
		refuse(w, fault.Invalid("body", "is no JSON"))
		return
	}
	f.created = append(f.created, req)
	f.keys = append(f.keys, r.Header.Get(api.HeaderIdempotencyKey))
	if f.refuse != nil {
		refuse(w, f.refuse)
		return
	}
	f.made = time.Now()
	f.get(w)
}

func (f *fake) get(w http.ResponseWriter) {
	switch passed := time.Since(f.made); {
	case f.ended:
		answer(w, http.StatusOK, f.task(task.Canceled))
	case passed < f.takes:
		t := f.task(task.Running)
		t.Progress = new(float64(passed) / float64(f.takes))
		w.Header().Set("Retry-After", "2")
		w.Header().Set("ETag", fmt.Sprintf(`W/"%d"`, passed))
		answer(w, http.StatusAccepted, t)
	case f.failure != nil:
		t := f.task(task.Failed)
		t.Error = new(api.ErrorOf(f.failure))
		answer(w, http.StatusOK, t)
	default:
		t := f.task(task.Succeeded)
		t.Output, t.Usage = &f.output, &api.Usage{Cost: api.Cost{Currency: "USD", Amount: "0.01"}}
		answer(w, http.StatusOK, t)
	}
}

func (f *fake) task(s task.State) api.Task {
	return api.Task{ID: "task_1", Capability: "image.generate", Mode: task.Test, State: s, RequestID: "req_2"}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, e *fault.Error) {
	answer(w, api.Status(e), api.ErrorResponse{Error: api.ErrorOf(e), TaskID: e.TaskID, RequestID: "req_3"})
}
