package anthropic_test

import (
	"encoding/json"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// TestPublished validates the requests, and the fakes' answers, by Anthropic's published document.
func TestPublished(t *testing.T) {
	searched := suppliertest.ToolTalk("claude-sonnet-4-6", json.RawMessage(`[`+searched+`,`+found+`]`), `"web_search":true`)
	suppliertest.RunPublished(t, suppliertest.Published{
		Harness: harness(t),
		More:    []supplier.Request{request(`{"prompt":"Hi"}`, `{}`), searched},
		Want: map[string][]string{
			"GET /v1/models": {"header anthropic-version"},
			"POST /v1/messages": {
				"header anthropic-version", "max_tokens", "messages[].content", "messages[].content[].caller.type", "messages[].content[].content",
				"messages[].content[].content[].encrypted_content", "messages[].content[].content[].page_age", "messages[].content[].content[].text",
				"messages[].content[].content[].title", "messages[].content[].content[].type", "messages[].content[].content[].url",
				"messages[].content[].data", "messages[].content[].id", "messages[].content[].input.arguments", "messages[].content[].input.place",
				"messages[].content[].input.query", "messages[].content[].name", "messages[].content[].signature", "messages[].content[].source.data",
				"messages[].content[].source.media_type", "messages[].content[].source.type", "messages[].content[].text",
				"messages[].content[].thinking", "messages[].content[].tool_use_id", "messages[].content[].type", "messages[].role", "model",
				"output_config.effort", "output_config.format.schema", "output_config.format.type", "stop_sequences[]", "stream", "system",
				"temperature", "thinking.budget_tokens", "thinking.display", "thinking.type", "tool_choice.disable_parallel_tool_use",
				"tool_choice.name", "tool_choice.type", "tools[].description", "tools[].input_schema.additionalProperties",
				"tools[].input_schema.properties", "tools[].input_schema.properties.days.minimum", "tools[].input_schema.properties.days.type",
				"tools[].input_schema.properties.place.description", "tools[].input_schema.properties.place.type", "tools[].input_schema.required[]",
				"tools[].input_schema.type", "tools[].max_uses", "tools[].name", "tools[].type", "top_p",
			},
		},
	})
}
