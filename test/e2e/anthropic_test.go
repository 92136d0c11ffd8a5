package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/test/harness"
)

// sdkMessage is what Anthropic's library makes of a message.
type sdkMessage struct {
	ID, Type, Model string
	Content         []struct{ Type, Text string }
	Stop            string `json:"stop_reason"`
	Usage           struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	}
}

// messageFailure is an error as Anthropic's library throws it, and how many requests it took.
type messageFailure struct {
	Name          string
	Status        int
	Type, Service string
	Param         string
	ID            bool // the library knows the request's id
	Task          string
	Requests      int
}

// heardByAnthropic is the output of anthropic.mjs.
type heardByAnthropic struct {
	Models, Before []string
	Model, Task    string
	Chat           sdkMessage
	Stream         struct {
		Text, Finish string
		Events       int
		Usage        struct {
			Output int `json:"output_tokens"`
		}
	}
	Called               []map[string]string
	Stopped, Round, Loop string
	Image, Document      string
	Tokens               int
	Failures             map[string]messageFailure
}

const anthropicModels = `doors: [anthropic]
door_models:
  text.chat: [claude-5]
`

// TestAnthropicLibrary has Anthropic's own library, unchanged but for base URL and key, chat, stream, call a tool and
// send its result, show an image and a document, count tokens and page through the models. Its errors are of its own
// classes, and it retries those that a retry mends.
func TestAnthropicLibrary(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Config = strings.Replace(anthropicModels, "claude-5", "claude-4, claude-x", 1)
	h.start()
	var got heardByAnthropic
	h.byLibrary(&got, "@anthropic-ai/sdk", h.Base+"/anthropic", "anthropic.mjs")

	if diff := cmp.Diff([]string{"text.chat", "claude-4", "claude-x"}, got.Models); diff != "" || got.Model != "text.chat" || !slices.Equal(got.Before, []string{"claude-4"}) {
		t.Errorf("models %q, one %q, before the last %q", got.Models, got.Model, got.Before)
	}
	if c := got.Chat; len(c.Content) != 1 || !strings.Contains(c.Content[0].Text, "85") || c.Stop != "end_turn" || c.Type != "message" ||
		c.ID != got.Task || c.Usage.Input == 0 || c.Usage.Output == 0 {
		t.Errorf("chat: %+v of task %q", c, got.Task)
	}
	var task api.Task
	h.call("GET", api.PathTasks+"/"+got.Task, "", nil, &task)
	if task.Capability != "text.chat" || task.Output == nil {
		t.Errorf("the task is %+v", task)
	}
	if s := got.Stream; !strings.Contains(s.Text, "one two three four five") || s.Finish != "end_turn" || s.Usage.Output == 0 || s.Events < 6 {
		t.Errorf("stream: %+v", s)
	}
	if len(got.Called) != 2 || got.Called[0]["town"] == "" || got.Stopped != "tool_use" || !strings.Contains(got.Round, "rain") || !strings.Contains(got.Loop, "rain") {
		t.Errorf("called with %v, stopped by %q, answers %q and %q", got.Called, got.Stopped, got.Round, got.Loop)
	}
	if got.Image == "" || got.Document == "" || got.Tokens < 5 {
		t.Errorf("of the image %q, of the document %q, %d tokens", got.Image, got.Document, got.Tokens)
	}
	failuresByAnthropic(t, got.Failures)
}

// failuresByAnthropic holds the errors that Anthropic's library threw.
func failuresByAnthropic(t *testing.T, failures map[string]messageFailure) {
	t.Helper()
	of := func(name string, status int, kind, param, service string, requests int) messageFailure {
		return messageFailure{Name: name, Status: status, Type: kind, Param: param, Service: service, ID: true, Requests: requests}
	}
	const invalid = "invalid_request_error"
	want := map[string]messageFailure{
		"model":    of("NotFoundError", 404, "not_found_error", "model", "NOT_FOUND", 1),
		"key":      of("AuthenticationError", 401, "authentication_error", "", "UNAUTHENTICATED", 1),
		"member":   of("BadRequestError", 400, invalid, "top_k", "INVALID_REQUEST", 1),
		"version":  of("BadRequestError", 400, invalid, "anthropic-version", "INVALID_REQUEST", 1),
		"conflict": of("ConflictError", 409, invalid, "", "IDEMPOTENCY_CONFLICT", 1),
		"path":     of("NotFoundError", 404, "not_found_error", "", "NOT_FOUND", 1),
		"policy":   of("UnprocessableEntityError", 422, invalid, "", "CONTENT_POLICY_VIOLATION", 1),
		"outage":   of("InternalServerError", 502, "overloaded_error", "", "PROVIDER_UNAVAILABLE", 3),
	}
	for name, f := range failures {
		if named := slices.Contains([]string{"policy", "outage", "conflict"}, name); named != (f.Task != "") {
			t.Errorf("the failure by %s names the task %q", name, f.Task)
		}
		f.Task = ""
		failures[name] = f
	}
	if diff := cmp.Diff(want, failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

// TestAnthropicLibraries has Anthropic's own library chat, stream, call a tool and get JSON: against the sandbox, and
// against a server that others wrote behind the door.
func TestAnthropicLibraries(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Abs("../../internal/supplier/openai/testdata/aimock.json")
	if err != nil {
		t.Fatal(err)
	}
	base := service(t, "listening on ", npmTool(t, "llmock"), "--port", "0", "--fixtures", fixtures, "--validate-on-load", "--strict")
	h := newHost(t)
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.Config = anthropicModels + aimockBehind(base)
	h.start()
	take := func() (heard steps) {
		h.byLibrary(&heard, "@anthropic-ai/sdk", h.Base+"/anthropic", "anthropic_steps.mjs")
		heard.Tasks = nil
		return heard
	}
	got := take()
	if got.Greeting == "" || got.Streamed != got.Greeting || got.Finish != "end_turn" || got.Tool != "get_weather" || !json.Valid([]byte(got.Arguments)) || got.Town == "" {
		t.Errorf("with the sandbox: %+v", got)
	}
	h.useLiveKey()
	before := journal(t, base)
	const greeting = "Hello from a server that nobody here wrote."
	want := steps{Greeting: greeting, Streamed: greeting, Finish: "end_turn", Tool: "get_weather", Arguments: `{"place":"Lund"}`, Town: "Lund"}
	if diff := cmp.Diff(want, take()); diff != "" {
		t.Errorf("with another server behind (-want +got):\n%s", diff)
	}
	if n := journal(t, base) - before; n != 4 {
		t.Errorf("the other server counted %d calls, want 4", n)
	}
}

// TestAnthropicLibraryIsCutOff cuts the answer to a message off after the work reached the supplier. The library retries
// by itself, without an Idempotency-Key: it has the answer, of one task, of one submission.
func TestAnthropicLibraryIsCutOff(t *testing.T) {
	t.Parallel()
	s := &held{arrived: make(chan struct{}, 8), cut: make(chan struct{}, 8), sent: map[string]int{}}
	upstream := httptest.NewServer(s)
	t.Cleanup(upstream.Close)
	h := newHost(t)
	h.Config = anthropicModels + heldBehind(upstream.URL)
	h.start()
	h.useLiveKey()
	var got steps
	h.byLibrary(&got, "@anthropic-ai/sdk", s.cutting(t, h.Base)+"/anthropic", "anthropic_steps.mjs", "cut")
	if got.Greeting != "Once." || len(got.Tasks) != 1 {
		t.Errorf("heard %+v", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(map[string]int{"/v1/chat/completions": 1}, s.sent); diff != "" {
		t.Errorf("submissions (-want +got):\n%s", diff)
	}
	var listed struct{ Data []struct{ ID string } }
	if h.call(http.MethodGet, api.PathTasks, "", nil, &listed); len(listed.Data) != 1 || listed.Data[0].ID != got.Tasks[0] {
		t.Errorf("the tasks are %+v, the library's %q", listed.Data, got.Tasks)
	}
}

// heldBehind is a configuration whose chats and transcriptions a held at an address serves.
func heldBehind(base string) string {
	return strings.NewReplacer("NAME", harness.SupplierName, "BASE", base+"/v1").Replace(`suppliers:
  - {name: NAME, kind: openai, base_url: "BASE"}
routes:
  text.chat:
    - {supplier: NAME, model: one, price: {unit: mtok, input: "1", output: "2"}}
  audio.transcribe:
    - {supplier: NAME, model: whisper-1, price: {unit: second, input: "0.0001"}}
`)
}
