package openai_test

import (
	"strings"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

const clean = `"flagged":false,
	"categories":{"hate":false,"hate/threatening":false,"harassment":false,"harassment/threatening":false,"illicit":null,"illicit/violent":null,
		"self-harm":false,"self-harm/intent":false,"self-harm/instructions":false,"sexual":false,"sexual/minors":false,"violence":false,"violence/graphic":false},
	"category_scores":{"hate":0,"hate/threatening":0,"harassment":0,"harassment/threatening":0,"illicit":0,"illicit/violent":0,
		"self-harm":0,"self-harm/intent":0,"self-harm/instructions":0,"sexual":0,"sexual/minors":0,"violence":0,"violence/graphic":0},
	"category_applied_input_types":{"hate":["text"],"hate/threatening":["text"],"harassment":["text"],"harassment/threatening":["text"],
		"illicit":["text"],"illicit/violent":["text"],"self-harm":["text"],"self-harm/intent":["text"],"self-harm/instructions":["text"],
		"sexual":["text"],"sexual/minors":["text"],"violence":["text"],"violence/graphic":["text"]}`

// harmful is a judgement by two categories of one name in the directory, and by another one.
var harmful = strings.NewReplacer(`"flagged":false`, `"flagged":true`, `"hate":false`, `"hate":true`, `"hate/threatening":false`, `"hate/threatening":true`,
	`"violence/graphic":false`, `"violence/graphic":true`, `"hate":0`, `"hate":0.75`, `"hate/threatening":0`, `"hate/threatening":0.5`,
	`"violence/graphic":0`, `"violence/graphic":0.5`).Replace(clean)

// TestPublished validates the requests, and the fakes' answers, by OpenAI's published document.
func TestPublished(t *testing.T) {
	h := harness(t)
	h.Config.MaxTokensField = "max_completion_tokens" // api.openai.com's; the other field is held in the other tests
	r := responsesHarness()
	r.Config.MaxTokensField = h.Config.MaxTokensField
	plain := transcribeRequest(`{"language":"pt-BR"}`)
	plain.Model = "gpt-4o-transcribe"
	suppliertest.RunPublished(t, suppliertest.Published{
		Harness: h,
		Others:  []suppliertest.Harness{r},
		More:    []supplier.Request{plain, request("text.chat", `{"prompt":"Hi"}`, `{}`)},
		Other: func(t *testing.T, a supplier.Adapter) {
			if _, err := a.(supplier.Moderator).Moderate(t.Context(), "omni-moderation-latest", []string{"hello", "there"}); err != nil {
				t.Error(err)
			}
		},
		OtherAnswer: suppliertest.JSON(200, `{"id":"modr-1","model":"omni","results":[{`+clean+`},{`+clean+`}]}`),
		Want: map[string][]string{
			"GET /models":        nil,
			"POST /audio/speech": {"input", "instructions", "model", "response_format", "speed", "voice"},
			"POST /audio/transcriptions": {
				"chunking_strategy", "file", "keywords[]", "language", "model", "prompt", "response_format", "timestamp_granularities[]",
			},
			"POST /audio/translations": {"file", "model", "prompt", "response_format"},
			"POST /chat/completions": {
				"max_completion_tokens", "messages[].content", "messages[].content[].file.file_data", "messages[].content[].file.filename",
				"messages[].content[].image_url.url", "messages[].content[].input_audio.data", "messages[].content[].input_audio.format",
				"messages[].content[].text", "messages[].content[].type", "messages[].role", "messages[].tool_call_id",
				"messages[].tool_calls[].function.arguments", "messages[].tool_calls[].function.name", "messages[].tool_calls[].id",
				"messages[].tool_calls[].type", "model", "parallel_tool_calls", "reasoning_effort", "response_format.json_schema.name",
				"response_format.json_schema.schema", "response_format.json_schema.strict", "response_format.type", "seed", "stop[]", "stream",
				"stream_options.include_usage", "temperature", "tool_choice", "tool_choice.function.name", "tool_choice.type",
				"tools[].function.description", "tools[].function.name", "tools[].function.parameters.additionalProperties",
				"tools[].function.parameters.properties", "tools[].function.parameters.properties.days.minimum",
				"tools[].function.parameters.properties.days.type", "tools[].function.parameters.properties.place.description",
				"tools[].function.parameters.properties.place.type", "tools[].function.parameters.required[]",
				"tools[].function.parameters.type", "tools[].function.strict", "tools[].type", "top_p", "web_search_options",
			},
			"POST /embeddings":         {"dimensions", "encoding_format", "input[]", "model"},
			"POST /images/edits":       {"image[]", "input_fidelity", "mask", "model", "n", "output_format", "prompt", "quality", "size"},
			"POST /images/generations": {"background", "model", "n", "output_format", "prompt", "quality", "size"},
			"POST /moderations":        {"input[]", "model"},
			"POST /responses": {
				"include[]", "input[].arguments", "input[].call_id", "input[].content", "input[].content[].detail", "input[].content[].file_data",
				"input[].content[].filename", "input[].content[].image_url", "input[].content[].text", "input[].content[].type",
				"input[].encrypted_content", "input[].id", "input[].name", "input[].output", "input[].output[].text", "input[].output[].type",
				"input[].role", "input[].summary[].text", "input[].summary[].type", "input[].type", "max_output_tokens", "max_tool_calls", "model",
				"parallel_tool_calls", "reasoning.effort", "reasoning.summary", "store", "stream", "temperature", "text.format.name",
				"text.format.schema", "text.format.strict", "text.format.type", "tool_choice", "tool_choice.name", "tool_choice.type",
				"tools[].description", "tools[].name", "tools[].parameters.additionalProperties", "tools[].parameters.properties",
				"tools[].parameters.properties.days.minimum", "tools[].parameters.properties.days.type",
				"tools[].parameters.properties.place.description", "tools[].parameters.properties.place.type", "tools[].parameters.required[]",
				"tools[].parameters.type", "tools[].strict", "tools[].type", "top_p",
			},
		},
	})
}
