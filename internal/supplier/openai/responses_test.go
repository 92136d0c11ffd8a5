package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
	"unitask/internal/supplier/upstream"
)

const (
	hello    = `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello.","annotations":[],"logprobs":[]}]}`
	nothing  = `{"type":"message","id":"msg_1","status":"in_progress","role":"assistant","content":[]}`
	informed = `{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello.","logprobs":[],` +
		`"annotations":[{"type":"url_citation","url":"https://a.example","title":"A","start_index":0,"end_index":5}]}]}`
	searched = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`
	opened   = `{"type":"web_search_call","id":"ws_2","status":"completed","action":{"type":"open_page","url":"https://a.example"}}`
	thought  = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Well."},{"type":"summary_text","text":"So."}],"encrypted_content":"Zg=="}`
	complete = `"status":"completed","error":null,"incomplete_details":null`
	cut      = `"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"}`
)

// response returns an answer with these items.
func response(status string, items ...string) string {
	return `{"id":"resp_1","object":"response","created_at":1,"model":"theirs-1",` + status + `,"output":[` + strings.Join(items, ",") + `],` +
		`"instructions":null,"metadata":{},"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1,` +
		`"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":2,` +
		`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":11}}`
}

// event returns an event of a stream.
func event(kind, members string) string {
	return `{"type":"response.` + kind + `",` + members + `,"sequence_number":1}`
}

// textDelta returns a piece of the text of an item.
func textDelta(text string) string {
	return event("output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"logprobs":[],"delta":"`+text+`"`)
}

func thoughtDelta(part, text string) string {
	return event("reasoning_summary_text.delta", `"item_id":"rs_1","output_index":0,"summary_index":`+part+`,"delta":"`+text+`"`)
}

func argumentsDelta(n, arguments string) string {
	return event("function_call_arguments.delta", `"item_id":"fc_1","output_index":`+n+`,"delta":"`+arguments+`"`)
}

func added(n, item string) string {
	return event("output_item.added", `"output_index":`+n+`,"item":`+item)
}

func done(n, item string) string {
	return event("output_item.done", `"output_index":`+n+`,"item":`+item)
}

// ended returns the last event of a stream.
func ended(status string, items ...string) string {
	kind := "completed"
	if status == cut {
		kind = "incomplete"
	}
	return event(kind, `"response":`+response(status, items...))
}

func called(name, arguments string) string {
	return `{"type":"function_call","id":"fc_` + name + `","call_id":"call_` + name + `","status":"completed","name":"` + name + `","arguments":"` + arguments + `"}`
}

// TestResponses runs the suite over chats that go by the Responses API.
func TestResponses(t *testing.T) { suppliertest.Run(t, responsesHarness()) }

func responsesHarness() suppliertest.Harness {
	kind := openai.Kind()
	kind.Capabilities = []string{"text.chat"}
	return suppliertest.Harness{
		ToolCalls: responsesToolCalls(),
		Kind:      kind,
		Config: supplier.Config{Options: map[string]string{
			openai.OptionChatAPI: "responses", openai.OptionFeatures: "json_schema json_object images audio documents tools reasoning web_search",
		}},
		Abilities: suppliertest.Abilities{Stream: true, Probe: true},
		Upstream:  &suppliertest.Upstream{Probe: suppliertest.JSON(200, `{"object":"list","data":[]}`)},
		Cases:     append(responsesCases(), responsesToolCases()...),
		Faults:    responsesFaults(),
	}
}

// greeted is the result of hello.
func greeted() *supplier.Result {
	return &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}}
}

func responsesCases() []suppliertest.Case {
	answer := suppliertest.JSON(200, response(complete, hello))
	return []suppliertest.Case{
		{
			Request: request("text.chat", `{"system":"Be brief.","messages":[{"role":"system","content":[{"type":"text","text":"Be kind."}]},{"role":"user","content":"Hi"},
				{"role":"assistant","content":[{"type":"text","text":"Yes?"},{"type":"text","text":"Well?"}]},{"role":"user","content":"Greet me"}]}`,
				`{"max_output_tokens":20,"temperature":0.5,"top_p":0.9,"seed":7}`),
			Sends: `{"model":"model-1","input":[{"role":"system","content":"Be brief."},{"role":"system","content":[{"type":"input_text","text":"Be kind."}]},
				{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?\nWell?"},{"role":"user","content":"Greet me"}],
				"max_output_tokens":20,"temperature":0.5,"top_p":0.9,"store":false}`,
			Answer: answer,
			Stream: suppliertest.Events(
				event("created", `"response":`+response(`"status":"in_progress","error":null,"incomplete_details":null`)),
				added("0", nothing), textDelta("Hel"), textDelta("lo."),
				event("output_text.done", `"item_id":"msg_1","output_index":0,"content_index":0,"logprobs":[],"text":"Hello."`),
				done("0", hello), ended(complete, hello)),
			Want: greeted(),
		},
		{
			Request: request("text.chat", `{"prompt":"Hi"}`, `{"output_schema":`+suppliertest.AnswerSchema+`}`),
			Sends: `{"model":"model-1","input":[{"role":"user","content":"Hi"}],"store":false,
				"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":` + suppliertest.AnswerOutline + `}}}`,
			Answer: answer, Want: greeted(), Alike: true,
		},
		{
			Request: request("text.chat", `{"prompt":"Hi"}`, `{"output_schema":{"type":"object"}}`),
			Sends: `{"model":"model-1","input":[{"role":"system","content":"` + upstream.AskObject + `"},{"role":"user","content":"Hi"}],"store":false,
				"text":{"format":{"type":"json_object"}}}`,
			Answer: answer, Want: greeted(), Alike: true,
		},
		{
			Request: suppliertest.ChatWith("model-1", "image/png", "application/pdf", "text/markdown"),
			Sends: `{"model":"model-1","input":[{"role":"system","content":"Be brief."},{"role":"user","content":[
				{"type":"input_text","text":"What is this?"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,YWJj"},
				{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,YWJj"},
				{"type":"input_text","text":"abc"}]}],"store":false}`,
			Answer: answer, Want: greeted(), Alike: true,
		},
		{
			Name: "stop by chat completions", Request: request("text.chat", `{"prompt":"Hi"}`, `{"stop":["."]}`),
			Sends:  `{"model":"model-1","messages":[{"role":"user","content":"Hi"}],"stop":["."]}`,
			Answer: suppliertest.JSON(200, chatAnswer), Want: greeted(), Alike: true,
		},
		{
			Name: "a low bound by chat completions", Request: request("text.chat", `{"prompt":"Hi"}`, `{"max_output_tokens":15}`),
			Sends:  `{"model":"model-1","messages":[{"role":"user","content":"Hi"}],"max_tokens":15}`,
			Answer: suppliertest.JSON(200, chatAnswer), Want: greeted(), Alike: true,
		},
		{
			Name: "a recording by chat completions", Request: suppliertest.ChatWith("model-1", "audio/wav"),
			Sends: `{"model":"model-1","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[
				{"type":"text","text":"What is this?"},{"type":"input_audio","input_audio":{"data":"YWJj","format":"wav"}}]}]}`,
			Answer: suppliertest.JSON(200, chatAnswer), Want: greeted(), Alike: true,
		},
	}
}

// strictSchema is that of a tool whose calls must fit.
const strictSchema = `{"type":"object","properties":{"place":{"type":"string"}},"required":["place"],"additionalProperties":false}`

func responsesToolCases() []suppliertest.Case {
	kept := json.RawMessage(`{"reasoning_items":[` + thought + `]}`)
	informing := *greeted()
	informing.Reasoning, informing.Usage.Searches = "Well.\n\nSo.", 1
	informing.Citations = []supplier.Citation{{URL: "https://a.example", Title: "A"}}
	return []suppliertest.Case{
		{
			Name: "after tools", Request: suppliertest.ToolTalk("model-1", kept, `"parallel_tool_calls":false,"tool_choice":"get_weather"`),
			Sends: `{"model":"model-1","input":[{"role":"user","content":"What is it like?"},` + thought + `,
				{"role":"assistant","content":"Let me see."},
				{"type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"place\":\"Lund\"}"},
				{"type":"function_call","call_id":"call_2","name":"now","arguments":"{now"},
				{"type":"function_call_output","call_id":"call_1","output":"Rain"},
				{"type":"function_call_output","call_id":"call_2","output":[{"type":"input_text","text":"Noon"}]}],"store":false,
				"tools":[{"type":"function","name":"get_weather","description":"The weather of a place.","parameters":` + suppliertest.ToolSchema + `,"strict":false},
					{"type":"function","name":"now","parameters":` + suppliertest.NoArguments + `,"strict":false}],
				"parallel_tool_calls":false,"tool_choice":{"type":"function","name":"get_weather"}}`,
			Answer: suppliertest.JSON(200, response(complete, hello)), Want: greeted(), Alike: true,
		},
		{
			Name:    "with all of it",
			Request: request("text.chat", `{"prompt":"Hi"}`, `{"reasoning":"low","tool_choice":"required","tools":[{"name":"now","strict":true,"parameters":`+strictSchema+`}],"web_search":true}`),
			Sends: `{"model":"model-1","input":[{"role":"user","content":"Hi"}],"reasoning":{"effort":"low","summary":"auto"},"store":false,
				"include":["reasoning.encrypted_content"],"max_tool_calls":32,"tool_choice":"required",
				"tools":[{"type":"function","name":"now","parameters":` + strictSchema + `,"strict":true},{"type":"web_search"}]}`,
			Answer: suppliertest.JSON(200, response(complete, thought, searched, opened, informed)), Alike: true,
			Stream: suppliertest.Events(added("0", `{"type":"reasoning","id":"rs_1","summary":[]}`),
				thoughtDelta("0", "We"), thoughtDelta("0", "ll."), thoughtDelta("1", "So."), done("0", thought),
				done("1", searched), done("2", opened), added("3", nothing), strings.Replace(textDelta("Hello."), `"output_index":0`, `"output_index":3`, 1),
				done("3", informed), ended(complete, thought, searched, opened, informed)),
			Want: &informing,
		},
		{
			Name: "an empty result of a tool",
			Request: request("text.chat", `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c","name":"now","arguments":{}}]},
				{"role":"tool","tool_call_id":"c","content":""}]}`, `{}`),
			Sends: `{"model":"model-1","input":[{"role":"user","content":"Hi"},{"type":"function_call","call_id":"c","name":"now","arguments":"{}"},
				{"type":"function_call_output","call_id":"c","output":""}],"store":false}`,
			Answer: suppliertest.JSON(200, response(complete, hello)), Want: greeted(), Alike: true,
		},
	}
}

// responsesToolCalls are the forms in which servers of the Responses API call tools.
func responsesToolCalls() []suppliertest.ToolCall {
	whole := func(status string, items ...string) http.Handler {
		return suppliertest.JSON(200, response(status, items...))
	}
	f, g := called("f", `{\"a\":1}`), called("g", "{}")
	began := func(name string) string { return called(name, "") }
	both := []supplier.ToolCall{{Name: "f", Arguments: `{"a":1}`}, {Name: "g", Arguments: "{}"}}
	text := strings.Replace(hello, "Hello.", "Hm.", 1)
	partly := strings.Replace(called("f", `{\"a`), `"completed"`, `"incomplete"`, 1)
	return []suppliertest.ToolCall{
		{
			Name: "alone", Answer: whole(complete, g), Calls: both[1:],
			Stream: suppliertest.Events(added("0", began("g")), argumentsDelta("0", "{"), argumentsDelta("0", "}"), done("0", g), ended(complete, g)),
		},
		{
			Name: "after text, twice", Answer: whole(complete, text, f, g), Text: "Hm.", Calls: both,
			Stream: suppliertest.Events(added("0", nothing), textDelta("Hm."), done("0", text), added("1", began("f")), added("2", began("g")),
				argumentsDelta("1", `{\"a\"`), argumentsDelta("2", `{}`), argumentsDelta("1", `:1}`), done("1", f), done("2", g), ended(complete, text, f, g)),
		},
		{
			Name: "under one number", Answer: whole(complete, f, g), Calls: both,
			Stream: suppliertest.Events(added("0", began("f")), argumentsDelta("0", `{\"a\":1}`), done("0", f), added("0", began("g")), done("0", g),
				ended(complete, f, g)),
		},
		{
			Name: "that is cut", Answer: whole(cut, partly), Calls: []supplier.ToolCall{{Name: "f", Arguments: `{"a`}}, Cut: true,
			Stream: suppliertest.Events(added("0", began("f")), argumentsDelta("0", `{\"a`), done("0", partly), ended(cut, partly)),
		},
		{Name: "in one piece", Answer: whole(complete, f, g), Calls: both, Stream: suppliertest.Events(done("0", f), done("1", g), ended(complete))},
		{Name: "begun, then in one piece", Answer: whole(complete, f), Calls: both[:1], Stream: suppliertest.Events(added("0", began("f")), done("0", f), ended(complete, f))},
		{Name: "at the end", Answer: whole(complete, text, f, g), Text: "Hm.", Calls: both, Stream: suppliertest.Events(ended(complete, text, f, g))},
		{
			Name: "without a name", Answer: whole(complete, called("", "{}"), g), Calls: both[1:],
			Stream: suppliertest.Events(added("0", called("", "")), argumentsDelta("0", "{}"), done("0", called("", "{}")), done("1", g), ended(complete, g)),
		},
		{
			Name: "after thoughts", Answer: whole(complete, thought, g), Calls: both[1:], Reasoning: "Well.\n\nSo.",
			Stream: suppliertest.Events(thoughtDelta("0", "Well."), thoughtDelta("1", "So"), thoughtDelta("1", "."), done("0", thought),
				added("1", began("g")), argumentsDelta("1", "{}"), done("1", g), ended(complete, thought, g)),
			State: json.RawMessage(`{"reasoning_items":[` + thought + `]}`),
		},
	}
}

// responsesFaults returns the rows of the error table that only this API has.
func responsesFaults() []suppliertest.Fault {
	row := func(name, body string, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Answer: suppliertest.JSON(200, body), Want: want}
	}
	review := suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: supplier.Refused}
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	refused := strings.NewReplacer("output_text", "refusal", `"text":`, `"refusal":`, `,"annotations":[],"logprobs":[]`, "").Replace(hello)
	failed := func(code string) string {
		return response(`"status":"failed","error":{"code":"` + code + `","message":"m"},"incomplete_details":null`)
	}
	return []suppliertest.Fault{
		row("refusal", response(complete, refused), review),
		row("filtered", response(`"status":"incomplete","error":null,"incomplete_details":{"reason":"content_filter"}`, hello), review),
		row("invalid prompt", failed("invalid_prompt"), review),
		row("image policy", failed("image_content_policy_violation"), review),
		row("full", failed("rate_limit_exceeded"), suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused}),
		row("bad image", failed("invalid_image"), suppliertest.Verdict{Code: fault.InvalidRequest, Sent: supplier.Refused}),
		row("server error", failed("server_error"), lost),
		row("failed without a word", response(`"status":"failed","error":null,"incomplete_details":null`), lost),
		row("still running", response(`"status":"in_progress","error":null,"incomplete_details":null`, hello), lost),
		row("nothing said", response(complete, thought), lost),
		row("no JSON", `<html>`, lost),
	}
}
