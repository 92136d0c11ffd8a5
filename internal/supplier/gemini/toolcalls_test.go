package gemini_test

import "unitask/internal/supplier/suppliertest"

// toolCalls are the forms in which the format calls tools.
func toolCalls() []suppliertest.ToolCall {
	const (
		call  = `{"functionCall":{"name":"f","args":{}}}`
		text  = `{"text":"Hm."}`
		usage = `"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}`
	)
	answer := func(parts, reason string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"finishReason":"` + reason + `"}],` + usage + `}`
	}
	all := []suppliertest.ToolCall{
		{Name: "alone", Answer: suppliertest.JSON(200, answer(call, "STOP")), Stream: suppliertest.Events(answer(call, "STOP"))},
		{
			Name: "after text", Answer: suppliertest.JSON(200, answer(text+","+call, "STOP")), Text: "Hm.",
			Stream: suppliertest.Events(`{"candidates":[{"content":{"parts":[`+text+`]}}]}`, answer(call, "STOP")),
		},
	}
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"} {
		bare := `{"candidates":[{"finishReason":"` + reason + `"}],` + usage + `}`
		all = append(all, suppliertest.ToolCall{Name: reason, Answer: suppliertest.JSON(200, bare), Stream: suppliertest.Events(bare)})
	}
	return all
}
