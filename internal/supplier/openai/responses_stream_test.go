package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

// responsesKind is the kind at a server whose chats go by the Responses API.
func responsesKind() supplier.Kind {
	k := openai.Kind()
	k.New = func(c supplier.Config) (supplier.Adapter, error) {
		c.Options = map[string]string{openai.OptionChatAPI: "responses", openai.OptionFeatures: "tools reasoning web_search"}
		return openai.New(c)
	}
	return k
}

// TestChatAPI shows by which API a chat goes: by host, by setting, and by what the request needs.
func TestChatAPI(t *testing.T) {
	const author, other = "http://api.openai.com/v1", "http://api.example.com/v1"
	asking := func(model, parameters string) supplier.Request {
		r := request("text.chat", `{"prompt":"Hi"}`, parameters)
		r.Model = model
		return r
	}
	plain := asking("gpt-5-mini", `{}`)
	for _, tt := range []struct {
		name, base, setting string
		request             supplier.Request
		want                string // the member that holds the messages
	}{
		{"the author", author, "", plain, "input"},
		{"another", other, "", plain, "messages"},
		{"the author, set", author, "chat_completions", plain, "messages"},
		{"another, set", other, "responses", plain, "input"},
		{"seed", author, "", asking("gpt-4.1", `{"seed":7}`), "input"},
		{"the least bound", author, "", asking("gpt-4.1", `{"max_output_tokens":16}`), "input"},
		{"a lower bound", author, "", asking("gpt-4.1", `{"max_output_tokens":15}`), "messages"},
		{"stop", author, "", asking("gpt-4.1", `{"stop":["a"]}`), "messages"},
		{"a recording", author, "", suppliertest.ChatWith("gpt-4.1", "audio/wav"), "messages"},
		{"a picture", author, "", suppliertest.ChatWith("gpt-4.1", "image/png"), "input"},
		{"a model that searches", author, "", asking("gpt-4o-search-preview", `{}`), "messages"},
		{"a model that hears", author, "", asking("gpt-audio-mini", `{}`), "messages"},
		{"an older one", author, "", asking("gpt-4o-audio-preview", `{}`), "messages"},
		{"one of another maker", other, "responses", asking("qwen-audio", `{}`), "input"},
	} {
		for _, stream := range []bool{false, true} {
			proxy, last := variantServer(t, suppliertest.JSON(503, `{}`))
			a := mustNew(t, supplier.Config{BaseURL: tt.base, Options: map[string]string{"proxy": proxy, openai.OptionChatAPI: tt.setting}})
			if _, err := suppliertest.Send(t, a, tt.request, stream); supplier.AsError(err).Status != 503 {
				t.Errorf("%s: %v", tt.name, err)
			}
			if got := last(); got[tt.want] == nil {
				t.Errorf("%s: sent %v, want %s", tt.name, got, tt.want)
			}
		}
	}
}

// TestResponsesReasoning shows what a model is told of its thoughts, and when it gives them for later.
func TestResponsesReasoning(t *testing.T) {
	const tools = `"tools":[{"name":"a"}]`
	low, silent, quiet := map[string]any{"effort": "low", "summary": "auto"}, map[string]any{"effort": "low"}, map[string]any{"effort": "none"}
	encrypted := []any{"reasoning.encrypted_content"}
	for _, tt := range []struct {
		model, parameters  string
		reasoning, include any
		summaries          string
	}{
		{"gpt-5-mini", `{}`, nil, nil, ""},
		{"gpt-5-mini", `{"reasoning":"low"}`, low, nil, ""},
		{"gpt-5-mini", `{"reasoning":"low",` + tools + `}`, low, encrypted, ""},
		{"gpt-5-mini", `{"reasoning":"low",` + tools + `}`, silent, encrypted, "off"},
		{"gpt-5-mini", `{` + tools + `}`, nil, encrypted, ""},
		{"openai/o3", `{` + tools + `}`, nil, encrypted, ""},
		{"gpt-5.1", `{"reasoning":"none",` + tools + `}`, quiet, nil, ""},
		{"gpt-4.1", `{"reasoning":"none",` + tools + `}`, nil, nil, ""},
		{"gpt-4.1", `{` + tools + `}`, nil, nil, ""},
		{"another", `{` + tools + `}`, nil, nil, ""},
		{"another", `{"reasoning":"low",` + tools + `}`, low, encrypted, ""},
	} {
		url, last := variantServer(t, suppliertest.JSON(200, response(complete, hello)))
		r := request("text.chat", `{"prompt":"Hi"}`, tt.parameters)
		r.Model = tt.model
		a := mustNew(t, supplier.Config{BaseURL: url + "/v1", Options: map[string]string{
			openai.OptionChatAPI: "responses", openai.OptionSummaries: tt.summaries,
		}})
		if _, err := suppliertest.Send(t, a, r, false); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{tt.reasoning, tt.include}, []any{last()["reasoning"], last()["include"]}); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.model, tt.parameters, diff)
		}
	}
}

// TestResponsesTolerated holds the forms in which servers of the Responses API answer well.
func TestResponsesTolerated(t *testing.T) {
	text := func(s, thoughts string, in, out int64) *supplier.Result {
		return &supplier.Result{Text: &s, FinishReason: "stop", Reasoning: thoughts, Usage: supplier.Usage{InputTokens: in, OutputTokens: out}}
	}
	short := text("", "", 9, 2)
	short.FinishReason = "length"
	const bare = `{"output":[{"type":"message","content":[{"type":"output_text","text":"Hello."}]}]}`
	open := `{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}`
	json := func(body string) suppliertest.Tolerated {
		return suppliertest.Tolerated{Answer: suppliertest.JSON(200, body)}
	}
	stream := func(events ...string) suppliertest.Tolerated {
		return suppliertest.Tolerated{Stream: true, Answer: suppliertest.Events(events...)}
	}
	var rows []suppliertest.Tolerated
	add := func(name string, row suppliertest.Tolerated, want *supplier.Result) {
		row.Name, row.Want = name, want
		rows = append(rows, row)
	}
	add("few members", json(bare), text("Hello.", "", 2, 2))
	add("two messages", json(response(complete, hello, strings.ReplaceAll(hello, "Hello.", " You."))), text("Hello. You.", "", 9, 2))
	add("open thoughts", json(response(complete, open, hello)), text("Hello.", "Hm.", 9, 2))
	add("unknown items", json(response(complete, `{"type":"image_generation_call"}`, `7`, hello)), text("Hello.", "", 9, 2))
	add("all thought", json(response(cut, thought)), func() *supplier.Result { r := *short; r.Reasoning = "Well.\n\nSo."; return &r }())
	add("a whole answer to a stream", suppliertest.Tolerated{Stream: true, Answer: suppliertest.JSON(200, response(complete, hello))}, text("Hello.", "", 9, 2))
	add("open thoughts in a stream", stream(
		event("reasoning_text.delta", `"item_id":"rs_1","output_index":0,"content_index":0,"delta":"H"`),
		event("reasoning_text.delta", `"item_id":"rs_1","output_index":0,"content_index":0,"delta":"m."`), done("0", open), textDelta("Hello."),
		ended(complete, open, hello)), text("Hello.", "Hm.", 9, 2))
	add("no deltas", stream(done("0", thought), done("1", hello), ended(complete)), text("Hello.", "Well.\n\nSo.", 9, 2))
	add("the end alone", stream(ended(complete, thought, hello)), text("Hello.", "Well.\n\nSo.", 9, 2))
	add("no items that are done", stream(textDelta("Hel"), textDelta("lo."), ended(complete, open, hello)), text("Hello.", "", 9, 2))
	add("no usage", stream(textDelta("Hello."), `{"type":"response.completed","response":{"status":"completed","output":[]}}`), text("Hello.", "", 2, 2))
	add("noise after the end", stream(textDelta("Hello."), done("0", hello), ended(complete, hello), `{`, `[DONE]`), text("Hello.", "", 9, 2))
	add("an end mark after the end alone", stream(ended(complete, hello), `[DONE]`), text("Hello.", "", 9, 2))
	add("all thought in a stream", stream(done("0", strings.Replace(thought, "Well.", "", 1)), ended(cut)), func() *supplier.Result { r := *short; r.Reasoning = "So."; return &r }())
	add("unknown events", stream(event("queued", `"delta":null`), `{"type":"keepalive"}`, textDelta("Hello."), ended(complete, hello)), text("Hello.", "", 9, 2))
	suppliertest.RunTolerated(t, responsesKind(), request("text.chat", `{"prompt":"Prompt"}`, `{}`), rows)
}

// TestResponsesBrokenStream shows the meaning of a stream's failure before and after its first piece.
func TestResponsesBrokenStream(t *testing.T) {
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	review := suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: supplier.Refused}
	full := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused}
	fullLate := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Unknown}
	failed := func(code string) string {
		return event("failed", `"response":`+response(`"status":"failed","incomplete_details":null,"error":{"code":"`+code+`","message":"m"}`))
	}
	par := textDelta("par")
	const wrong = `{"type":"error","code":"rate_limit_exceeded","message":"m","param":null,"sequence_number":2}`
	for _, tt := range []struct {
		name   string
		events []string
		text   string
		want   suppliertest.Verdict
	}{
		{"nothing", nil, "", lost},
		{"the end mark alone", []string{`[DONE]`}, "", lost},
		{"cut", []string{par}, "par", lost},
		{"cut after an item", []string{par, done("0", hello)}, "par", lost},
		{"malformed", []string{par, `{`}, "par", lost},
		{"full at once", []string{wrong}, "", full},
		{"full later", []string{par, wrong}, "par", fullLate},
		{"an error in an object", []string{`{"type":"error","error":{"code":"rate_limit_exceeded"}}`}, "", full},
		{"an error of no known code", []string{`{"type":"error","code":null,"message":"m"}`}, "", lost},
		{"failed at once", []string{failed("rate_limit_exceeded")}, "", full},
		{"failed later", []string{par, failed("server_error")}, "par", lost},
		{"failed without an answer", []string{`{"type":"response.failed"}`}, "", lost},
		{"refused", []string{par, event("refusal.delta", `"item_id":"m","output_index":0,"content_index":0,"delta":"no"`)}, "par", review},
		{"filtered", []string{par, event("incomplete", `"response":`+response(`"status":"incomplete","error":null,"incomplete_details":{"reason":"content_filter"}`))}, "par", review},
		{"nothing said", []string{ended(complete)}, "", lost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := suppliertest.Answered(t, responsesKind(), suppliertest.Events(tt.events...)).(supplier.Streamer)
			var text strings.Builder
			_, err := a.Stream(t.Context(), request("text.chat", `{"prompt":"Hi"}`, `{}`), func(d supplier.Delta) { text.WriteString(d.Text) })
			if diff := cmp.Diff(tt.want, suppliertest.VerdictOf(err)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s\nof %v", diff, err)
			}
			if text.String() != tt.text {
				t.Errorf("deltas: got %q, want %q", text.String(), tt.text)
			}
		})
	}
}

// TestResponsesEcho: an answer may repeat long tools, a stream three times.
func TestResponsesEcho(t *testing.T) {
	tool := `{"name":"a","description":"` + strings.Repeat("x", 700<<10) + `"}`
	echoing := func(body string) string { return strings.Replace(body, `"tools":[]`, `"tools":[`+tool+`]`, 1) }
	going := echoing(response(`"status":"in_progress","error":null,"incomplete_details":null`))
	r := request("text.chat", `{"prompt":"Hi"}`, `{"tools":[`+tool+`]}`)
	for stream, answer := range map[bool]http.Handler{
		false: suppliertest.JSON(200, echoing(response(complete, hello))),
		true: suppliertest.Events(event("created", `"response":`+going), event("in_progress", `"response":`+going), textDelta("Hello."),
			done("0", hello), echoing(ended(complete, hello))),
	} {
		got, err := suppliertest.Send(t, suppliertest.Answered(t, responsesKind(), answer), r, stream)
		if err != nil {
			t.Fatalf("streamed, %t: %v", stream, err)
		}
		if diff := cmp.Diff(greeted(), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func FuzzResponse(f *testing.F) {
	suppliertest.FuzzText(f, responsesKind(), request("text.chat", `{"prompt":"Hi"}`, `{}`),
		response(complete, thought, searched, opened, informed), response(complete, called("f", "{}")), response(cut, hello), ``, `null`, `[]`, `{"output":[]}`,
		`{"output":[{"type":"message","content":"a"}]}`, `{"output":[{"type":"message","content":[{"text":["a",{"text":"b"}]}]}]}`, `{"error":{"code":429}}`,
		`{"status":"failed"}`, `{"output":[{"type":"function_call","name":"f","arguments":{}}]}`,
	)
}

func FuzzResponseStream(f *testing.F) {
	seed := func(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }
	suppliertest.FuzzTextStream(f, responsesKind(), request("text.chat", `{"prompt":"Hi"}`, `{}`),
		seed(thoughtDelta("0", "a"), done("0", thought), textDelta("Hel"), done("1", informed), done("2", searched), ended(complete)),
		seed(added("0", called("f", "")), argumentsDelta("0", "{}"), done("0", called("f", "{}")), ended(cut)), seed(ended(complete, thought, hello)),
		seed(added("0", called("f", "")), added("0", called("g", "")), argumentsDelta("0", "{}"), ended(complete, called("f", "{}"))),
		seed(`{"type":"error","code":"429"}`), seed(textDelta("a"), `{"type":"response.failed","response":{"error":{"code":"x"}}}`), "data: [DONE]",
	)
}
