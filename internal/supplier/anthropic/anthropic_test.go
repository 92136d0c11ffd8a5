package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/suppliertest"
)

const (
	chatAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"theirs-1",
	"content":[{"type":"thinking","thinking":"Well.","signature":"s"},{"type":"text","text":"Hel","citations":null},{"type":"text","text":"lo.","citations":null}],
	"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null,
	"usage":` + used + `}`
	// used is a whole report of usage.
	used = `{"input_tokens":9,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"output_tokens":2,` +
		`"cache_creation":null,"inference_geo":null,"server_tool_use":null,"service_tier":"standard"}`
)

func request(input, parameters string) supplier.Request {
	return supplier.Request{
		Capability: "text.chat", Model: "model-1",
		Input: json.RawMessage(input), Parameters: json.RawMessage(parameters), SubmitKey: "task_0/1",
	}
}

func TestConformance(t *testing.T) { suppliertest.Run(t, harness(t)) }

func harness(t *testing.T) suppliertest.Harness {
	t.Helper()
	return suppliertest.Harness{
		ToolCalls: toolCalls(),
		Kind:      anthropic.Kind(),
		Abilities: suppliertest.Abilities{Stream: true, Probe: true},
		Upstream: &suppliertest.Upstream{
			Key: func(r *http.Request) string {
				if r.Header.Get("Anthropic-Version") != "2023-06-01" || r.Header.Get("Authorization") != "" {
					return "no version, or a second key"
				}
				return r.Header.Get("X-Api-Key")
			},
			Probe: suppliertest.JSON(200, `{"data":[],"has_more":false,"first_id":null,"last_id":null}`),
		},
		Cases: []suppliertest.Case{
			{
				Request: request(`{"system":"Be brief.","messages":[{"role":"user","content":"Hi"},
					{"role":"assistant","content":"Yes?"},{"role":"user","content":"Greet me"}]}`,
					`{"max_output_tokens":20,"temperature":0.5,"top_p":1,"stop":["."],"seed":7}`),
				Sends: `{"model":"model-1","max_tokens":20,"system":"Be brief.","messages":[{"role":"user","content":"Hi"},
					{"role":"assistant","content":"Yes?"},{"role":"user","content":"Greet me"}],
					"temperature":0.5,"stop_sequences":["."]}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Stream: suppliertest.Events(
					`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"theirs-1","content":[],`+
						`"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,"usage":`+used+`}}`,
					`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
					`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Well."}}`,
					`{"type":"content_block_stop","index":0}`, `{"type":"ping"}`,
					`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":null}}`,
					`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hel"}}`,
					`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"lo."}}`,
					`{"type":"content_block_stop","index":1}`,
					`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null},`+
						`"usage":{"input_tokens":null,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":2,"server_tool_use":null}}`,
					`{"type":"message_stop"}`),
				Want: &supplier.Result{
					Text: new("Hello."), FinishReason: "stop",
					Usage: supplier.Usage{InputTokens: 16, OutputTokens: 2, CachedInputTokens: 4, CacheWriteTokens: 3},
				},
			},
			{
				Request: request(`{"prompt":"Hi"}`, `{"output_schema":`+suppliertest.AnswerSchema+`}`),
				Sends: `{"model":"model-1","max_tokens":1024,"messages":[{"role":"user","content":"Hi"}],
					"output_config":{"format":{"type":"json_schema","schema":` + suppliertest.AnswerOutline + `}}}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 16, OutputTokens: 2, CachedInputTokens: 4, CacheWriteTokens: 3}},
			},
			{
				Request: suppliertest.ChatWith("model-1", "image/png", "application/pdf", "text/markdown"),
				Sends: `{"model":"model-1","max_tokens":1024,"system":"Be brief.","messages":[{"role":"user","content":[
					{"type":"text","text":"What is this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"YWJj"}},
					{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"YWJj"}},
					{"type":"document","source":{"type":"text","media_type":"text/plain","data":"abc"}}]}]}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 16, OutputTokens: 2, CachedInputTokens: 4, CacheWriteTokens: 3}},
			},
			{
				Request: request(`{"system":"Be brief.","messages":[{"role":"system","content":"Be kind."},{"role":"system","content":[{"type":"text","text":"Rhyme."}]},
					{"role":"user","content":"Hi"}]}`, `{}`),
				Sends:  `{"model":"model-1","max_tokens":1024,"system":"Be brief.\n\nBe kind.\n\nRhyme.","messages":[{"role":"user","content":"Hi"}]}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 16, OutputTokens: 2, CachedInputTokens: 4, CacheWriteTokens: 3}},
				Alike:  true,
			},
		},
		Faults:   faults(),
		Refusals: refusals(),
	}
}

// faults returns the rows of the error table for this format.
func faults() []suppliertest.Fault {
	const (
		refused = supplier.Refused
		unknown = supplier.Unknown
	)
	row := func(name string, status int, body string, want suppliertest.Verdict, headers ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Answer: suppliertest.JSON(status, body, headers...), Want: want}
	}
	failure := func(kind, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
	}
	review := suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: refused}
	invalid := suppliertest.Verdict{Code: fault.InvalidRequest, Sent: refused}
	full := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: refused}
	down := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused}
	operator := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused, Operator: true}
	late := suppliertest.Verdict{Code: fault.ProviderTimeout, Sent: unknown}
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: unknown}
	stream := func(name string, want suppliertest.Verdict, data ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: "stream " + name, Stream: true, Answer: suppliertest.Events(data...), Want: want}
	}
	const (
		piece  = `{"type":"content_block_delta","delta":{"type":"text_delta","text":"par"}}`
		refuse = `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`
	)
	busy, slow := failure("overloaded_error", "Overloaded"), failure("timeout_error", "late")
	return []suppliertest.Fault{
		stream("of nothing", lost),
		stream("of its end alone", lost, `{"type":"message_stop"}`),
		stream("cut", lost, piece),
		stream("malformed", lost, piece, `{`),
		stream("full at once", full, busy),
		stream("full later", suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: unknown}, piece, busy),
		stream("late at once", late, slow),
		stream("refused at once", review, refuse),
		stream("refused later", review, piece, refuse),
		row("refusal", 200, `{"type":"message","content":[{"type":"text","text":"par"}],"stop_reason":"refusal"}`, review),
		row("refusal without text", 200, `{"type":"message","content":[],"stop_reason":"refusal"}`, review),
		row("overloaded", 529, failure("overloaded_error", "Overloaded"), full),
		row("overloaded without a body", 529, ``, full),
		row("rate limit", 429, failure("rate_limit_error", "slower"),
			suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: refused, RetryAfter: 12 * time.Second}, "Retry-After", "12"),
		row("rate limit without advice", 429, failure("rate_limit_error", "slower"), full),
		row("spend limit", 429, failure("rate_limit_error", "You have reached your specified API usage limits."),
			suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused, Operator: true, RetryAfter: time.Hour}, "Retry-After", "86400"),
		row("usage credits", 429, failure("rate_limit_error", "Usage credits are required for long context requests."), operator),
		row("timeout", 504, failure("timeout_error", "late"), late),
		row("500", 500, failure("api_error", "sorry"), down),
		row("502", 502, `<html>`, down),
		row("balance", 402, failure("billing_error", "pay"), operator),
		row("balance as an invalid request", 400, failure("invalid_request_error", "Your credit balance is too low to go on."), operator),
		row("key", 401, failure("authentication_error", "invalid x-api-key"), operator),
		row("permission", 403, failure("permission_error", "no"), operator),
		row("model gone", 404, failure("not_found_error", "model: x"), operator),
		row("400", 400, failure("invalid_request_error", "max_tokens: too many"), invalid),
		row("400 without a body", 400, ``, invalid),
		row("400 with a message of another form", 400, `{"error":{"message":{"a":1}}}`, invalid),
		row("413", 413, failure("request_too_large", "too large"), invalid),
		row("200 with an error", 200, failure("overloaded_error", "Overloaded"), full),
		row("200 with a timeout inside", 200, failure("timeout_error", "late"), late),
		row("200 with an unknown error", 200, failure("new_error", "?"), lost),
		row("200 without content", 200, `{"type":"message","stop_reason":"end_turn"}`, lost),
		row("200 with null content", 200, `{"type":"message","content":null,"stop_reason":"end_turn"}`, lost),
		row("200 that ends nowhere", 200, `{"type":"message","content":[],"stop_reason":null}`, lost),
	}
}

func refusals() []suppliertest.Refusal {
	row := func(name, model, input, parameters string, refused bool) suppliertest.Refusal {
		r := request(input, parameters)
		r.Model = model
		return suppliertest.Refusal{Name: name, Request: r, Refused: refused}
	}
	const prompt = `{"prompt":"Hi"}`
	embed := request(`{"texts":["a"]}`, `{}`)
	embed.Capability = "text.embed"
	return []suppliertest.Refusal{
		{Name: "another capability", Request: embed, Refused: true},
		row("unknown input", "m", `{"prompt":"Hi","image":{}}`, `{}`, true),
		row("a recording", "m", `{"messages":[{"role":"user","content":[{"type":"audio","audio":{}}]}]}`, `{}`, true),
		row("an image", "m", `{"messages":[{"role":"user","content":[{"type":"image","image":{}}]}]}`, `{}`, false),
		row("unknown parameter", "m", prompt, `{"top_k":4}`, true),
		row("assistant's turn", "m", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`, `{}`, true),
		row("user's turn", "m", `{"messages":[{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}`, `{}`, false),
		row("temperature", "claude-haiku-4-5", prompt, `{"temperature":0}`, false),
		row("highest temperature", "claude-haiku-4-5", prompt, `{"temperature":1.0}`, false),
		row("temperature beyond the format", "claude-haiku-4-5", prompt, `{"temperature":1.01}`, true),
		row("temperature and top_p", "claude-haiku-4-5", prompt, `{"temperature":0.2,"top_p":0.9}`, true),
		row("temperature and the default top_p", "claude-haiku-4-5", prompt, `{"temperature":0.2,"top_p":1}`, false),
		row("fixed temperature", "claude-sonnet-5", prompt, `{"temperature":0.2}`, true),
		row("fixed top_p of a dated model", "claude-opus-4-7-20260416", prompt, `{"top_p":0.2}`, true),
		row("the default temperature", "claude-sonnet-5", prompt, `{"temperature":1,"top_p":1}`, false),
		row("another family", "claude-sonnet-50", prompt, `{"temperature":0.2}`, false),
		row("stop", "m", prompt, `{"stop":["\n\nHuman:"]}`, false),
		row("blank stop", "m", prompt, `{"stop":["x","\n\n"]}`, true),
		row("seed is for all", "claude-sonnet-5", prompt, `{"seed":1}`, false),
	}
}
