package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/sse"
	"unitask/internal/task"
)

const (
	fakeKey         = "svc_test_0000000000000000000000000000fake"
	fakeOperatorKey = "svc_operator_0000000000000000000000000000fake"
)

// fake is a service that speaks the API as far as the commands need it. Its tasks move one state a read;
// "@fail:CODE" and "@stuck" in a prompt have those effects, "@failjob:CODE" fails the task and "@flaky:job" does so
// once. "@lost:" breaks the first connection after the work, and "@quick:" ends the task at its first read. "@words:"
// is answered as a stream if one is wanted; "@cut:" breaks it off in the middle, "@away:" the first read after it too, and
// "@other:" streams another text than the task then has. "@short:" is answered with a text of 1,500 tokens that had no room for more.
type fake struct {
	*httptest.Server
	entries []catalog.Capability
	pixels  []byte
	mu      sync.Mutex
	tasks   []*fakeTask
}

type fakeTask struct {
	api.Task
	key    string
	prompt string
	images int
	tries  int
	missed bool // a read
	moves  []api.Move
}

func newFake(t testing.TB) *fake {
	t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{entries: directory.All(), pixels: bytes.Repeat([]byte("\x89PNG\r\n\x1a\n"), 128)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api.PathCapabilities, f.guard(f.capabilities))
	mux.HandleFunc("POST "+api.PathTasks, f.guard(f.create))
	mux.HandleFunc("GET "+api.PathTasks, f.guard(f.list))
	mux.HandleFunc("GET "+api.PathTasks+"/{id}", f.guard(f.onTask(f.get)))
	mux.HandleFunc("GET "+api.PathTasks+"/{id}/timeline", f.guard(f.onTask(f.timeline)))
	mux.HandleFunc("POST "+api.PathTasks+"/{id}/cancel", f.guard(f.onTask(f.cancel)))
	mux.HandleFunc("GET "+api.PathReady, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s came with a key", r.URL.Path)
		}
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET "+api.PathArtifacts, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s came with a key", r.URL.Path)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.pixels))
	})
	var admin http.Handler
	mux.HandleFunc("/admin/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+fakeOperatorKey {
			fail(w, fault.New(fault.Unauthenticated, "a valid operator key is required"))
			return
		}
		admin.ServeHTTP(w, r)
	})
	mux.HandleFunc("/off/admin/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, fault.New(fault.NotFound, "there is nothing at this path"))
	})
	mux.HandleFunc("/clear/admin/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, fault.New(fault.InvalidRequest, "an operator key is taken over TLS alone"))
	})
	f.Server = httptest.NewUnstartedServer(mux) // whose handlers read its address
	admin = newFakeAdmin("http://" + f.Listener.Addr().String())
	f.Start()
	return f
}

func (f *fake) guard(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(api.HeaderRequestID, "req_fake")
		if r.Header.Get("Authorization") != "Bearer "+fakeKey {
			fail(w, fault.New(fault.Unauthenticated, "the API key is missing or not valid"))
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		h(w, r)
	}
}

func (f *fake) capabilities(w http.ResponseWriter, _ *http.Request) {
	list := api.CapabilityList{RequestID: "req_fake"}
	for _, e := range f.entries {
		p := task.Price{Unit: task.PerImage, Output: task.USD / 100}
		if e.Modality == "text" {
			p = task.Price{Unit: task.PerMillionTokens, Input: task.USD / 20, Output: task.USD / 10}
		}
		list.Data = append(list.Data, api.FromCapability(e, p))
	}
	answer(w, http.StatusOK, list)
}

func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	var req api.CreateRequest
	var input struct {
		Prompt string
		Texts  []string
	}
	var parameters struct{ N int }
	if json.NewDecoder(r.Body).Decode(&req) != nil || json.Unmarshal(req.Input, &input) != nil {
		fail(w, fault.Invalid("body", "is no JSON"))
		return
	}
	_ = json.Unmarshal(req.Parameters, &parameters)
	key := r.Header.Get(api.HeaderIdempotencyKey)
	for _, known := range f.tasks {
		if known.key == key && known.prompt != input.Prompt {
			fail(w, fault.New(fault.IdempotencyConflict, "the key was used for another request").WithTask(known.ID))
			return
		}
		if known.key == key {
			if known.State == task.Failed {
				known.Error, known.FinishedAt = nil, nil
				known.move(task.Queued)
				f.begin(known)
			}
			w.Header().Set(api.HeaderIdempotentReplay, "true")
			f.answerTask(w, http.StatusOK, known)
			return
		}
	}
	if code, ok := strings.CutPrefix(input.Prompt, "@fail:"); ok {
		fail(w, fault.New(fault.Code(code), "the sandbox fails as asked").WithRetryAfter(time.Hour))
		return
	}
	made := &fakeTask{key: key, prompt: input.Prompt, images: max(parameters.N, 1)}
	made.ID = fmt.Sprintf("task_%d", len(f.tasks)+1)
	made.Capability, made.Mode, made.CreatedAt = req.Capability, task.Test, api.Timestamp{Time: time.Now().UTC()}
	f.tasks = append(f.tasks, made)
	made.move(task.Queued)
	f.begin(made)
	if strings.HasPrefix(req.Capability, "text.") && input.Prompt != "@stuck:running" {
		if r.Header.Get("Accept") == sse.ContentType && input.Prompt != "" && strings.Contains("@words: @cut: @away: @other:", strings.Fields(input.Prompt)[0]) {
			f.stream(w, made)
			return
		}
		f.finish(made, len(input.Texts))
		if strings.HasPrefix(input.Prompt, "@lost") {
			panic(http.ErrAbortHandler)
		}
		f.answerTask(w, http.StatusOK, made)
		return
	}
	f.answerTask(w, http.StatusAccepted, made)
}

// stream tells the task's text word by word.
func (f *fake) stream(w http.ResponseWriter, t *fakeTask) {
	w.Header().Set("Content-Type", sse.ContentType)
	t.move(task.Running)
	tell := func(name string, v any) {
		raw, _ := json.Marshal(v)
		_, _ = w.Write(sse.Append(nil, name, raw))
		_ = http.NewResponseController(w).Flush()
	}
	tell(api.EventTask, t.Task)
	words := strings.SplitAfter("you said: "+t.prompt, " ")
	cut := strings.HasPrefix(t.prompt, "@cut:") || strings.HasPrefix(t.prompt, "@away:")
	switch {
	case cut:
		words = words[:len(words)/2]
	case strings.HasPrefix(t.prompt, "@other:"):
		words = []string{"something ", "else"}
	}
	for _, word := range words {
		tell(api.EventDelta, api.Delta{Text: word})
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
	f.finish(t, 0)
	tell(api.EventTask, t.Task)
}

// begin ends a task at once that is to fail.
func (f *fake) begin(t *fakeTask) {
	if strings.HasPrefix(t.prompt, "@failjob:") || t.prompt == "@flaky:job" {
		f.finish(t, 0)
	}
}

func (t *fakeTask) move(to task.State) {
	t.State, t.UpdatedAt = to, api.Timestamp{Time: time.Now().UTC()}
	t.moves = append(t.moves, api.Move{State: to, At: t.UpdatedAt})
	if to.Terminal() {
		t.FinishedAt = &t.UpdatedAt
	}
}

func (f *fake) finish(t *fakeTask, vectors int) {
	t.tries++
	if t.prompt == "@failjob:PROVIDER_TIMEOUT" || t.prompt == "@flaky:job" && t.tries == 1 {
		t.Error = new(api.ErrorOf(fault.New(fault.ProviderTimeout, "the supplier didn't answer in time")))
		t.move(task.Failed)
		return
	}
	t.Usage = &api.Usage{Cost: api.Cost{Currency: "USD", Amount: "0.01"}}
	t.Output = &api.Output{}
	switch {
	case vectors > 0:
		for i := range vectors {
			t.Output.Embeddings = append(t.Output.Embeddings, []float32{float32(i), 0.5, -1})
		}
	case strings.HasPrefix(t.Capability, "text."):
		t.Output.Text = new("you said: " + t.prompt)
		if strings.HasPrefix(t.prompt, "@short:") {
			t.Output.FinishReason, t.Usage.OutputTokens = "length", 1500
		}
	default:
		sum := sha256.Sum256(f.pixels)
		for i := range t.images {
			t.Output.Images = append(t.Output.Images, api.Artifact{
				ID: fmt.Sprintf("art_%d", i+1), URL: fmt.Sprintf("%s/artifacts/art_%d?signature=x", f.URL, i+1), ContentType: "image/png",
				Bytes: int64(len(f.pixels)), SHA256: hex.EncodeToString(sum[:]), Width: new(64), Height: new(48),
			})
		}
	}
	t.move(task.Succeeded)
}

// get answers as the task is and then moves it on, so that each read meets another state.
func (f *fake) get(w http.ResponseWriter, t *fakeTask) {
	if strings.HasPrefix(t.prompt, "@away:") && !t.missed {
		t.missed = true
		panic(http.ErrAbortHandler)
	}
	if strings.HasPrefix(t.prompt, "@quick:") && !t.State.Terminal() {
		f.finish(t, 0)
	}
	f.answerTask(w, http.StatusOK, t)
	if t.prompt == "@stuck:running" && t.State == task.Running {
		return
	}
	switch t.State {
	case task.Queued:
		t.Progress = new(0.4)
		t.move(task.Running)
	case task.Running:
		t.move(task.Transferring)
	case task.Transferring:
		f.finish(t, 0)
	}
}

// has reports whether there is such a task.
func (f *fake) has(ok func(*fakeTask) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.tasks, ok)
}

func (f *fake) answerTask(w http.ResponseWriter, status int, t *fakeTask) {
	w.Header().Set("ETag", fmt.Sprintf(`W/"%d"`, len(t.moves)))
	if !t.State.Terminal() && !strings.HasPrefix(t.prompt, "@") { // scripts that order something don't wait
		w.Header().Set("Retry-After", "2")
	}
	shown := t.Task
	shown.RequestID = "req_fake"
	answer(w, status, shown)
}

func (f *fake) timeline(w http.ResponseWriter, t *fakeTask) {
	answer(w, http.StatusOK, api.Timeline{Data: t.moves, TaskID: t.ID, RequestID: "req_fake"})
}

func (f *fake) cancel(w http.ResponseWriter, t *fakeTask) {
	if !t.State.Terminal() {
		t.move(task.Canceled)
	}
	f.answerTask(w, http.StatusOK, t)
}

// list answers pages that look at two tasks, newest first: with a state they may be short or empty before the end.
func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	list := api.TaskList{Data: []api.Task{}, RequestID: "req_fake"}
	last := len(f.tasks) - 1
	if after := r.URL.Query().Get("cursor"); after != "" {
		last = slices.IndexFunc(f.tasks, func(t *fakeTask) bool { return t.ID == after }) - 1
	}
	for i := last; i >= 0; i-- {
		if i == last-2 {
			list.NextCursor = new(f.tasks[i+1].ID)
			break
		}
		t := f.tasks[i]
		state, capability := r.URL.Query().Get("state"), r.URL.Query().Get("capability")
		if (state == "" || state == string(t.State)) && (capability == "" || capability == t.Capability) {
			list.Data = append(list.Data, t.Task)
		}
	}
	answer(w, http.StatusOK, list)
}

func (f *fake) onTask(h func(http.ResponseWriter, *fakeTask)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, t := range f.tasks {
			if t.ID == r.PathValue("id") {
				h(w, t)
				return
			}
		}
		fail(w, fault.New(fault.NotFound, "there is no such task"))
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, e *fault.Error) {
	answer(w, api.Status(e), api.ErrorResponse{Error: api.ErrorOf(e), TaskID: e.TaskID, RequestID: "req_fake"})
}

// newFakeAdmin is the operator's side, behind the socket and behind an operator key.
func newFakeAdmin(baseURL string) http.Handler {
	var mu sync.Mutex
	var keys []api.Key
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api.PathAdminInfo, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, api.Info{Version: "fake", BaseURL: baseURL, Suppliers: []api.SupplierStatus{
			{Name: "sandbox", Live: true, About: "for test keys"}, {Name: "Groq", About: "GROQ_API_KEY is not set"},
		}})
	})
	mux.HandleFunc("GET "+api.PathAdminSuppliers, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, api.SupplierList{Data: []api.SupplierState{}})
	})
	mux.HandleFunc("POST "+api.PathAdminSession, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusCreated, api.Key{Secret: fakeKey, Mode: task.Test})
	})
	mux.HandleFunc("GET "+api.PathAdminKeys, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		answer(w, http.StatusOK, api.KeyList{Data: keys})
	})
	mux.HandleFunc("POST "+api.PathAdminKeys, func(w http.ResponseWriter, r *http.Request) {
		var req api.KeyCreate
		_ = json.NewDecoder(r.Body).Decode(&req)
		mu.Lock()
		defer mu.Unlock()
		k := api.Key{ID: fmt.Sprintf("key_%d", len(keys)+1), Name: req.Name, Account: "default", Mode: req.Mode, Scopes: req.Scopes, Hint: "fake"}
		k.Limits = api.Limits{
			CreatesPerMinute: req.CreatesPerMinute, OpenTasks: req.OpenTasks, Budget: req.Budget, BudgetPeriod: req.BudgetPeriod,
		}
		if req.ExpiresInSeconds > 0 {
			k.ExpiresAt = &api.Timestamp{Time: time.Now().Add(time.Duration(req.ExpiresInSeconds) * time.Second)}
		}
		keys = append(keys, k)
		k.Secret = fakeKey
		answer(w, http.StatusCreated, k)
	})
	mux.HandleFunc("GET "+api.PathAdminRequests, func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, api.RequestList{Data: []api.RequestRecord{{ID: r.FormValue("id")}}, Incomplete: []string{"silent"}})
	})
	mux.HandleFunc("POST "+api.PathAdminKeys+"/{id}/revoke", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		for i := range keys {
			if keys[i].ID == r.PathValue("id") {
				keys[i].RevokedAt = &api.Timestamp{Time: time.Now()}
				answer(w, http.StatusOK, keys[i])
				return
			}
		}
		fail(w, fault.New(fault.NotFound, "there is no such key"))
	})
	return mux
}
