package suppliertest

import (
	"encoding/json"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
)

// Tools are two tools, one with arguments and one without.
const Tools = `[{"description":"The weather of a place.","name":"get_weather","parameters":` + ToolSchema + `},{"name":"now"}]`

// ToolSchema is the schema of the first tool's arguments, NoArguments that of the second.
const (
	ToolSchema = `{"properties":{"days":{"minimum":1,"type":"integer"},"place":{"description":"A town.","type":"string"}},` +
		`"required":["place"],"type":"object"}`
	NoArguments = `{"additionalProperties":false,"properties":{},"type":"object"}`
)

// ToolTalk returns a chat in which the assistant has said "Let me see." and called both of Tools, the second one by
// words that are no JSON, and has their results "Rain" and "Noon". state is that of the assistant's message, nil for
// none; parameters stand beside the tools, such as `"tool_choice":"none"`.
func ToolTalk(model string, state json.RawMessage, parameters string) supplier.Request {
	if parameters != "" {
		parameters += ","
	}
	r := supplier.Request{
		Capability: string(catalog.TextChat), Model: model, SubmitKey: "task_0/1",
		Parameters: json.RawMessage(`{` + parameters + `"tools":` + Tools + `}`),
		Input: json.RawMessage(`{"messages":[{"content":"What is it like?","role":"user"},` +
			`{"content":"Let me see.","role":"assistant","state":"AAAA","tool_calls":[{"arguments":{"place":"Lund"},"id":"call_1","name":"get_weather"},` +
			`{"arguments":"{now","id":"call_2","invalid":true,"name":"now"}]},` +
			`{"content":"Rain","role":"tool","tool_call_id":"call_1"},` +
			`{"content":[{"text":"Noon","type":"text"}],"role":"tool","tool_call_id":"call_2"}]}`),
	}
	if state != nil {
		r.States = map[int]json.RawMessage{1: state}
	}
	return r
}
