package anthropic_test

import (
	"testing"

	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/suppliertest"
)

func FuzzChatAnswer(f *testing.F) {
	suppliertest.FuzzText(f, anthropic.Kind(), request(`{"prompt":"Hi"}`, `{}`),
		chatAnswer, ``, `null`, `[]`, `<html>`, `{"content":[]}`, `{"error":"x"}`, `{"type":"error","error":{"type":"overloaded_error"}}`,
		`{"content":[],"stop_reason":"refusal"}`, `{"content":[{"type":"text"}],"usage":{"input_tokens":-1,"output_tokens":"x"}}`,
		`{"content":[{"type":"text"}],"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":1e11,"output_tokens":3,`+
			`"output_tokens_details":{"thinking_tokens":4},"server_tool_use":{"web_search_requests":-5}}}`,
		`{"content":[{"type":"text"}],"usage":{"input_tokens":1,"output_tokens":3,"output_tokens_details":7,"server_tool_use":[]}}`,
		`{"type":"error","error":{"type":"timeout_error"}}0`,
	)
}

func FuzzStream(f *testing.F) {
	const piece = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"
	suppliertest.FuzzTextStream(f, anthropic.Kind(), request(`{"prompt":"Hi"}`, `{}`),
		piece+"data: {\"type\":\"message_stop\"}\n\n", ": ping\n\n", "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
		piece+"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\r\n\r\ndata: {", "\ufeffdata: {}\r\r",
		piece+"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}\n\n", "event: error\ndata: {\"error\":{}}\n\n",
	)
}
