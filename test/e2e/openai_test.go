package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
)

// sdkCompletion is what OpenAI's library makes of a completion.
type sdkCompletion struct {
	ID, Object, Model string
	Choices           []struct {
		Message struct{ Content string }
		Finish  string `json:"finish_reason"`
	}
	Usage sdkUsage
}

type sdkUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// sdkFailure is an error as OpenAI's library throws it, and how many requests it took.
type sdkFailure struct {
	Name     string
	Status   int
	Code     *string
	Param    *string
	Service  string
	Task     *string
	Requests int
}

// heardByOpenAI is the output of openai.mjs.
type heardByOpenAI struct {
	Models      []string
	Model, Task string
	Chat        sdkCompletion
	Stream      struct {
		Text, Finish string
		Chunks       int
		Usage        *sdkUsage
	}
	Called             []map[string]string
	Loop, StreamedLoop string
	JSON, Zod          map[string]string
	ZodLoop            string
	Freely             map[string]string
	FreelyStreamed     map[string]string
	Image              string
	Embeddings, Plain  [][]float32
	EmbeddingTokens    int
	Failures           map[string]sdkFailure
	Late               struct {
		Requests       int
		Task, Replayed string
	}
}

// openAI runs a script of OpenAI's own library against an address below which OpenAI's paths are.
func (h *host) openAI(heard any, base, name string, args ...string) {
	h.T.Helper()
	h.byLibrary(heard, "openai", base, name, args...)
}

// byLibrary runs a script of one of npm's libraries against such an address.
func (h *host) byLibrary(heard any, library, base, name string, args ...string) {
	h.T.Helper()
	modules, err := filepath.Abs(filepath.Join("..", "npm", "node_modules"))
	if err != nil {
		h.T.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, filepath.FromSlash(library), "package.json")); err != nil {
		missing(h.T, library+" is not installed (make npm)")
	}
	script, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		h.T.Fatal(err)
	}
	env := []string{"OPENAI_BASE_URL=" + base, "OPENAI_API_KEY=" + h.key, "ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_API_KEY=" + h.key}
	h.foreign(heard, need(h.T, "env"), slices.Concat(env, []string{need(h.T, "node"), script, modules}, args)...)
}

// TestOpenAILibrary has OpenAI's own library, unchanged but for base URL and key, chat, stream, call functions in its
// loops, get JSON by a schema, show an image and embed texts. Its errors are of its own classes, and it retries those
// that a retry mends, without making a task twice.
func TestOpenAILibrary(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Config = "doors: [openai]\n"
	h.start()
	var got heardByOpenAI
	h.openAI(&got, h.Base+"/openai/v1", "openai.mjs")

	want := []string{"audio.speech", "audio.transcribe", "image.edit", "image.generate", "text.chat", "text.embed", "text.moderate"}
	if diff := cmp.Diff(want, got.Models); diff != "" || got.Model != "text.chat" {
		t.Errorf("models %q, one %q", got.Models, got.Model)
	}
	if c := got.Chat; len(c.Choices) != 1 || !strings.Contains(c.Choices[0].Message.Content, "85") || c.Choices[0].Finish != "stop" ||
		c.ID != got.Task || c.Usage.Prompt == 0 || c.Usage.Total != c.Usage.Prompt+c.Usage.Completion {
		t.Errorf("chat: %+v of task %q", c, got.Task)
	}
	var task api.Task
	h.call("GET", api.PathTasks+"/"+got.Task, "", nil, &task)
	if task.Capability != "text.chat" || task.Output == nil {
		t.Errorf("the task is %+v", task)
	}
	if s := got.Stream; !strings.Contains(s.Text, "one two three four five") || s.Finish != "stop" || s.Usage == nil || s.Usage.Total == 0 || s.Chunks < 4 {
		t.Errorf("stream: %+v", s)
	}
	if len(got.Called) != 2 || got.Called[0]["town"] == "" || !strings.Contains(got.Loop, "rain") || !strings.Contains(got.StreamedLoop, "rain") {
		t.Errorf("called with %v, answers %q and %q", got.Called, got.Loop, got.StreamedLoop)
	}
	if _, ok := got.JSON["town"]; !ok || len(got.JSON) != 1 {
		t.Errorf("JSON: %v", got.JSON)
	}
	if _, ok := got.Zod["town"]; !ok || len(got.Zod) != 1 || !strings.Contains(got.ZodLoop, "rain") {
		t.Errorf("by zod: %v, in the loop %q", got.Zod, got.ZodLoop)
	}
	free := map[string]string{"answer": "12*7+1 = 85"}
	if diff := cmp.Diff([]map[string]string{free, free}, []map[string]string{got.Freely, got.FreelyStreamed}); diff != "" {
		t.Errorf("JSON mode (-want +got):\n%s", diff)
	}
	if got.Image == "" {
		t.Error("nothing is said of the image")
	}
	if len(got.Embeddings) != 2 || len(got.Embeddings[0]) != 8 || got.EmbeddingTokens == 0 {
		t.Errorf("embeddings: %v, %d tokens", got.Embeddings, got.EmbeddingTokens)
	}
	if diff := cmp.Diff(got.Plain, got.Embeddings); diff != "" {
		t.Errorf("in base64 they differ:\n%s", diff)
	}
	failuresByOpenAI(t, got)
}

// failuresByOpenAI holds the errors that OpenAI's library threw, and its own retry.
func failuresByOpenAI(t *testing.T, got heardByOpenAI) {
	t.Helper()
	tasks := map[string]*string{}
	for name, f := range got.Failures {
		tasks[name] = f.Task
		f.Task = nil
		got.Failures[name] = f
	}
	want := map[string]sdkFailure{
		"model":    {Name: "NotFoundError", Status: 404, Code: new("model_not_found"), Param: new("model"), Service: "NOT_FOUND", Requests: 1},
		"key":      {Name: "AuthenticationError", Status: 401, Code: new("invalid_api_key"), Service: "UNAUTHENTICATED", Requests: 1},
		"member":   {Name: "BadRequestError", Status: 400, Param: new("n"), Service: "INVALID_REQUEST", Requests: 1},
		"conflict": {Name: "ConflictError", Status: 409, Service: "IDEMPOTENCY_CONFLICT", Requests: 1},
		"path":     {Name: "NotFoundError", Status: 404, Code: new("unknown_url"), Service: "NOT_FOUND", Requests: 1},
		"policy":   {Name: "UnprocessableEntityError", Status: 422, Code: new("content_policy_violation"), Service: "CONTENT_POLICY_VIOLATION", Requests: 1},
		"outage":   {Name: "InternalServerError", Status: 502, Service: "PROVIDER_UNAVAILABLE", Requests: 3},
	}
	if diff := cmp.Diff(want, got.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	for _, name := range []string{"policy", "outage", "conflict"} {
		if tasks[name] == nil {
			t.Errorf("the failure by %s names no task", name)
		}
	}
	if l := got.Late; l.Requests < 2 || l.Replayed != "true" || l.Task == "" {
		t.Errorf("the library's own retry: %+v", l)
	}
}
