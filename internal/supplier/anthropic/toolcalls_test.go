package anthropic_test

import (
	"encoding/json"
	"net/http"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// toolCalls are the forms in which the format calls tools.
func toolCalls() []suppliertest.ToolCall {
	const (
		call  = `{"type":"tool_use","id":"c","name":"f","input":{}}`
		more  = `{"type":"tool_use","id":"d","name":"g","input":{"b": [1]}}`
		foul  = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`
		hm    = `{"type":"text","text":"Hm."}`
		deep  = `{"type":"thinking","thinking":"Well.","signature":"s1"}`
		last  = `{"type":"thinking","thinking":"So.","signature":"s2"}`
		usage = `"usage":{"input_tokens":9,"output_tokens":2}`
		stop  = `{"type":"message_stop"}`
	)
	whole := func(reason, content string) http.Handler {
		return suppliertest.JSON(200, `{"type":"message","role":"assistant","content":[`+content+`],"stop_reason":`+reason+`,`+usage+`}`)
	}
	events := func(reason string, events ...string) http.Handler {
		end := `{"type":"message_delta","delta":{"stop_reason":` + reason + `},` + usage + `}`
		return suppliertest.Events(append(events, end, stop)...)
	}
	begin := func(index, block string) string {
		return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
	}
	add := func(index, delta string) string {
		return `{"type":"content_block_delta","index":` + index + `,"delta":{` + delta + `}}`
	}
	piece := func(index, json string) string {
		return add(index, `"type":"input_json_delta","partial_json":"`+json+`"`)
	}
	end := func(index string) string { return `{"type":"content_block_stop","index":` + index + `}` }
	said, empty := add("0", `"type":"text_delta","text":"Hm."`), `{"type":"thinking","thinking":"","signature":""}`
	once := []supplier.ToolCall{{Name: "f", Arguments: "{}"}}
	both := []supplier.ToolCall{{Name: "f", Arguments: "{}"}, {Name: "g", Arguments: `{"b": [1]}`}}
	return []suppliertest.ToolCall{
		{Name: "alone", Answer: whole(`"tool_use"`, call), Stream: events(`"tool_use"`, begin("1", call), piece("1", "{}")), Calls: once},
		{Name: "after text", Answer: whole(`"tool_use"`, hm+","+call), Stream: events(`"tool_use"`, said, begin("1", call), piece("1", "{}")), Text: "Hm.", Calls: once},
		{Name: "that ends the turn", Answer: whole(`"end_turn"`, call), Stream: events(`"end_turn"`, begin("0", call)), Calls: once},
		{Name: "by the reason alone", Answer: whole(`"tool_use"`, ""), Stream: events(`"tool_use"`)},
		{Name: "without a reason", Answer: whole(`null`, call), Stream: events(`null`, begin("0", call), end("0")), Calls: once},
		{Name: "without a name", Answer: whole(`"tool_use"`, `{"type":"tool_use"}`), Stream: events(`"tool_use"`, begin("0", `{"type":"tool_use"}`), piece("0", "{}"))},
		{Name: "of the server's", Answer: whole(`"end_turn"`, foul), Stream: events(`"end_turn"`, begin("0", foul), piece("0", "{}"))},
		{
			Name: "that is cut", Answer: whole(`"max_tokens"`, hm+`,{"type":"tool_use","name":"f","input":{"a":"lo"}}`), Text: "Hm.", Cut: true,
			Stream: events(`"max_tokens"`, said, begin("1", call), piece("1", `{\"a\":`), piece("1", `\"lo\"}`), end("1")),
			Calls:  []supplier.ToolCall{{Name: "f", Arguments: `{"a":"lo"}`}},
		},
		{Name: "without arguments", Answer: whole(`"tool_use"`, `{"type":"tool_use","name":"f","input":null}`), Stream: events(`"tool_use"`, begin("0", `{"type":"tool_use","name":"f"}`), piece("0", ""), end("0")), Calls: []supplier.ToolCall{{Name: "f"}}},
		{
			Name: "twice, in pieces", Answer: whole(`"tool_use"`, hm+`,`+call+`,`+more), Text: "Hm.", Calls: both,
			Stream: events(`"tool_use"`, begin("0", `{"type":"text","text":""}`), said, end("0"), begin("1", call), piece("1", ""), end("1"),
				begin("2", `{"type":"tool_use","id":"d","name":"g","input":{}}`), piece("2", `{\"b\": `), piece("2", `[1]}`), end("2")),
		},
		{Name: "twice, without ends", Answer: whole(`"tool_use"`, call+`,`+more), Stream: events(`"tool_use"`, begin("0", call), begin("1", more)), Calls: both},
		{
			Name: "after thoughts", Answer: whole(`"tool_use"`, deep+`,`+hidden+`,`+hm+`,`+call), Text: "Hm.", Calls: once, Reasoning: "Well.",
			Stream: events(`"tool_use"`, begin("0", empty), add("0", `"type":"thinking_delta","thinking":"We"`), add("0", `"type":"thinking_delta","thinking":"ll."`),
				add("0", `"type":"signature_delta","signature":"s"`), add("0", `"type":"signature_delta","signature":"1"`), end("0"), begin("1", hidden), end("1"),
				begin("2", `{"type":"text","text":"Hm."}`), end("2"), begin("3", call), piece("3", "{}"), end("3")),
			State: json.RawMessage(`[` + deepKept + `,` + hidden + `]`),
		},
		{
			Name: "between thoughts", Answer: whole(`"tool_use"`, deep+`,`+hm+`,`+call+`,`+last+`,`+more), Text: "Hm.", Calls: both, Reasoning: "Well.\n\nSo.",
			Stream: events(`"tool_use"`, begin("0", deep), end("0"), begin("1", hm), end("1"), begin("2", call), end("2"),
				begin("3", empty), add("3", `"type":"thinking_delta","thinking":"So."`), add("3", `"type":"signature_delta","signature":"s2"`), end("3"), begin("4", more), end("4")),
			State: json.RawMessage(`[` + deepKept + `,{"type":"text","length":3},{"type":"tool_use"},{"type":"thinking","thinking":"So.","signature":"s2"}]`),
		},
	}
}

// deepKept is a thought as a state has it.
const deepKept = `{"type":"thinking","thinking":"Well.","signature":"s1"}`
