package anthropic_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/suppliertest"
	"unitask/internal/supplier/upstream"
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

// hello is what chatAnswer comes to.
func hello() *supplier.Result {
	return &supplier.Result{
		Text: new("Hello."), FinishReason: "stop", Reasoning: "Well.",
		Usage: supplier.Usage{InputTokens: 16, OutputTokens: 2, CachedInputTokens: 4, CacheWriteTokens: 3},
	}
}

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
		Cases: append([]suppliertest.Case{
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
				Want: hello(),
			},
			{
				Request: request(`{"prompt":"Hi"}`, `{"output_schema":`+suppliertest.AnswerSchema+`}`),
				Sends: `{"model":"model-1","max_tokens":1024,"messages":[{"role":"user","content":"Hi"}],
					"output_config":{"format":{"type":"json_schema","schema":` + suppliertest.AnswerOutline + `}}}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   hello(),
			},
			{
				Request: request(`{"prompt":"Hi","system":"Be brief."}`, `{"output_schema":{"type":"object"}}`),
				Sends: `{"model":"model-1","max_tokens":1024,"system":"Be brief.\n\n` + upstream.AskObject + `",
					"messages":[{"role":"user","content":"Hi"}]}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   hello(),
			},
			{
				Request: suppliertest.ChatWith("model-1", "image/png", "application/pdf", "text/markdown"),
				Sends: `{"model":"model-1","max_tokens":1024,"system":"Be brief.","messages":[{"role":"user","content":[
					{"type":"text","text":"What is this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"YWJj"}},
					{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"YWJj"}},
					{"type":"document","source":{"type":"text","media_type":"text/plain","data":"abc"}}]}]}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   hello(),
			},
			{
				Request: request(`{"system":"Be brief.","messages":[{"role":"system","content":"Be kind."},{"role":"system","content":[{"type":"text","text":"Rhyme."}]},
					{"role":"user","content":"Hi"}]}`, `{}`),
				Sends:  `{"model":"model-1","max_tokens":1024,"system":"Be brief.\n\nBe kind.\n\nRhyme.","messages":[{"role":"user","content":"Hi"}]}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   hello(),
				Alike:  true,
			},
		}, toolCases()...),
		Faults:   faults(),
		Refusals: refusals(),
	}
}
