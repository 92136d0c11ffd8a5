package openai_test

import (
	"encoding/json"
	"net/http"

	"unitask/internal/supplier"
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
	pieces := func(deltas ...string) http.Handler {
		var events []string
		for _, d := range deltas {
			events = append(events, chunk(`[{"index":0,"delta":{`+d+`},"finish_reason":null}],"usage":null`))
		}
		return suppliertest.Events(append(events, chunk(`[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null`), chunk(`[]`+usage), `[DONE]`)...)
	}
	begin := func(index, id, name, arguments string) string {
		return `"tool_calls":[{` + index + `"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"` + arguments + `"}}]`
	}
	const (
		two    = `"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]`
		more   = `"tool_calls":[{"index":0,"function":{"arguments":"\"a\":1}"}}]`
		custom = `"tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"f","input":"a"}}]`
		deep   = `"content":"","reasoning_content":"Well.","reasoning_details":[{"type":"a"}],`
	)
	once := []supplier.ToolCall{{Name: "f", Arguments: "{}"}}
	both := []supplier.ToolCall{{Name: "f", Arguments: `{"a":1}`}, {Name: "g", Arguments: "{}"}}
	return []suppliertest.ToolCall{
		{Name: "alone", Answer: whole(`"content":null,`+call, `"tool_calls"`), Stream: streamed(`"content":null,`+call, `"tool_calls"`), Calls: once},
		{Name: "after text", Answer: whole(`"content":"Hm.",`+call, `"tool_calls"`), Stream: streamed(`"content":"Hm.",`+call, `"tool_calls"`), Text: "Hm.", Calls: once},
		{Name: "that stops", Answer: whole(`"content":"",`+call, `"stop"`), Stream: streamed(call, `"stop"`), Calls: once},
		{Name: "that is cut", Answer: whole(`"content":"",`+call, `"length"`), Stream: streamed(call, `"length"`), Calls: once, Cut: true},
		{Name: "without a reason", Answer: whole(`"content":null,`+call, `null`), Stream: streamed(call, `null`), Calls: once},
		{Name: "of the form before", Answer: whole(`"function_call":{"name":"f"}`, `"function_call"`), Stream: streamed(`"function_call":{"name":"f"}`, `"function_call"`), Calls: []supplier.ToolCall{{Name: "f"}}},
		{Name: "by the reason alone", Answer: whole(`"content":""`, `"tool_calls"`), Stream: streamed(`"content":""`, `"tool_calls"`)},
		{Name: "of another kind", Answer: whole(`"content":"",`+custom, `"tool_calls"`), Stream: streamed(custom, `"tool_calls"`)},
		{Name: "with an object", Answer: whole(`"content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]`, `"tool_calls"`), Stream: streamed(`"tool_calls":[{"function":{"name":"f","arguments":{}}}]`, `"tool_calls"`), Calls: once},
		{Name: "twice, in pieces", Answer: whole(two, `"tool_calls"`), Stream: pieces(begin(`"index":0,`, "a", "f", ""), `"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`, more, begin(`"index":1,`, "b", "g", "{}")), Calls: both},
		{Name: "twice under one index", Answer: whole(two, `"tool_calls"`), Stream: pieces(begin(`"index":0,`, "a", "f", `{\"a\":1}`), begin(`"index":0,`, "b", "g", "{}")), Calls: both},
		{Name: "twice without an index", Answer: whole(two, `"tool_calls"`), Stream: pieces(begin("", "a", "f", `{\"a\":1}`), begin("", "b", "g", "{}")), Calls: both},
		{
			Name: "after thoughts", Answer: whole(deep+call, `"tool_calls"`), Calls: once, Reasoning: "Well.",
			Stream: pieces(`"reasoning_content":"We"`, `"reasoning_content":"ll.","reasoning_details":[{"type":"a"}]`, call),
			State:  json.RawMessage(`{"reasoning_content":"Well.","reasoning_details":[{"type":"a"}]}`),
		},
	}
}
