package openai_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestEveryMemberIsDecided compares the decisions with the members that OpenAI's document lists, and with the page that
// tells them.
func TestEveryMemberIsDecided(t *testing.T) {
	schemas := document(t).Raw()["components"].(map[string]any)["schemas"].(map[string]any)
	var members func(schema map[string]any) []string
	members = func(schema map[string]any) []string {
		if ref, ok := schema["$ref"].(string); ok {
			schema = schemas[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
		}
		properties, _ := schema["properties"].(map[string]any)
		all := slices.Collect(maps.Keys(properties))
		parts, _ := schema["allOf"].([]any)
		for _, part := range parts {
			all = append(all, members(part.(map[string]any))...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	page := string(fixture.Must(os.ReadFile("../../../docs/doors.md"))(t))
	for name, decided := range openai.Decided() {
		published := members(schemas[name].(map[string]any))
		if strings.Contains(name, "Edit") { // as the law wants it
			published = slices.Sorted(slices.Values(append(published, catalog.Authorization)))
		}
		if diff := cmp.Diff(published, decided); diff != "" {
			t.Errorf("%s (-published +decided):\n%s", name, diff)
		}
		for _, member := range decided {
			if !strings.Contains(page, "`"+member+"`") {
				t.Errorf("docs/doors.md says nothing of %s, of %s", member, name)
			}
		}
	}
}

// withOutput is a task that succeeded.
func withOutput(t testing.TB, p task.Parts) *task.Task {
	t.Helper()
	out := fixture.Must(p.Output())(t)
	return &task.Task{
		ID: "task_1", State: task.Succeeded, CreatedAt: time.Unix(1_800_000_000, 0), Output: &out,
		Usage: &task.Usage{InputTokens: 9, OutputTokens: 5, CachedInputTokens: 2, ReasoningTokens: 3},
	}
}

func chatCall(t testing.TB, more ...string) *openai.Call {
	t.Helper()
	c := fixture.Must(openai.Chat([]byte(user(`"Hi"`, more...))))(t)
	return &c
}

// ours matches the members that OpenAI's document doesn't have.
func withoutOurs(t testing.TB, body []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "reasoning_content")
			delete(v, "state")
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(v)
	return fixture.Must(json.Marshal(v))(t)
}

var calls = []task.ToolCall{
	{ID: "call_1", Name: "weather", Arguments: json.RawMessage(`{"place":"Oslo"}`)},
	{ID: "call_2", Name: "weather", Arguments: json.RawMessage(`"Os\"lo?"`), Invalid: true},
}

// TestAnswers compares completions, which are as OpenAI's document has them but for the members of ours.
func TestAnswers(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},
		"completion_tokens_details":{"reasoning_tokens":3,"audio_tokens":0}}`
	for _, tt := range []struct {
		name          string
		parts         task.Parts
		message, ends string
	}{
		{"a text", task.Parts{Text: new("Ho"), FinishReason: "stop"}, `{"role":"assistant","content":"Ho","refusal":null}`, "stop"},
		{
			"thoughts",
			task.Parts{Text: new("Ho"), FinishReason: "length", Reasoning: "Hm", State: "abc"},
			`{"role":"assistant","content":"Ho","refusal":null,"reasoning_content":"Hm","state":"abc"}`, "length",
		},
		{
			"calls",
			task.Parts{Text: new(""), FinishReason: "tool_calls", ToolCalls: calls},
			`{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"place\":\"Oslo\"}"}},
			{"id":"call_2","type":"function","function":{"name":"weather","arguments":"Os\"lo?"}}]}`, "tool_calls",
		},
		{"a cut text", task.Parts{Text: new(""), FinishReason: "content_filter"}, `{"role":"assistant","content":"","refusal":null}`, "content_filter"},
	} {
		w := jsonwrite.New(0)
		if err := chatCall(t).Write(w, withOutput(t, tt.parts)); err != nil {
			t.Fatal(err)
		}
		got := fixture.Must(w.Bytes())(t)
		want := `{"id":"task_1","object":"chat.completion","created":1800000000,"model":"text.chat","choices":[{"index":0,"message":` + tt.message +
			`,"logprobs":null,"finish_reason":"` + tt.ends + `"}],` + usage + `}`
		if diff := cmp.Diff(fromJSON(t, []byte(want)), fromJSON(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if err := document(t).Answer("POST /chat/completions", 200, "application/json", withoutOurs(t, got)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if err := chatCall(t).Write(jsonwrite.New(0), &task.Task{Output: &task.Output{JSON: json.RawMessage(`{"images":[]}`)}}); fault.CodeOf(err) != fault.Internal {
		t.Errorf("an output of another form: %v", err)
	}
}

func fromJSON(t testing.TB, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// TestEmbeddingAnswers has vectors as numbers, as published, and in base64, which the document leaves out.
func TestEmbeddingAnswers(t *testing.T) {
	c := fixture.Must(openai.Embeddings([]byte(`{"model":"text.embed","input":["a","b"]}`)))(t)
	for _, packed := range []bool{false, true} {
		w := jsonwrite.New(0)
		if err := c.Write(w, withOutput(t, task.Parts{Embeddings: [][]float32{{1, 0.5}, {0, -1}}, Packed: packed})); err != nil {
			t.Fatal(err)
		}
		got := fixture.Must(w.Bytes())(t)
		first, second := `[1,0.5]`, `[0,-1]`
		if packed {
			first, second = `"AACAPwAAAD8="`, `"AAAAAAAAgL8="`
		} else if err := document(t).Answer("POST /embeddings", 200, "application/json", got); err != nil {
			t.Error(err)
		}
		want := `{"object":"list","data":[{"object":"embedding","index":0,"embedding":` + first + `},{"object":"embedding","index":1,"embedding":` + second + `}],
			"model":"text.embed","usage":{"prompt_tokens":9,"total_tokens":9}}`
		if diff := cmp.Diff(fromJSON(t, []byte(want)), fromJSON(t, got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestModels(t *testing.T) {
	list := openai.Models{Object: "list"}
	for _, c := range directory(t).All() {
		if openai.Callable(c) {
			list.Data = append(list.Data, openai.ModelOf(string(c.Name)))
		}
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	want := []string{"audio.speech", "audio.transcribe", "image.edit", "image.generate", "text.chat", "text.embed", "text.moderate"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the models (-want +got):\n%s", diff)
	}
	if err := document(t).Answer("GET /models", 200, "application/json", fixture.Must(json.Marshal(list))(t)); err != nil {
		t.Error(err)
	}
}

// event is the data of one event of a stream.
type event struct {
	Choices []struct {
		Delta struct {
			Role, Content *string
			Reasoning     string `json:"reasoning_content"`
			State         string
			Calls         []struct {
				Index    int
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Total int `json:"total_tokens"`
	}
}

// assembled is what a reader makes of a stream's chunks.
type assembled struct {
	Text, Reasoning, State, Finish string
	Calls                          []string
	Usage                          int
	Chunks                         int
}

func assemble(t *testing.T, stream []byte) (a assembled) {
	t.Helper()
	for line := range strings.Lines(string(stream)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		a.Chunks++
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if e.Usage != nil {
			a.Usage = e.Usage.Total
		}
		for _, c := range e.Choices {
			if c.Delta.Content != nil {
				a.Text += *c.Delta.Content
			}
			a.Reasoning += c.Delta.Reasoning
			a.State += c.Delta.State
			if c.FinishReason != nil {
				a.Finish += *c.FinishReason
			}
			for _, call := range c.Delta.Calls {
				if call.Index == len(a.Calls) {
					a.Calls = append(a.Calls, "")
				}
				// Some readers join the pieces of every text, of an id and a name too.
				a.Calls[call.Index] += call.ID + call.Type + call.Function.Name + call.Function.Arguments
			}
		}
	}
	return a
}

// TestChunks streams an answer piece by piece, and one whose end alone is told: a reader has the same, and each chunk is
// as OpenAI's document has it.
func TestChunks(t *testing.T) {
	done := withOutput(t, task.Parts{Text: new("Ho ho"), Reasoning: "Hmm", FinishReason: "tool_calls", State: "abc", ToolCalls: calls})
	pieces := []api.Delta{
		{Reasoning: "H"},
		{Reasoning: "mm"},
		{Text: "Ho"},
		{Text: " ho"},
		{ToolCall: &api.CallPiece{Index: 0, ID: "call_1", Name: "weather", Arguments: `{"place":`}},
		{ToolCall: &api.CallPiece{Index: 0, ID: "call_1", Name: "weather", Arguments: `"Oslo"}`}},
		{ToolCall: &api.CallPiece{Index: 1, ID: "call_2", Name: "weather", Arguments: `Os"lo?`}},
	}
	for name, told := range map[string][]api.Delta{"in pieces": pieces, "at the end": nil} {
		for _, usage := range []bool{false, true} {
			call := chatCall(t, `"stream":true`)
			want := assembled{"Ho ho", "Hmm", "abc", "tool_calls", []string{`call_1functionweather{"place":"Oslo"}`, `call_2functionweatherOs"lo?`}, 0, 6}
			if call.IncludeUsage = usage; usage {
				want.Usage = 14
				want.Chunks++
			}
			if told != nil {
				want.Chunks += 3
			}
			s := openai.NewChunks(call)
			stream := s.Begin(nil, done)
			for _, d := range told {
				stream = s.Piece(stream, done, d)
			}
			stream = fixture.Must(s.End(stream, done))(t)
			if diff := cmp.Diff(want, assemble(t, stream)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if !bytes.HasSuffix(stream, []byte("\n\ndata: [DONE]\n\n")) {
				t.Errorf("%s: it ends with %s", name, stream[len(stream)-30:])
			}
			holdChunks(t, stream)
		}
	}
}

// holdChunks holds a stream's chunks to OpenAI's document.
func holdChunks(t *testing.T, stream []byte) {
	t.Helper()
	var plain []byte
	for line := range strings.Lines(string(stream)) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && data != "[DONE]" {
			plain = append(append(append(plain, "data: "...), withoutOurs(t, []byte(data))...), "\n\n"...)
		}
	}
	if err := document(t).Answer("POST /chat/completions", 200, "text/event-stream", plain); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		err   *fault.Error
		want  string
		retry bool
	}{
		{fault.New(fault.Unauthenticated, "no key"), `{"message":"no key","type":"invalid_request_error","param":null,"code":"invalid_api_key","service_code":"UNAUTHENTICATED"}`, false},
		{fault.New(fault.NotFound, "no path"), `{"message":"no path","type":"invalid_request_error","param":null,"code":null,"service_code":"NOT_FOUND"}`, false}, // of a task, whose result is gone
		{openai.UnknownModel("gpt"), `{"message":"the model \"gpt\" doesn't exist, or isn't callable here with this key","type":"invalid_request_error","param":"model","code":"model_not_found","service_code":"NOT_FOUND"}`, false},
		{fault.New(fault.IdempotencyConflict, "used"), `{"message":"used","type":"invalid_request_error","param":null,"code":null,"service_code":"IDEMPOTENCY_CONFLICT"}`, false},
		{fault.New(fault.ContentPolicyViolation, "no"), `{"message":"no","type":"invalid_request_error","param":null,"code":"content_policy_violation","service_code":"CONTENT_POLICY_VIOLATION"}`, false},
		{fault.New(fault.RateLimitExceeded, "wait").WithRetryAfter(time.Minute), `{"message":"wait","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded","service_code":"RATE_LIMIT_EXCEEDED"}`, true},
		{fault.New(fault.RateLimitExceeded, "wait").WithRetryAfter(time.Hour), `{"message":"wait","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded","service_code":"RATE_LIMIT_EXCEEDED"}`, false},
		{fault.New(fault.ProviderTimeout, "late"), `{"message":"late","type":"server_error","param":null,"code":null,"service_code":"PROVIDER_TIMEOUT"}`, true},
		{&fault.Error{Code: fault.ProviderTimeout, Message: "late", Final: true}, `{"message":"late","type":"server_error","param":null,"code":null,"service_code":"PROVIDER_TIMEOUT"}`, false},
	} {
		want := `{"error":` + tt.want + `,"task_id":"task_1","request_id":"req_1"}`
		got := fixture.Must(json.Marshal(openai.ErrorOf(tt.err.WithTask("task_1"), "req_1")))(t)
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if retry := openai.ShouldRetry(tt.err); retry != tt.retry {
			t.Errorf("%v: retry %t", tt.err, retry)
		}
	}
	for count, want := range map[string]bool{"": false, "0": false, "00": false, "1": true, "10": true, "-1": false, "x": false} {
		if got := openai.Retried(count); got != want {
			t.Errorf("a retry count of %q: %t", count, got)
		}
	}
}

// FuzzTranslate holds that any body is refused in words, or becomes a creation that can be decoded and says what the
// call says.
func FuzzTranslate(f *testing.F) {
	for _, tt := range refusals {
		f.Add([]byte(tt.request))
	}
	f.Add([]byte(user(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,\u0041"}}]`, `"stop":"\ud83d\ude00","stream":true`)))
	f.Add([]byte(`{"model":"text.embed","input":["a"],"dimensions":1e0}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		for _, read := range []openai.Reader{openai.Chat, openai.Embeddings} {
			c, err := read(body)
			if err != nil {
				if e := fault.From(err); e.Code != fault.InvalidRequest || len(e.Details) == 0 {
					t.Fatalf("%q: %v", body, err)
				}
				continue
			}
			if !bytes.Equal(given, body) {
				t.Fatal("the body was changed")
			}
			r, refused := catalog.Decode(c.Body, catalog.Limits{})
			if refused != nil {
				t.Fatalf("%q: %v", c.Body, refused)
			}
			if string(r.Capability) != c.Model {
				t.Fatalf("the capability is %q, the model %q", r.Capability, c.Model)
			}
			if refused := directory(t).Validate(r); refused != nil {
				if e := c.Explain(refused); len(e.Details) == 0 || strings.HasPrefix(e.Details[0].Field, "parameters") {
					t.Fatalf("%q: %v", c.Body, e)
				}
			}
		}
	})
}
