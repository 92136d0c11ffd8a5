package gemini_test

import (
	"encoding/json"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// toolCalls are the forms in which the format calls tools.
func toolCalls() []suppliertest.ToolCall {
	const (
		call    = `{"functionCall":{"name":"f","args":{}}}`
		first   = `{"functionCall":{"id":"x","name":"f","args":{"a":1}},"thoughtSignature":"Zmlyc3Q="}`
		second  = `{"functionCall":{"id":"y","name":"g"}}`
		third   = `{"functionCall":{"name":"f","args":null},"thoughtSignature":"dGhpcmQ="}`
		text    = `{"text":"Hm."}`
		said    = `{"text":"Hm.","thoughtSignature":"dGV4dA=="}`
		thought = `{"text":"Well.","thought":true,"thoughtSignature":"bm8="}`
		usage   = `"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}`
	)
	answer := func(parts, reason string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"finishReason":"` + reason + `"}],` + usage + `}`
	}
	piece := func(parts string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}}]}`
	}
	row := func(name, parts, reason string, calls ...supplier.ToolCall) suppliertest.ToolCall {
		return suppliertest.ToolCall{Name: name, Answer: suppliertest.JSON(200, answer(parts, reason)), Stream: suppliertest.Events(answer(parts, reason)), Calls: calls}
	}
	f := supplier.ToolCall{Name: "f", Arguments: "{}"}
	cut := row("that is cut", call, "MAX_TOKENS", f)
	cut.Cut = true
	mused := row("after thoughts, whose signature stays", thought+","+call, "STOP", f)
	mused.Reasoning = "Well."
	all := []suppliertest.ToolCall{
		row("alone", call, "STOP", f),
		row("without a reason of Google's", call, "FUNCTION_CALL", f),
		cut,
		mused,
		row("without a name", `{"functionCall":{"args":{}}},`+call, "STOP", f),
		row("of another form", `{"functionCall":["f"]}`, "STOP"),
		{
			Name: "after text", Answer: suppliertest.JSON(200, answer(text+","+call, "STOP")), Text: "Hm.", Calls: []supplier.ToolCall{f},
			Stream: suppliertest.Events(piece(text), answer(call, "STOP")),
		},
		{
			Name: "three times, with thoughts and signatures", Text: "Hm.", Reasoning: "Well.",
			Answer: suppliertest.JSON(200, answer(thought+","+said+","+first+","+second+","+third, "STOP")),
			Stream: suppliertest.Events(piece(thought), piece(said), piece(first+","+second), piece(third), answer(`{"text":""}`, "STOP")),
			Calls:  []supplier.ToolCall{{Name: "f", Arguments: `{"a":1}`}, {Name: "g", Arguments: "{}"}, f},
			State:  json.RawMessage(`{"text":"dGV4dA==","calls":[{"call":0,"signature":"Zmlyc3Q="},{"call":2,"signature":"dGhpcmQ="}]}`),
		},
	}
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"} {
		bare := `{"candidates":[{"finishReason":"` + reason + `"}],` + usage + `}`
		all = append(all, suppliertest.ToolCall{Name: reason, Answer: suppliertest.JSON(200, bare), Stream: suppliertest.Events(bare)})
	}
	return all
}
