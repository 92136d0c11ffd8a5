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
		`{"content":[`+thought+`,`+hidden+`,{"type":"text","text":"a","citations":[`+cited+`]},{"type":"tool_use","id":"c","name":"f","input":{"a":1}}],"stop_reason":"tool_use"}`,
		`{"content":[`+searched+`,`+found+`,{"type":"tool_use","name":"f","input":"a"}],"stop_reason":"max_tokens"}`, `{"content":[`+thought+`,`+thought+`],"stop_reason":"pause_turn"}`,
	)
}

func FuzzStream(f *testing.F) {
	const piece = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"
	began := func(index, block string) string {
		return `data: {"type":"content_block_start","index":` + index + `,"content_block":` + block + "}\n\n"
	}
	suppliertest.FuzzTextStream(f, anthropic.Kind(), request(`{"prompt":"Hi"}`, `{}`),
		piece+"data: {\"type\":\"message_stop\"}\n\n", ": ping\n\n", "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
		piece+"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\r\n\r\ndata: {", "\ufeffdata: {}\r\r",
		began("0", thought)+"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"a\"}}\n\n"+
			"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"signature_delta\",\"signature\":\"a\"}}\n\n"+
			began("-1", `{"type":"tool_use","name":"f","input":{}}`)+"data: {\"type\":\"content_block_delta\",\"index\":-1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n"+
			began("2", `{"type":"tool_use","name":"g","input":{}}`)+"data: {\"type\":\"content_block_stop\",\"index\":2}\n\n"+"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
		began("0", searched)+began("1", found)+began("1", hidden)+"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"citations_delta\",\"citation\":"+cited+"}}\n\n"+"data: {\"type\":\"message_stop\"}\n\n",
		piece+"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}\n\n", "event: error\ndata: {\"error\":{}}\n\n",
	)
}
