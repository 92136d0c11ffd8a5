package anthropic_test

import "unitask/internal/supplier/suppliertest"

// toolCalls are the forms in which the format calls tools.
func toolCalls() []suppliertest.ToolCall {
	const (
		call    = `{"type":"tool_use","id":"c","name":"f","input":{}}`
		text    = `{"type":"text","text":"Hm."}`
		usage   = `"usage":{"input_tokens":9,"output_tokens":2}`
		started = `{"type":"content_block_start","index":1,"content_block":` + call + `}`
		said    = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hm."}}`
		piece   = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`
		end     = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},` + usage + `}`
		stop    = `{"type":"message_stop"}`
	)
	whole := func(content, reason string) string {
		return `{"type":"message","role":"assistant","content":[` + content + `],"stop_reason":` + reason + `,` + usage + `}`
	}
	return []suppliertest.ToolCall{
		{Name: "alone", Answer: suppliertest.JSON(200, whole(call, `"tool_use"`)), Stream: suppliertest.Events(started, piece, end, stop)},
		{
			Name: "after text", Answer: suppliertest.JSON(200, whole(text+","+call, `"tool_use"`)),
			Stream: suppliertest.Events(said, started, piece, end, stop), Text: "Hm.",
		},
		{
			Name: "that ends the turn", Answer: suppliertest.JSON(200, whole(call, `"end_turn"`)),
			Stream: suppliertest.Events(started, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},`+usage+`}`, stop),
		},
		{Name: "by the reason alone", Answer: suppliertest.JSON(200, whole("", `"tool_use"`)), Stream: suppliertest.Events(end, stop)},
	}
}
