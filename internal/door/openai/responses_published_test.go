package openai_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// published returns the members that schemas of OpenAI's document list, sorted.
func published(t *testing.T, names ...string) []string {
	t.Helper()
	schemas := document(t).Raw()["components"].(map[string]any)["schemas"].(map[string]any)
	var members func(schema map[string]any) []string
	members = func(schema map[string]any) []string {
		if ref, ok := schema["$ref"].(string); ok {
			schema = schemas[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
		}
		properties, _ := schema["properties"].(map[string]any)
		all := slices.Collect(maps.Keys(properties))
		for _, of := range []string{"allOf", "anyOf"} {
			parts, _ := schema[of].([]any)
			for _, part := range parts {
				all = append(all, members(part.(map[string]any))...)
			}
		}
		return all
	}
	var all []string
	for _, name := range names {
		all = append(all, members(schemas[name].(map[string]any))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestEveryMemberOfResponsesIsDecided compares the decisions about requests, their items, tools and parameters with what
// OpenAI's document lists, and those about requests with the page that tells them.
func TestEveryMemberOfResponsesIsDecided(t *testing.T) {
	decided := openai.DecidedForResponses()
	for schemas, got := range decided {
		want := published(t, strings.Fields(schemas)...)
		got = slices.DeleteFunc(got, func(name string) bool { return name == "parsed" || name == "parsed_arguments" }) // OpenAI's libraries add them
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-published +decided):\n%s", schemas, diff)
		}
	}
	var retrieval struct {
		Parameters map[string][]struct{ Name string }
	}
	if err := json.Unmarshal(fixture.Must(os.ReadFile("testdata/retrieval.json"))(t), &retrieval); err != nil {
		t.Fatal(err)
	}
	var parameters []string
	for _, p := range retrieval.Parameters["GET /responses/{response_id}"] {
		parameters = append(parameters, p.Name)
	}
	slices.Sort(parameters)
	if diff := cmp.Diff(parameters, openai.RetrievalDecided()); diff != "" {
		t.Errorf("a retrieval (-published +decided):\n%s", diff)
	}
	page := string(fixture.Must(os.ReadFile("../../../docs/doors.md"))(t))
	for _, name := range append(decided["CreateResponse"], parameters...) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/doors.md says nothing of %s", name)
		}
	}
}

// respondedTask is a task that succeeded, whose id is one of the service's.
func respondedTask(t testing.TB, p task.Parts) *task.Task {
	t.Helper()
	done := withOutput(t, p)
	done.ID, done.FinishedAt, done.Metadata = task.PrefixTask+kept, new(time.Unix(1_800_000_009, 0)), task.Metadata{"team": "search"}
	return done
}

func responseCall(t testing.TB, more ...string) *openai.Call {
	t.Helper()
	c := fixture.Must(openai.Responses(nil)([]byte(asked(`"Hi"`, more...))))(t)
	return &c
}

// cited are the pages of an answer "Ho ho", one of which its words are of.
var cited = []task.Citation{{URL: "https://a.example/a", Title: "A", Text: "ho"}, {URL: "https://a.example/b", Text: "words of the page"}, {URL: "https://a.example/a"}}

const annotations = `[{"type":"url_citation","url":"https://a.example/a","title":"A","start_index":3,"end_index":5},
	{"type":"url_citation","url":"https://a.example/b","title":"","start_index":0,"end_index":0},
	{"type":"url_citation","url":"https://a.example/a","title":"","start_index":0,"end_index":0}]`

// theItems are those of answers of the tests, in JSON.
func messageItem(text, annotations, status string) string {
	return `{"type":"message","id":"msg_` + kept + `","role":"assistant","status":"` + status + `","content":[{"type":"output_text","text":"` + text +
		`","annotations":` + annotations + `,"logprobs":[]}]}`
}

const (
	thoughtItem = `{"type":"reasoning","id":"rs_` + kept + `","summary":[{"type":"summary_text","text":"Hm"}],"encrypted_content":"abc"}`
	stateItem   = `{"type":"reasoning","id":"rs_` + kept + `","summary":[],"encrypted_content":"abc"}`
	callItems   = `{"type":"function_call","id":"fc_` + kept + `","status":"completed","call_id":"call_1","name":"weather","arguments":"{\"place\":\"Oslo\"}"},
		{"type":"function_call","id":"fc_` + kept + `_1","status":"completed","call_id":"call_2","name":"weather","arguments":"Os\"lo?"}`
	searchItem = `{"type":"web_search_call","id":"ws_` + kept + `","status":"completed","action":{"type":"search",
		"sources":[{"type":"url","url":"https://a.example/a"},{"type":"url","url":"https://a.example/b"}]}}`
)

// TestResponseAnswers compares responses, which are as OpenAI's document has them but for the members of ours.
func TestResponseAnswers(t *testing.T) {
	const usage = `,"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":2,"cache_write_tokens":0},"output_tokens":5,
		"output_tokens_details":{"reasoning_tokens":3},"total_tokens":14}`
	const later = `"instructions":null,"max_output_tokens":null,"parallel_tool_calls":true,"reasoning":{"effort":null,"summary":null},"temperature":null,
		"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":null,"truncation":"disabled"`
	retrieved, ok := openai.Retrieved(&task.Task{Capability: "text.chat"}, directory(t))
	if !ok {
		t.Fatal("a chat is no response")
	}
	if _, ok := openai.Retrieved(&task.Task{Capability: "text.embed"}, directory(t)); ok {
		t.Error("embeddings are a response")
	}
	state := func(s task.State) *task.Task {
		return &task.Task{ID: task.PrefixTask + kept, State: s, CreatedAt: time.Unix(1_800_000_000, 0)}
	}
	failed := state(task.Failed)
	failed.Failure = &task.Failure{Code: fault.ContentPolicyViolation, Message: "no"}
	ended := func(more string) string {
		return `"status":"completed","completed_at":1800000009,"incomplete_details":null` + more
	}
	for _, tt := range []struct {
		name                   string
		call                   *openai.Call
		task                   *task.Task
		status, echo, out, err string
		metadata               string
	}{
		{
			"a text", responseCall(t), respondedTask(t, task.Parts{Text: new("Ho"), FinishReason: "stop"}), ended(usage),
			later, messageItem("Ho", "[]", "completed"), "null", `{"team":"search"}`,
		},
		{
			"all of an answer", &retrieved, respondedTask(t, task.Parts{Text: new("Ho ho"), FinishReason: "tool_calls", Reasoning: "Hm", State: "abc", ToolCalls: calls, Citations: cited}),
			ended(usage), later, strings.Join([]string{thoughtItem, messageItem("Ho ho", annotations, "completed"), callItems, searchItem}, ","), "null", `{"team":"search"}`,
		},
		{"a state alone", &retrieved, respondedTask(t, task.Parts{Text: new(""), FinishReason: "stop", State: "abc"}), ended(usage), later, stateItem, "null", `{"team":"search"}`},
		{
			"one that was cut", &retrieved, respondedTask(t, task.Parts{Text: new("Ho"), FinishReason: "length"}),
			`"status":"incomplete","completed_at":null,"incomplete_details":{"reason":"max_output_tokens"}` + usage, later, messageItem("Ho", "[]", "incomplete"), "null", `{"team":"search"}`,
		},
		{
			"one that was filtered", &retrieved, respondedTask(t, task.Parts{Text: new(""), FinishReason: "content_filter"}),
			`"status":"incomplete","completed_at":null,"incomplete_details":{"reason":"content_filter"}` + usage, later, "", "null", `{"team":"search"}`,
		},
		{"queued", &retrieved, state(task.Queued), `"status":"queued","completed_at":null,"incomplete_details":null`, later, "", "null", "{}"},
		{"running", &retrieved, state(task.Running), `"status":"in_progress","completed_at":null,"incomplete_details":null`, later, "", "null", "{}"},
		{"canceled", &retrieved, state(task.Canceled), `"status":"cancelled","completed_at":null,"incomplete_details":null`, later, "", "null", "{}"},
		{
			"failed", &retrieved, failed, `"status":"failed","completed_at":null,"incomplete_details":null`, later, "",
			`{"code":"invalid_prompt","message":"no","service_code":"CONTENT_POLICY_VIOLATION"}`, "{}",
		},
	} {
		w := jsonwrite.New(0)
		if err := tt.call.Write(w, tt.task); err != nil {
			t.Fatal(err)
		}
		got := fixture.Must(w.Bytes())(t)
		want := `{"id":"resp_` + kept + `","object":"response","created_at":1800000000,"model":"text.chat","output":[` + tt.out + `],"error":` + tt.err +
			`,"metadata":` + tt.metadata + `,` + tt.status + `,` + tt.echo + `}`
		if diff := cmp.Diff(fromJSON(t, []byte(want)), fromJSON(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if err := document(t).Answer("POST /responses", 200, "application/json", asPublished(t, got)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if err := responseCall(t).Write(jsonwrite.New(0), &task.Task{State: task.Succeeded, Output: &task.Output{JSON: json.RawMessage(`{"images":[]}`)}}); fault.CodeOf(err) != fault.Internal {
		t.Errorf("an output of another form: %v", err)
	}
}

// asPublished leaves out the members that OpenAI's document doesn't have.
func asPublished(t testing.TB, body []byte) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if v["type"] == "error" {
		for _, name := range []string{"error", "task_id", "request_id"} {
			delete(v, name)
		}
	}
	of := v
	if inner, ok := v["response"].(map[string]any); ok {
		of = inner
	}
	if e, ok := of["error"].(map[string]any); ok {
		delete(e, "service_code")
	}
	return fixture.Must(json.Marshal(v))(t)
}

// TestResponseRepeats has an answer repeat what its request asked for.
func TestResponseRepeats(t *testing.T) {
	c := responseCall(t, `"instructions":"Be brief.","max_output_tokens":30,"temperature":0.5,"top_p":0.9,"parallel_tool_calls":false,"tool_choice":"required","background":true,
		"reasoning":{"effort":"low","summary":"auto"},"text":{"format":{"type":"json_schema","name":"a","schema":`+schema+`}},"tools":[{"type":"function","name":"f"}]`)
	w := jsonwrite.New(0)
	if err := c.Write(w, respondedTask(t, task.Parts{Text: new("Ho"), FinishReason: "stop"})); err != nil {
		t.Fatal(err)
	}
	got, _ := fromJSON(t, fixture.Must(w.Bytes())(t)).(map[string]any)
	want, _ := fromJSON(t, []byte(`{"instructions":"Be brief.","max_output_tokens":30,"temperature":0.5,"top_p":0.9,"parallel_tool_calls":false,"tool_choice":"required","background":true,
		"reasoning":{"effort":"low","summary":"auto"},"text":{"format":{"type":"json_schema","name":"a","schema":`+schema+`}},
		"tools":[{"type":"function","name":"f","parameters":null,"strict":false}]}`)).(map[string]any)
	for name, value := range want {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestResponseEvents streams an answer piece by piece, and one whose end alone is told: the events are as OpenAI's
// document has them, in their order, and add up to the response that ends them.
func TestResponseEvents(t *testing.T) {
	whole := task.Parts{Text: new("Ho ho"), Reasoning: "Hm", FinishReason: "tool_calls", State: "abc", ToolCalls: calls, Citations: cited}
	pieces := []api.Delta{
		{Reasoning: "H"},
		{Reasoning: "m"},
		{Text: "Ho"},
		{Text: " ho"},
		{ToolCall: &api.CallPiece{Index: 0, ID: "call_1", Name: "weather", Arguments: `{"place":`}},
		{ToolCall: &api.CallPiece{Index: 1, ID: "call_2", Name: "weather", Arguments: `Os"lo?`}},
		{ToolCall: &api.CallPiece{Index: 0, ID: "call_1", Name: "weather", Arguments: `"Oslo"}`}},
	}
	const cites = "annotation.added:1 annotation.added:1 annotation.added:1 "
	said := `added:0 summary_part.added:0 summary_text.delta:0 summary_text.delta:0 summary_text.done:0 summary_part.done:0
		added:1 content_part.added:1 text.delta:1 text.delta:1 added:2 arguments.delta:2 added:3 arguments.delta:3 arguments.delta:2
		done:0 ` + cites + `text.done:1 content_part.done:1 done:1 arguments.done:2 done:2 arguments.done:3 done:3 added:4 done:4`
	atOnce := strings.NewReplacer("summary_text.delta:0 summary_text.delta:0", "summary_text.delta:0", "text.delta:1 text.delta:1", "text.delta:1",
		"arguments.delta:3 arguments.delta:2", "arguments.delta:3").Replace(said)
	for _, tt := range []struct {
		name   string
		parts  task.Parts
		pieces []api.Delta
		order  string
		output string
		end    string
	}{
		{"in pieces", whole, pieces, said, strings.Join([]string{thoughtItem, messageItem("Ho ho", annotations, "completed"), callItems, searchItem}, ","), "completed"},
		{"at the end", whole, nil, atOnce, strings.Join([]string{thoughtItem, messageItem("Ho ho", annotations, "completed"), callItems, searchItem}, ","), "completed"},
		{
			"a text that is cut",
			task.Parts{Text: new("Ho ho"), FinishReason: "length", State: "abc", Citations: cited},
			pieces[2:4],
			`added:0 content_part.added:0 text.delta:0 text.delta:0 added:1 annotation.added:0 annotation.added:0 annotation.added:0 text.done:0 content_part.done:0 done:0 done:1 added:2 done:2`,
			strings.Join([]string{messageItem("Ho ho", annotations, "incomplete"), stateItem, searchItem}, ","), "incomplete",
		},
		{"nothing", task.Parts{Text: new(""), FinishReason: "content_filter"}, nil, "", "", "incomplete"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done := respondedTask(t, tt.parts)
			running := *done
			running.State, running.Output, running.FinishedAt = task.Running, nil, nil
			s := responseCall(t, `"stream":true`).Events()
			stream := s.Begin(nil, &running)
			for _, d := range tt.pieces {
				stream = s.Piece(stream, &running, d)
			}
			stream = fixture.Must(s.End(s.Begin(stream, done), done))(t)
			got := readEvents(t, stream)
			if diff := cmp.Diff(strings.Fields("created in_progress "+tt.order+" "+tt.end), got.order); diff != "" {
				t.Errorf("the events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(fromJSON(t, []byte("["+tt.output+"]")), got.response["output"]); diff != "" {
				t.Errorf("the response's items (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got.response["output"], any(got.items)); diff != "" && tt.output != "" {
				t.Errorf("the items of the events (-of the response +got):\n%s", diff)
			}
			if got.text != *tt.parts.Text || got.thoughts != tt.parts.Reasoning {
				t.Errorf("the pieces say %q, %q", got.text, got.thoughts)
			}
		})
	}
}

// heard is what a reader makes of a stream's events.
type heard struct {
	order          []string
	items          []any // as they were done, in their places
	response       map[string]any
	text, thoughts string
}

// readEvents reads a stream and holds each of its events to OpenAI's document.
func readEvents(t *testing.T, stream []byte) (h heard) {
	t.Helper()
	var plain []byte
	at := map[int]any{}
	n := 0
	for e, err := range sse.Read(strings.NewReader(string(stream)), 0) {
		if err != nil {
			t.Fatal(err)
		}
		plain = append(append(append(plain, "data: "...), asPublished(t, []byte(e.Data))...), "\n\n"...)
		data := fromJSON(t, []byte(e.Data)).(map[string]any)
		if data["type"] != e.Name || data["sequence_number"] != float64(n) {
			t.Errorf("event %d is %v number %v", n, data["type"], data["sequence_number"])
		}
		n++
		name := strings.TrimPrefix(e.Name, "response.")
		for _, prefix := range []string{"output_item.", "output_", "reasoning_", "function_call_"} {
			name = strings.TrimPrefix(name, prefix)
		}
		if index, ok := data["output_index"].(float64); ok {
			name += ":" + string(rune('0'+int(index)))
			if e.Name == "response.output_item.done" {
				at[int(index)] = data["item"]
			}
		}
		name = strings.TrimPrefix(name, "text.annotation.")
		if strings.HasPrefix(e.Name, "response.output_text.annotation") {
			name = "annotation." + name
		}
		h.order = append(h.order, name)
		switch e.Name {
		case "response.output_text.delta":
			h.text += data["delta"].(string)
		case "response.reasoning_summary_text.delta":
			h.thoughts += data["delta"].(string)
		}
		h.response, _ = data["response"].(map[string]any)
	}
	for i := range len(at) {
		h.items = append(h.items, at[i])
	}
	if err := document(t).Answer("POST /responses", 200, "text/event-stream", plain); err != nil {
		t.Error(err)
	}
	return h
}

// TestResponseEventsOfAFailure ends a stream by the failed response if its task failed, and by an error if it broke off.
func TestResponseEventsOfAFailure(t *testing.T) {
	queued := respondedTask(t, task.Parts{Text: new("")})
	queued.State = task.Queued
	running, failed, canceled := *queued, *queued, *queued
	running.State, failed.State, canceled.State = task.Running, task.Failed, task.Canceled
	failed.Failure = &task.Failure{Code: fault.ProviderUnavailable, Message: "down"}
	e := fault.New(fault.ProviderUnavailable, "down").WithTask(queued.ID)
	for _, tt := range []struct {
		last         *task.Task
		order, wants string
	}{
		{&failed, "created queued in_progress failed", `"error":{"code":"server_error","message":"down","service_code":"PROVIDER_UNAVAILABLE"}`},
		{&canceled, "created queued in_progress failed", `"status":"cancelled"`},
		{&running, "created queued in_progress error", `"error":{"message":"down","type":"server_error"`},
	} {
		s := responseCall(t, `"stream":true,"background":true`).Events()
		stream := s.Begin(s.Begin(s.Begin(nil, queued), queued), &running)
		stream = s.Fail(stream, tt.last, e, "req_1")
		if diff := cmp.Diff(strings.Fields(tt.order), readEvents(t, stream).order); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !strings.Contains(string(stream), tt.wants) {
			t.Errorf("the stream is %s", stream)
		}
	}
}
