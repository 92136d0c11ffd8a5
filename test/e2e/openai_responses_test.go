package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
)

// sdkResponse is what OpenAI's library makes of a response.
type sdkResponse struct {
	ID, Status, Model string
	Text              string `json:"output_text"`
	Metadata          map[string]string
	Usage             struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	}
}

// heardOfResponses is the output of openai_responses.mjs.
type heardOfResponses struct {
	First, Again        sdkResponse
	Task                string
	Events              map[string]int
	Streamed, ToldAgain string
	Called              []map[string]string
	Loop, StreamedLoop  string
	JSON, Freely        map[string]string
	Image               string
	Citations           int
	AtFirst             string
	AtLast              struct{ Status, Text string }
	Canceled            string
	Failed              struct {
		Status string
		Error  struct{ Code string }
	}
	Failures map[string]sdkFailure
	Late     struct {
		Requests       int
		Task, Replayed string
	}
}

// TestOpenAILibraryResponses has OpenAI's own library, unchanged but for base URL and key, create responses: streamed,
// with functions in a loop, JSON by a schema and web search, and in the background, where it reads and cancels them.
func TestOpenAILibraryResponses(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Config = "doors: [openai]\n"
	h.start()
	var got heardOfResponses
	h.openAI(&got, h.Base+"/openai/v1", "openai_responses.mjs")

	if r := got.First; r.Text != "12*7+1 = 85" || r.Status != "completed" || r.Metadata["team"] != "search" || r.Usage.Total != r.Usage.Input+r.Usage.Output ||
		strings.TrimPrefix(r.ID, "resp_") != strings.TrimPrefix(got.Task, "task_") {
		t.Errorf("the first response: %+v of task %q", r, got.Task)
	}
	if diff := cmp.Diff(got.First, got.Again); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	var task api.Task
	h.call("GET", api.PathTasks+"/"+got.Task, "", nil, &task)
	if task.Capability != "text.chat" || task.Output == nil {
		t.Errorf("the task is %+v", task)
	}
	const words = "one two three four five"
	if got.Streamed != words || got.ToldAgain != words || got.Events["response.output_text.delta"] < 3 || got.Events["response.completed"] != 1 {
		t.Errorf("streamed %q by %v, told again %q", got.Streamed, got.Events, got.ToldAgain)
	}
	if len(got.Called) != 2 || got.Called[0]["town"] == "" || !strings.Contains(got.Loop, "rain") || !strings.Contains(got.StreamedLoop, "rain") {
		t.Errorf("called with %v, answers %q and %q", got.Called, got.Loop, got.StreamedLoop)
	}
	if diff := cmp.Diff(map[string]string{"answer": "12*7+1 = 85", "format": "json_object"}, got.Freely); diff != "" {
		t.Errorf("JSON mode (-want +got):\n%s", diff)
	}
	if got.JSON["town"] == "" || got.Image == "" || got.Citations == 0 {
		t.Errorf("JSON %v, an image %q, %d citations", got.JSON, got.Image, got.Citations)
	}
	if got.AtFirst != "queued" && got.AtFirst != "in_progress" || got.AtLast.Status != "completed" || !strings.Contains(got.AtLast.Text, "hello") || got.Canceled != "cancelled" {
		t.Errorf("in the background: %q, then %+v; another %q", got.AtFirst, got.AtLast, got.Canceled)
	}
	if got.Failed.Status != "failed" || got.Failed.Error.Code != "invalid_prompt" {
		t.Errorf("a failure in the background: %+v", got.Failed)
	}
	failedResponses(t, got)
}

// failedResponses holds the errors that OpenAI's library threw, and its own retry.
func failedResponses(t *testing.T, got heardOfResponses) {
	t.Helper()
	for name, f := range got.Failures {
		f.Task = nil
		got.Failures[name] = f
	}
	want := map[string]sdkFailure{
		"previous": {Name: "BadRequestError", Status: 400, Param: new("previous_response_id"), Service: "INVALID_REQUEST", Requests: 1},
		"model":    {Name: "NotFoundError", Status: 404, Code: new("model_not_found"), Param: new("model"), Service: "NOT_FOUND", Requests: 1},
		"unknown":  {Name: "NotFoundError", Status: 404, Param: new("response_id"), Service: "NOT_FOUND", Requests: 1},
		"deletion": {Name: "APIError", Status: 405, Service: "INVALID_REQUEST", Requests: 1},
		"outage":   {Name: "InternalServerError", Status: 502, Service: "PROVIDER_UNAVAILABLE", Requests: 3},
	}
	if diff := cmp.Diff(want, got.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if l := got.Late; l.Requests < 2 || l.Replayed != "true" || l.Task == "" {
		t.Errorf("the library's own retry: %+v", l)
	}
}

// heardByAISDK is the output of ai_sdk.mjs.
type heardByAISDK struct {
	Text, Finish                 string
	Tokens, Chunks               int
	Streamed                     string
	Called                       []map[string]string
	Next                         string
	Loop, Unstored, StreamedLoop string
	References                   int
	JSON                         map[string]string
}

// TestAISDKResponses has the AI SDK with its provider for OpenAI generate and stream text, go on with a conversation
// by referring to its items, call functions in its loops, and get an object.
func TestAISDKResponses(t *testing.T) {
	h := newHost(t)
	h.Config = "doors: [openai]\n"
	h.start()
	var got heardByAISDK
	h.byLibrary(&got, "@ai-sdk/openai", h.Base+"/openai/v1", "ai_sdk.mjs")

	if got.Text != "12*7+1 = 85" || got.Finish != "stop" || got.Tokens == 0 {
		t.Errorf("text %q, finish %q, %d tokens", got.Text, got.Finish, got.Tokens)
	}
	if got.Streamed != "one two three four five" || got.Chunks < 3 {
		t.Errorf("streamed %q in %d chunks", got.Streamed, got.Chunks)
	}
	if got.Next != "2+2 = 4" || got.References == 0 {
		t.Errorf("the next turn says %q, by %d references", got.Next, got.References)
	}
	if len(got.Called) != 3 || got.Called[0]["town"] == "" {
		t.Errorf("called with %v", got.Called)
	}
	for _, said := range []string{got.Loop, got.Unstored, got.StreamedLoop} {
		if !strings.Contains(said, "rain") {
			t.Errorf("a loop ends with %q", said)
		}
	}
	if got.JSON["town"] == "" {
		t.Errorf("an object: %v", got.JSON)
	}
}
