package openai_test

import (
	"net/http"

	"unitask/internal/supplier/suppliertest"
)

// toolCalls are the forms in which servers of the format call tools.
func toolCalls() []suppliertest.ToolCall {
	const (
		call  = `"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]`
		usage = `,"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}`
	)
	whole := func(message, reason string) http.Handler {
		return suppliertest.JSON(200, `{"choices":[{"index":0,"message":{"role":"assistant",`+message+`},"finish_reason":`+reason+`}]`+usage+`}`)
	}
	streamed := func(delta, reason string) http.Handler {
		return suppliertest.Events(chunk(`[{"index":0,"delta":{"role":"assistant",`+delta+`},"finish_reason":null}],"usage":null`),
			chunk(`[{"index":0,"delta":{},"finish_reason":`+reason+`}],"usage":null`), chunk(`[]`+usage), `[DONE]`)
	}
	return []suppliertest.ToolCall{
		{Name: "alone", Answer: whole(`"content":null,`+call, `"tool_calls"`), Stream: streamed(`"content":null,`+call, `"tool_calls"`)},
		{Name: "after text", Answer: whole(`"content":"Hm.",`+call, `"tool_calls"`), Stream: streamed(`"content":"Hm.",`+call, `"tool_calls"`), Text: "Hm."},
		{Name: "that stops", Answer: whole(`"content":"",`+call, `"stop"`), Stream: streamed(call, `"stop"`)},
		{Name: "without a reason", Answer: whole(`"content":null,`+call, `null`), Stream: streamed(call, `null`)},
		{Name: "of the form before", Answer: whole(`"function_call":{"name":"f"}`, `"function_call"`), Stream: streamed(`"function_call":{"name":"f"}`, `"function_call"`)},
		{Name: "by the reason alone", Answer: whole(`"content":""`, `"tool_calls"`), Stream: streamed(`"content":""`, `"tool_calls"`)},
	}
}
