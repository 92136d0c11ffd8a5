package anthropic_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/door/anthropic"
	"unitask/internal/fault"
	"unitask/internal/jsonwrite"
	"unitask/internal/supplier/openapicheck"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// pixel is a PNG of one pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// schema is one that an answer may be held to, and a tool's.
const schema = `{"type":"object","properties":{"place":{"type":"string"}},"required":["place"],"additionalProperties":false}`

// silent is a conversation with answers that have no words, and a last message.
func silent(last string) string {
	return `{"model":"text.chat","max_tokens":3000,"tools":[{"name":"f"}],"messages":[{"role":"user","content":"Hi"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":""},{"type":"text","text":"","citations":null},{"type":"redacted_thinking","data":"abc"}]},
		{"role":"assistant","content":" "},{"role":"user","content":"And?"},{"role":"assistant","content":[{"type":"text","text":"\n\n"},{"type":"tool_use","id":"a","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"user","content":` + last + `}]}`
}

// former is the same in the dialect of draft 7.
var former = `{"$schema":"http://json-schema.org/draft-07/schema#",` + schema[1:]

var defaultDirectory = sync.OnceValues(func() (*catalog.Catalog, error) { return catalog.Default() })

func document(t testing.TB) *openapicheck.Document {
	t.Helper()
	return fixture.Must(openapicheck.Load("../../supplier/anthropic/testdata/openapi.json"))(t)
}

// message is a request of one message's content and other members.
func message(content string, more ...string) string {
	return `{"model":"text.chat","max_tokens":3000,"messages":[{"role":"user","content":` + content + `}]` +
		strings.Join(append([]string{""}, more...), ",") + `}`
}

// created is a creation of text.chat.
func created(input, parameters string) string {
	return `{"capability":"text.chat","input":` + input + `,"parameters":{"max_output_tokens":3000` + parameters + `}}`
}

const hi = `{"messages":[{"role":"user","content":"Hi"}]}`

// translations are requests and the creations that they become.
var translations = []struct{ name, request, want string }{
	{"a text", message(`"Hi"`), created(hi, ``)},
	{"null is absent", message(`"Hi"`, `"top_k":null,"tools":null,"container":null`), created(hi, ``)},
	{"parameters", message(`"Hi"`, `"temperature":0.5,"top_p":0.9,"stop_sequences":["END"]`), created(hi, `,"temperature":0.5,"top_p":0.9,"stop":["END"]`)},
	{"of no effect", message(`"Hi"`, `"metadata":{"user_id":"u"},"service_tier":"auto","cache_control":{"type":"ephemeral"},"stop_sequences":[ ],
		"mcp_servers":[],"context_management":{"edits":[]},"tool_choice":{"type":"auto"},"system":"","stream":true`), created(hi, ``)},
	{
		"messages of the system", strings.Replace(message(`"Hi"`), `[{`, `[{"role":"system","content":[{"type":"text","text":"Be brief."}]},{`, 1),
		created(`{"messages":[{"role":"system","content":[{"type":"text","text":"Be brief."}]},{"role":"user","content":"Hi"}]}`, ``),
	},
	{"a system", message(`"Hi"`, `"system":"Be brief."`), created(`{"system":"Be brief.","messages":[{"role":"user","content":"Hi"}]}`, ``)},
	{
		"its blocks", message(`"Hi"`, `"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]`),
		created(`{"messages":[{"role":"system","content":[{"type":"text","text":"Be brief."}]},{"role":"user","content":"Hi"}]}`, ``),
	},
	{
		"parts", message(`[{"type":"text","text":"What?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}},
			{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}},
			{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"citations":{"enabled":false}},
			{"type":"document","source":{"type":"text","media_type":"text/plain","data":"ABC"}}]`),
		created(`{"messages":[{"role":"user","content":[{"type":"text","text":"What?"},{"type":"image","image":{"data":"`+pixel+`","content_type":"image/png"}},
			{"type":"image","image":{"url":"https://example.org/a.png"}},{"type":"document","document":{"data":"AAAA","content_type":"application/pdf"}},
			{"type":"document","document":{"data":"QUJD","content_type":"text/plain"}}]}]}`, ``),
	},
	{
		"tools", `{"model":"text.chat","max_tokens":3000,"messages":[{"role":"user","content":"Weather?"},
			{"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":""},{"type":"text","text":"I look.","citations":null},
				{"type":"tool_use","id":"call_1","name":"weather","input":{"place":"Oslo"},"caller":{"type":"direct"}},
				{"type":"tool_use","id":"call_2","name":"weather","input":{}},{"type":"redacted_thinking","data":"abc"}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"no","is_error":true},
				{"type":"tool_result","tool_use_id":"call_2"},{"type":"text","text":"Well?"}]}],
		"tools":[{"name":"weather","description":"Tells it.","input_schema":` + schema + `,"cache_control":{"type":"ephemeral"}},{"type":"custom","name":"f","strict":false}],
		"tool_choice":{"type":"tool","name":"weather","disable_parallel_tool_use":true}}`,
		created(`{"messages":[{"role":"user","content":"Weather?"},{"role":"assistant","content":[{"type":"text","text":"I look."}],
			"tool_calls":[{"id":"call_1","name":"weather","arguments":{"place":"Oslo"}},{"id":"call_2","name":"weather","arguments":{}}],"state":"abc"},
			{"role":"tool","tool_call_id":"call_1","content":"Error: no"},{"role":"tool","tool_call_id":"call_2","content":""},
			{"role":"user","content":[{"type":"text","text":"Well?"}]}]}`,
			`,"tools":[{"name":"weather","description":"Tells it.","parameters":`+schema+`},{"name":"f"}],"tool_choice":"weather","parallel_tool_calls":false`),
	},
	{"a search", message(`"Hi"`, `"tools":[{"type":"web_search_20250305","name":"web_search"}]`), created(hi, `,"web_search":true`)},
	{"a strict tool", message(`"Hi"`, `"tools":[{"name":"f","input_schema":`+schema+`,"strict":true}]`), created(hi, `,"tools":[{"name":"f","parameters":`+schema+`,"strict":true}]`)},
	{
		"answers that say nothing", silent(`"x"`), created(`{"messages":[{"role":"user","content":"Hi"},{"role":"user","content":"And?"},
			{"role":"assistant","tool_calls":[{"id":"a","name":"f","arguments":{}}]},{"role":"tool","tool_call_id":"a","content":""},{"role":"user","content":"x"}]}`, `,"tools":[{"name":"f"}]`),
	},
	{"a schema", message(`"Hi"`, `"output_config":{"format":{"type":"json_schema","schema":`+schema+`}}`), created(hi, `,"output_schema":`+schema)},
	{"a schema of draft 7", message(`"Hi"`, `"output_config":{"format":{"type":"json_schema","schema":`+former+`}}`), created(hi, `,"output_schema":`+schema)},
	{"a strict tool of draft 7", message(`"Hi"`, `"tools":[{"name":"f","strict":true,"input_schema":`+former+`}]`), created(hi, `,"tools":[{"name":"f","parameters":`+schema+`,"strict":true}]`)},
	{"its former place", message(`"Hi"`, `"output_format":{"type":"json_schema","schema":`+schema+`}`), created(hi, `,"output_schema":`+schema)},
	{"no thought", message(`"Hi"`, `"thinking":{"type":"disabled"}`), created(hi, `,"reasoning":"none"`)},
	{"some thought", message(`"Hi"`, `"thinking":{"type":"enabled","budget_tokens":1024}`), created(hi, `,"reasoning":"low"`)},
	{"more thought", message(`"Hi"`, `"thinking":{"type":"enabled","budget_tokens":2900}`), created(hi, `,"reasoning":"high"`)},
	{"an effort", message(`"Hi"`, `"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}`), created(hi, `,"reasoning":"medium"`)},
}

// TestTranslate has requests become creations, which the directory finds valid.
func TestTranslate(t *testing.T) {
	directory := fixture.Must(defaultDirectory())(t)
	for _, tt := range translations {
		c, err := anthropic.Messages([]byte(tt.request))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		body := c.Body("text.chat")
		var is, should any
		if err := json.Unmarshal(body, &is); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if err := json.Unmarshal([]byte(tt.want), &should); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(should, is); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		r, refused := catalog.Decode(body, catalog.Limits{})
		if refused == nil {
			refused = directory.Validate(r)
		}
		if refused != nil {
			t.Errorf("%s: %v", tt.name, refused)
		}
		if c.Stream != strings.Contains(tt.request, `"stream":true`) {
			t.Errorf("%s: stream %t", tt.name, c.Stream)
		}
	}
}

// refusals are requests and the first member that is at fault, here or by the directory.
var refusals = []struct{ request, field string }{
	{`[]`, "body"},
	{`{`, "body"},
	{`{"model":"text.chat","messages":[{"role":"user","content":"Hi"}]}`, "max_tokens"},
	{silent(`""`), "messages.6.content"},
	{message(`"Hi"`, `"top_k":5`), "top_k"},
	{message(`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA\nAAAA"}}]`), "messages.0.content.0.source"},
	{message(`"Hi"`, `"container":"c"`), "container"},
	{message(`"Hi"`, `"surprise":1`), "surprise"},
	{message(`"Hi"`, `"mcp_servers":[{"name":"a"}]`), "mcp_servers"},
	{message(`"Hi"`, `"metadata":{"team":"a"}`), "metadata.team"},
	{message(`"Hi"`, `"output_config":{"effort":"low"}`), "output_config.effort"},
	{message(`"Hi"`, `"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}`), "output_config.effort"},
	{message(`"Hi"`, `"thinking":{"type":"enabled","budget_tokens":3000}`), "thinking.budget_tokens"},
	{message(`"Hi"`, `"tools":[{"type":"bash_20250124","name":"bash"}]`), "tools.0.type"},
	{message(`"Hi"`, `"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3}]`), "tools.0.max_uses"},
	{message(`"Hi"`, `"tools":[{"type":"web_search_20250305","name":"web_search"},{"name":"f","input_schema":{"type":"array"}}]`), "tools.1.input_schema.type"},
	{message(`"Hi"`, `"tools":[{"name":"f"}],"tool_choice":{"type":"tool","name":"g"}`), "tool_choice.name"},
	{message(`"Hi"`, `"stop_sequences":["a",""]`), "stop_sequences.1"},
	{message(`"Hi"`, `"temperature":3`), "temperature"},
	{message(`"Hi"`, `"max_tokens":0`), "max_tokens"},
	{message(`"Hi"`, `"output_config":{"format":{"type":"json_schema","schema":{"type":"string"}}}`), "output_config.format.schema.type"},
	{message(`[{"type":"search_result"}]`), "messages.0.content.0.type"},
	{message(`[{"type":"image","source":{"type":"file","file_id":"a"}}]`), "messages.0.content.0.source.type"},
	{message(`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"?"}}]`), "messages.0.content.0.source"},
	{message(`[{"type":"document","title":"A","source":{"type":"url","url":"https://example.org/a.pdf"}}]`), "messages.0.content.0.title"},
	{message(`[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"a","content":"b"}]`), "messages.0.content.1"},
	{message(`[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image"}]}]`), "messages.0.content.0.content.0.type"},
	{message(`[{"type":"tool_result","tool_use_id":"a","content":"b"}]`), "messages.0.content.0.tool_use_id"},
	{strings.Replace(message(`"Hi"`), `"role":"user"`, `"role":"critic"`, 1), "messages.0.role"},
	{strings.Replace(message(`"Hi"`), `[{`, `[{"role":"user","content":"Ho"},{"role":"system","content":"Be brief."},{`, 1), "messages.1.role"},
	{message(`"Hi"`, `"speed":"fast"`), "speed"},
	{message(`"Hi"`, `"thread":{"type":"create"}`), "thread"},
	{message(`"Hi"`, `"diagnostics":{"previous_message_id":"a"}`), "diagnostics"},
	{message(`"Hi"`, `"workspace_id":"a"`), "workspace_id"},
	{message(`"Hi"`, `"user_profile_id":"a"`), "user_profile_id"},
	{message(`"Hi"`, `"service_tier":"priority"`), "service_tier"},
	{message(`"Hi"`, `"thinking":{"type":"enabled","budget_tokens":1023}`), "thinking.budget_tokens"},
	{message(`[{"type":"document","source":{"type":"content","content":"a"}}]`), "messages.0.content.0.source.type"},
	{message(`[{"type":"document","source":{"type":"file","file_id":"a"}}]`), "messages.0.content.0.source.type"},
	{strings.Replace(message(`[]`), `"role":"user"`, `"role":"system"`, 1), "messages.0.content"},
}

func TestRefuse(t *testing.T) {
	directory := fixture.Must(defaultDirectory())(t)
	for _, tt := range refusals {
		c, err := anthropic.Messages([]byte(tt.request))
		if err == nil {
			r, refused := catalog.Decode(c.Body("text.chat"), catalog.Limits{})
			if refused == nil {
				refused = directory.Validate(r)
			}
			if refused == nil {
				t.Errorf("%s is taken", tt.request)
				continue
			}
			err = c.Explain(refused)
		}
		if e := fault.From(err); e.Code != fault.InvalidRequest || len(e.Details) == 0 || e.Details[0].Field != tt.field {
			t.Errorf("%s: %v of %+v, want %s", tt.request, e, e.Details, tt.field)
		}
	}
}

// TestEveryMemberIsDecided compares the decisions with the members that Anthropic's document lists, and with the page
// that tells them.
func TestEveryMemberIsDecided(t *testing.T) {
	schemas := document(t).Raw()["components"].(map[string]any)["schemas"].(map[string]any)
	members := func(name string) []string {
		return slices.Sorted(maps.Keys(schemas[name].(map[string]any)["properties"].(map[string]any)))
	}
	for name, decided := range map[string][]string{
		"CreateMessageParams":          anthropic.Decided(),
		"RequestTextBlock":             anthropic.DecidedBlock("user", "text"),
		"RequestImageBlock":            anthropic.DecidedBlock("user", "image"),
		"RequestDocumentBlock":         anthropic.DecidedBlock("user", "document"),
		"RequestToolResultBlock":       anthropic.DecidedBlock("user", "tool_result"),
		"RequestToolUseBlock":          anthropic.DecidedBlock("assistant", "tool_use"),
		"RequestThinkingBlock":         anthropic.DecidedBlock("assistant", "thinking"),
		"RequestRedactedThinkingBlock": anthropic.DecidedBlock("assistant", "redacted_thinking"),
		"Tool":                         anthropic.DecidedBlock("", "tool"),
		"WebSearchTool_20260209":       anthropic.DecidedBlock("", "search"),
	} {
		if diff := cmp.Diff(members(name), decided); diff != "" {
			t.Errorf("%s (-published +decided):\n%s", name, diff)
		}
	}
	page := string(fixture.Must(os.ReadFile("../../../docs/doors.md"))(t))
	_, page, _ = strings.Cut(page, "## Anthropic's")
	for _, name := range append(anthropic.Decided(), anthropic.Later()...) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/doors.md says nothing of %s", name)
		}
	}
}

// done is a task with all that an answer may have.
func done(t testing.TB) *task.Task {
	t.Helper()
	p := task.Parts{
		Text: new("Ho ho"), Reasoning: "Hmm", FinishReason: "tool_calls", State: "abc",
		Citations: []task.Citation{{URL: "https://example.org", Text: "ho"}},
		ToolCalls: []task.ToolCall{
			{ID: "call_1", Name: "weather", Arguments: json.RawMessage(`{"place":"Oslo"}`)},
			{ID: "call_2", Name: "weather", Arguments: json.RawMessage(`"Os\"lo?"`), Invalid: true},
		},
	}
	out := fixture.Must(p.Output())(t)
	return &task.Task{
		ID: "task_1", State: task.Succeeded, CreatedAt: time.Unix(1_800_000_000, 0), Output: &out,
		Usage: &task.Usage{InputTokens: 9, OutputTokens: 5, CachedInputTokens: 2, CacheWriteTokens: 3},
	}
}

// TestAnswers compares a message, which is as Anthropic's document has it, to the byte.
func TestAnswers(t *testing.T) {
	c := fixture.Must(anthropic.Messages([]byte(message(`"Hi"`))))(t)
	w := jsonwrite.New(0)
	if err := c.Write(w, done(t)); err != nil {
		t.Fatal(err)
	}
	got := fixture.Must(w.Bytes())(t)
	const want = `{"id":"task_1","type":"message","role":"assistant","model":"text.chat","content":[` +
		`{"type":"thinking","thinking":"Hmm","signature":""},` +
		`{"type":"text","text":"Ho ho","citations":[{"type":"web_search_result_location","url":"https://example.org","title":null,"cited_text":"ho","encrypted_index":""}]},` +
		`{"type":"tool_use","id":"call_1","name":"weather","input":{"place":"Oslo"},"caller":{"type":"direct"}},` +
		`{"type":"tool_use","id":"call_2","name":"weather","input":{"arguments":"Os\"lo?"},"caller":{"type":"direct"}},` +
		`{"type":"redacted_thinking","data":"abc"}],"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"container":null,` +
		`"usage":{"input_tokens":4,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":5,"server_tool_use":null,` +
		`"cache_creation":null,"inference_geo":null,"service_tier":null}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := document(t).Answer("POST /v1/messages", 200, "application/json", got); err != nil {
		t.Error(err)
	}
}

// TestEvents streams an answer piece by piece, and one whose end alone is told: blocks come one after the other, and each
// event is as Anthropic's document has it.
func TestEvents(t *testing.T) {
	pieces := []api.Delta{
		{Reasoning: "H"},
		{Reasoning: "mm"},
		{Text: "Ho"},
		{Text: " ho"},
		{ToolCall: &api.CallPiece{Index: 0, ID: "call_1", Name: "weather", Arguments: `{"place":`}},
		{ToolCall: &api.CallPiece{Index: 0, ID: "call_1", Name: "weather", Arguments: `"Oslo"}`}},
		{ToolCall: &api.CallPiece{Index: 1, ID: "call_2", Name: "weather", Arguments: `{"arguments":"Os\"lo?"}`}},
	}
	for name, told := range map[string][]api.Delta{"in pieces": pieces, "at the end": nil} {
		c := fixture.Must(anthropic.Messages([]byte(message(`"Hi"`, `"stream":true`))))(t)
		s := c.Events()
		stream := s.Beat(s.Begin(nil, done(t)))
		for _, d := range told {
			stream = s.Piece(stream, done(t), d)
		}
		stream = fixture.Must(s.End(stream, done(t)))(t)
		if err := document(t).Answer("POST /v1/messages", 200, "text/event-stream", stream); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var said strings.Builder
		open := -1
		for line := range bytes.Lines(stream) {
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok {
				continue
			}
			var e struct {
				Type  string
				Index int
				Block struct{ Type, Data string } `json:"content_block"`
				Delta struct {
					Text, Thinking string
					JSON           string `json:"partial_json"`
					Stop           string `json:"stop_reason"`
				}
			}
			if err := json.Unmarshal(data, &e); err != nil {
				t.Fatal(err)
			}
			switch e.Type {
			case "content_block_start":
				if open >= 0 {
					t.Errorf("%s: block %d starts within %d", name, e.Index, open)
				}
				open = e.Index
				said.WriteString("|" + e.Block.Type + ":" + e.Block.Data)
			case "content_block_delta":
				if open != e.Index {
					t.Errorf("%s: a delta of %d within %d", name, e.Index, open)
				}
			case "content_block_stop":
				open = -1
			}
			said.WriteString(e.Delta.Text + e.Delta.Thinking + e.Delta.JSON + e.Delta.Stop)
		}
		const want = `|thinking:Hmm|text:Ho ho|tool_use:{"place":"Oslo"}|tool_use:{"arguments":"Os\"lo?"}|text:|redacted_thinking:abctool_use`
		if diff := cmp.Diff(want, said.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestErrors has errors in Anthropic's shape. One of a thread says so as Anthropic's libraries understand it.
func TestErrors(t *testing.T) {
	_, thread := anthropic.Messages([]byte(message(`"Hi"`, `"thread":{"type":"create"},"top_k":2`)))
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fault.New(fault.CapacityExhausted, "busy").WithTask("task_1"), `{"type":"error","error":{"type":"overloaded_error","message":"busy","service_code":"CAPACITY_EXHAUSTED"},"task_id":"task_1","request_id":"req_1"}`},
		{anthropic.UnknownModel("gpt"), `{"type":"error","error":{"type":"not_found_error","message":"the model \"gpt\" doesn't exist, or isn't callable here with this key",` +
			`"service_code":"NOT_FOUND","param":"model"},"request_id":"req_1"}`},
		{thread, `{"type":"error","error":{"type":"invalid_request_error","message":"thread can't be kept here; send the whole conversation; top_k can't be honoured here; leave it out",` +
			`"service_code":"INVALID_REQUEST","param":"thread","details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}},"request_id":"req_1"}`},
	} {
		got := fixture.Must(json.Marshal(anthropic.ErrorOf(fault.From(tt.err), "req_1")))(t)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
