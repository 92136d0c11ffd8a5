package openai_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
	"unitask/internal/supplier/upstream"
)

const (
	chatAnswer = `{"id":"x","object":"chat.completion","created":1,"model":"theirs-1","choices":[{"index":0,
		"message":{"role":"assistant","content":"Hello.","refusal":null},"logprobs":null,"finish_reason":"stop"}],
		"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`
	embedAnswer = `{"object":"list","model":"theirs-1","data":[
		{"object":"embedding","index":1,"embedding":[0.5,-1]},{"object":"embedding","index":0,"embedding":[0,0.25]}],
		"usage":{"prompt_tokens":4,"total_tokens":4}}`
)

func request(capability, input, parameters string) supplier.Request {
	return supplier.Request{
		Capability: capability, Model: "model-1",
		Input: json.RawMessage(input), Parameters: json.RawMessage(parameters), SubmitKey: "task_0/1",
	}
}

// chunk is an event of a stream with these choices.
func chunk(choices string) string {
	return `{"id":"x","object":"chat.completion.chunk","created":1,"model":"theirs-1","choices":` + choices + `}`
}

func TestConformance(t *testing.T) { suppliertest.Run(t, harness(t)) }

func harness(t *testing.T) suppliertest.Harness {
	t.Helper()
	return suppliertest.Harness{
		ToolCalls: toolCalls(),
		Kind:      openai.Kind(),
		Config: supplier.Config{Options: map[string]string{
			openai.OptionFeatures: "json_schema json_object images audio documents tools reasoning web_search", openai.OptionTranscriptFeatures: "hints translation",
			openai.OptionImageFields: "n size quality background input_fidelity output_format",
		}},
		Abilities: suppliertest.Abilities{Stream: true, Probe: true},
		Upstream:  &suppliertest.Upstream{Probe: suppliertest.JSON(200, `{"object":"list","data":[]}`)},
		Cases: append([]suppliertest.Case{
			{
				Request: request("text.chat", `{"system":"Be brief.","messages":[{"role":"user","content":"Hi"},
					{"role":"assistant","content":"Yes?"},{"role":"user","content":"Greet me"}]}`,
					`{"max_output_tokens":20,"temperature":0.5,"top_p":0.9,"stop":["."],"seed":7}`),
				Sends: `{"model":"model-1","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},
					{"role":"assistant","content":"Yes?"},{"role":"user","content":"Greet me"}],
					"max_tokens":20,"temperature":0.5,"top_p":0.9,"stop":["."],"seed":7}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Stream: suppliertest.Events(
					chunk(`[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null`),
					chunk(`[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}],"usage":null`),
					chunk(`[{"index":0,"delta":{"content":"lo."},"finish_reason":null}],"usage":null`),
					chunk(`[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null`),
					chunk(`[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}`), `[DONE]`),
				Want: &supplier.Result{
					Text: new("Hello."), FinishReason: "stop",
					Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2},
				},
			},
			{
				Request: request("text.chat", `{"prompt":"Hi"}`, `{"output_schema":`+suppliertest.AnswerSchema+`}`),
				Sends: `{"model":"model-1","messages":[{"role":"user","content":"Hi"}],"response_format":{"type":"json_schema","json_schema":{
					"name":"answer","strict":true,"schema":` + suppliertest.AnswerOutline + `}}}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}},
			},
			{
				Request: request("text.chat", `{"prompt":"Hi, in Json"}`, `{"output_schema":{"type":"object"}}`),
				Sends:   `{"model":"model-1","messages":[{"role":"user","content":"Hi, in Json"}],"response_format":{"type":"json_object"}}`,
				Answer:  suppliertest.JSON(200, chatAnswer),
				Want:    &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}},
			},
			{
				Request: request("text.chat", `{"system":"Be \"brief\".","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"{\"json\":1}"},{"role":"user","content":"Go on"}]}`,
					`{"output_schema":{"type":"object"}}`),
				Sends: `{"model":"model-1","messages":[{"role":"system","content":"Be \"brief\".\n\n` + upstream.AskObject + `"},{"role":"user","content":"Hi"},
					{"role":"assistant","content":"{\"json\":1}"},{"role":"user","content":"Go on"}],"response_format":{"type":"json_object"}}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}},
			},
			{
				Request: suppliertest.ChatWith("model-1", "image/png", "audio/wav", "application/pdf", "text/markdown"),
				Sends: `{"model":"model-1","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[
					{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,YWJj"}},
					{"type":"input_audio","input_audio":{"data":"YWJj","format":"wav"}},
					{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,YWJj"}},
					{"type":"text","text":"abc"}]}]}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}},
			},
			{
				Request: suppliertest.ToolTalk("model-1", nil, `"parallel_tool_calls":false,"tool_choice":"get_weather"`),
				Sends: `{"model":"model-1","messages":[{"role":"user","content":"What is it like?"},
					{"role":"assistant","content":"Let me see.","tool_calls":[
						{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"place\":\"Lund\"}"}},
						{"id":"call_2","type":"function","function":{"name":"now","arguments":"{now"}}]},
					{"role":"tool","tool_call_id":"call_1","content":"Rain"},
					{"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"Noon"}]}],
					"tools":[{"type":"function","function":{"name":"get_weather","description":"The weather of a place.","parameters":` + suppliertest.ToolSchema + `}},
						{"type":"function","function":{"name":"now","parameters":` + suppliertest.NoArguments + `}}],
					"parallel_tool_calls":false,"tool_choice":{"type":"function","function":{"name":"get_weather"}}}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}},
			},
			{
				Request: request("text.chat", `{"prompt":"Hi"}`, `{"reasoning":"low","tool_choice":"required","tools":[{"name":"now","strict":true,"parameters":`+strictSchema+`}],"web_search":true}`),
				Sends: `{"model":"model-1","messages":[{"role":"user","content":"Hi"}],"reasoning_effort":"low","web_search_options":{},"tool_choice":"required",
					"tools":[{"type":"function","function":{"name":"now","parameters":` + strictSchema + `,"strict":true}}]}`,
				Answer: suppliertest.JSON(200, strings.Replace(chatAnswer, `"refusal":null`, noted, 1)),
				Want: &supplier.Result{
					Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2},
					Citations: []supplier.Citation{{URL: "https://a.example", Title: "A"}},
				},
			},
			{
				Request: request("text.embed", `{"texts":["a","b"]}`, `{"dimensions":2}`),
				Sends:   `{"model":"model-1","input":["a","b"],"dimensions":2,"encoding_format":"float"}`,
				Answer:  suppliertest.JSON(200, embedAnswer),
				Want: &supplier.Result{
					Embeddings: [][]float32{{0, 0.25}, {0.5, -1}}, Usage: supplier.Usage{InputTokens: 4},
				},
			},
			{
				Request: request("text.moderate", `{"texts":["a","b"]}`, `{}`),
				Sends:   `{"model":"model-1","input":["a","b"]}`,
				Answer:  suppliertest.JSON(200, `{"id":"modr-1","model":"omni","results":[{`+clean+`},{`+harmful+`}]}`),
				Want: &supplier.Result{
					Data: json.RawMessage(`{"results":[{"flagged":false,"categories":[],"scores":{"harassment":0,"hate":0,"illicit":0,"self_harm":0,` +
						`"sexual":0,"sexual_minors":0,"violence":0}},{"flagged":true,"categories":["hate","violence"],"scores":{"harassment":0,"hate":0.75,` +
						`"illicit":0,"self_harm":0,"sexual":0,"sexual_minors":0,"violence":0.5}}]}`),
					Usage: supplier.Usage{InputTokens: 1},
				},
			},
		}, slices.Concat(mediaCases(), transcriptCases())...),
		Faults:   slices.Concat(faults(), mediaFaults(), transcriptFaults()),
		Refusals: slices.Concat(refusals(), mediaRefusals(), transcriptRefusals()),
	}
}

// noted is the members of a message that cites a page.
const noted = `"refusal":null,"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"A","start_index":0,"end_index":5}}]`

// faults returns the rows of the error table for this format.
func faults() []suppliertest.Fault {
	const (
		refused = supplier.Refused
		unknown = supplier.Unknown
	)
	row := func(name string, status int, body string, want suppliertest.Verdict, headers ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Answer: suppliertest.JSON(status, body, headers...), Want: want}
	}
	review := suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: refused}
	invalid := suppliertest.Verdict{Code: fault.InvalidRequest, Sent: refused}
	full := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: refused}
	down := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused}
	operator := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused, Operator: true}
	late := suppliertest.Verdict{Code: fault.ProviderTimeout, Sent: unknown}
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: unknown}
	embed := request("text.embed", `{"texts":["a","b"]}`, `{"dimensions":3}`)
	return []suppliertest.Fault{
		row("moderation", 400, `{"error":{"code":"moderation_blocked","type":"image_generation_user_error"}}`, review),
		row("policy", 400, `{"error":{"code":"content_policy_violation","type":"invalid_request_error"}}`, review),
		row("invalid prompt", 400, `{"error":{"type":"invalid_prompt","code":null}}`, review),
		row("azure filter", 400, `{"error":{"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, review),
		row("aggregator moderation", 403, `{"error":{"code":403,"message":"m","metadata":{"reasons":["violence"],"flagged_input":"x"}}}`, review),
		row("finish filter", 200, `{"choices":[{"message":{"content":"par"},"finish_reason":"content_filter"}]}`, review),
		row("refusal", 200, `{"choices":[{"message":{"content":null,"refusal":"I can't"},"finish_reason":"stop"}]}`, review),
		row("rate limit", 429, `{"error":{"code":"rate_limit_exceeded","type":"tokens"}}`,
			suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: refused, RetryAfter: 1500 * time.Millisecond}, "Retry-After", "1.5"),
		row("slow down", 503, `{"error":{"type":"slow_down"}}`, full),
		row("503", 503, ``, full),
		row("flex capacity", 498, ``, full),
		row("quota by type", 429, `{"error":{"type":"insufficient_quota","code":null}}`, operator),
		row("quota by code", 429, `{"error":{"code":"insufficient_quota","type":"rate_limit_exceeded"}}`, operator),
		row("balance", 402, `{"error":{"message":"m"}}`, operator),
		row("a guard's 403", 403, `<html>`, down),
		row("permission", 403, `{"code":"permission-denied","error":"m"}`, operator),
		row("404 of no known code", 404, `{"error":"model 'x' not found, try pulling it first"}`, down),
		row("model gone", 404, `{"error":{"message":"m","type":"not_found_error","code":null}}`, operator),
		row("model gone by code", 400, `{"error":{"code":"model_decommissioned"}}`, operator),
		row("not served", 501, `{"error":{"code":501,"type":"not_supported_error"}}`, operator),
		row("408", 408, ``, late),
		row("524", 524, `<html>`, late),
		row("502", 502, `<html>`, down),
		row("520", 520, `<html>`, lost),
		row("400", 400, `{"error":{"code":400,"message":"m"}}`, invalid),
		row("400 without a body", 400, ``, invalid),
		row("413", 413, `too large`, invalid),
		row("422", 422, `{"detail":[{"type":"extra_forbidden"}]}`, invalid),
		row("context size", 500, `{"error":{"code":500,"type":"exceed_context_size_error"}}`, invalid),
		row("400 in an array", 400, `[{"error":{"code":400,"status":"INVALID_ARGUMENT"}}]`, invalid),
		row("200 with an error of a status", 200, `{"error":{"code":502,"message":"m"}}`, down),
		row("200 with an error of a word", 200, `{"error":{"code":"rate_limit_exceeded"}}`, full),
		row("200 with an error's text", 200, `{"error":"overloaded"}`, lost),
		row("200 with a timeout inside", 200, `{"error":{"code":"504"}}`, late),
		row("200 with a failed choice", 200, `{"choices":[{"message":{"content":"p"},"finish_reason":"error","error":{"code":502}}]}`, lost),
		row("200 cut by resources", 200, `{"choices":[{"message":{"content":"p"},"finish_reason":"insufficient_system_resource"}]}`,
			suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: unknown}),
		row("200 without choices", 200, `{"choices":[]}`, lost),
		row("200 without text", 200, `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`, lost),
		{
			Name: "vectors of another length", Request: &embed, Answer: suppliertest.JSON(200, embedAnswer),
			Want: lost,
		},
		{Name: "a vector short", Request: &embed, Answer: suppliertest.JSON(200, `{"data":[{"index":0,"embedding":[1,2,3]}]}`), Want: lost},
		{Name: "one index twice", Request: &embed, Answer: suppliertest.JSON(200,
			`{"data":[{"index":0,"embedding":[1,2,3]},{"index":0,"embedding":[1,2,3]}]}`), Want: lost},
		{Name: "index out of range", Request: &embed, Answer: suppliertest.JSON(200,
			`{"data":[{"index":0,"embedding":[1,2,3]},{"index":9,"embedding":[1,2,3]}]}`), Want: lost},
		{Name: "ragged vectors", Request: &embed, Answer: suppliertest.JSON(200,
			`{"data":[{"embedding":[1,2,3]},{"embedding":[1,2]}]}`), Want: lost},
		{Name: "a number beyond float32", Request: &embed, Answer: suppliertest.JSON(200,
			`{"data":[{"embedding":[1,2,1e300]},{"embedding":[1,2,3]}]}`), Want: lost},
	}
}

func refusals() []suppliertest.Refusal {
	row := func(name, capability, model, input, parameters string, refused bool) suppliertest.Refusal {
		r := request(capability, input, parameters)
		r.Model = model
		return suppliertest.Refusal{Name: name, Request: r, Refused: refused}
	}
	const prompt = `{"prompt":"Hi"}`
	return []suppliertest.Refusal{
		row("another capability", "image.describe", "m", prompt, `{}`, true),
		row("unknown input", "text.chat", "m", `{"prompt":"Hi","image":{}}`, `{}`, true),
		row("unknown parameter", "text.chat", "m", prompt, `{"top_k":4}`, true),
		row("unknown embedding parameter", "text.embed", "m", `{"texts":["a"]}`, `{"seed":4}`, true),
		row("temperature", "text.chat", "gpt-4o", prompt, `{"temperature":0}`, false),
		row("fixed temperature", "text.chat", "gpt-5-nano", prompt, `{"temperature":0}`, true),
		row("fixed temperature at an aggregator", "text.chat", "openai/o3", prompt, `{"temperature":0.2}`, true),
		row("the default temperature", "text.chat", "gpt-5-nano", prompt, `{"temperature":1.0,"top_p":1}`, false),
		row("newer model", "text.chat", "gpt-5.4-nano", prompt, `{"temperature":0}`, false),
		row("chat variant", "text.chat", "gpt-5-chat-latest", prompt, `{"temperature":0}`, false),
		row("fixed top_p", "text.chat", "o1", prompt, `{"top_p":0.5}`, true),
		row("no stop", "text.chat", "o4-mini", prompt, `{"stop":["x"]}`, true),
		row("seed is for all", "text.chat", "o4-mini", prompt, `{"seed":1}`, false),
		row("no dimensions", "text.embed", "text-embedding-ada-002", `{"texts":["a"]}`, `{"dimensions":8}`, true),
		row("dimensions", "text.embed", "text-embedding-3-small", `{"texts":["a"]}`, `{"dimensions":8}`, false),
	}
}
