package routing_test

import (
	"unitask/internal/supplier"
)

// organ is a picture of an organ's pipes, as Gemini's reference has it.
const organ = `{"messages":[{"role":"user","content":[{"type":"text","text":"Tell me about this image"},{"type":"image","image":{"url":"https://a.example/organ.jpg"}}]}]}`

// otherLedgers are the examples of the other suppliers' references.
var otherLedgers = []ledger{
	{
		supplier: "Anthropic", source: "the page on the Messages API: a request and its response", kind: "anthropic",
		request: asks("text.chat", "claude-sonnet-5", `{"prompt":"Hello, Claude"}`, `{"max_output_tokens":1024}`),
		answer:  message(`{"type":"text","text":"Hello!"}`, `{"input_tokens":12,"output_tokens":6}`),
		used:    supplier.Usage{InputTokens: 12, OutputTokens: 6},
		own:     price("mtok 2.00 10.00"),
		list:    plain,
		owed:    12*2000 + 6*10000,
		charged: 12*3000 + 6*12000,
	},
	{
		supplier: "Anthropic", source: "the same page: vision", kind: "anthropic",
		request: asks("text.chat", "claude-sonnet-5", `{"messages":[{"role":"user","content":[`+
			`{"type":"image","image":{"url":"https://upload.wikimedia.org/wikipedia/commons/a/a7/Camponotus_flavomarginatus_ant.jpg"}},`+
			`{"type":"text","text":"What is in the above image?"}]}]}`, `{"max_output_tokens":1024}`, "/messages/0/content/0/image", "image/jpeg"),
		answer:  message(`{"type":"text","text":"This image shows an ant..."}`, `{"input_tokens":1551,"output_tokens":71}`),
		used:    supplier.Usage{InputTokens: 1551, OutputTokens: 71},
		own:     price("mtok 2.00 10.00 cached_input=0.20 cache_write=2.50"),
		list:    plain,
		owed:    1551*2000 + 71*10000,
		charged: 1551*3000 + 71*12000,
	},
	{
		supplier: "Gemini", source: "the reference of tokens: a text", kind: "gemini",
		request: asks("text.chat", "gemini-2.5-flash-lite", `{"prompt":"The quick brown fox jumps over the lazy dog."}`, `{}`),
		answer:  generated(`{"promptTokenCount":11,"candidatesTokenCount":73,"totalTokenCount":84}`),
		used:    supplier.Usage{InputTokens: 11, OutputTokens: 73},
		own:     price("mtok 0.10 0.40"),
		list:    plain,
		owed:    11*100 + 73*400,
		charged: 11*3000 + 73*12000,
	},
	{
		supplier: "Gemini", source: "the reference of tokens: a conversation", kind: "gemini",
		request: asks("text.chat", "gemini-2.5-flash-lite", `{"messages":[{"role":"user","content":"Hi my name is Bob"},{"role":"assistant","content":"Hi Bob!"},`+
			`{"role":"user","content":"In one sentence, explain how a computer works to a young child."}]}`, `{}`),
		answer:  generated(`{"promptTokenCount":25,"candidatesTokenCount":21,"totalTokenCount":46}`),
		used:    supplier.Usage{InputTokens: 25, OutputTokens: 21},
		own:     price("mtok 0.10 0.40"),
		list:    plain,
		owed:    25*100 + 21*400,
		charged: 25*3000 + 21*12000,
	},
	{
		supplier: "Gemini", source: "the reference of tokens: an image", kind: "gemini",
		request: asks("text.chat", "gemini-2.5-flash-lite", organ, `{}`, "/messages/0/content/1/image", "image/jpeg"),
		answer:  generated(`{"promptTokenCount":264,"candidatesTokenCount":80,"totalTokenCount":345}`),
		used:    supplier.Usage{InputTokens: 264, OutputTokens: 80},
		own:     price("mtok 0.10 0.40 image_input=0.20"), // the report doesn't tell the image's tokens apart
		list:    plain,
		owed:    264*100 + 80*400,
		charged: 264*3000 + 80*12000,
	},
	{
		supplier: "xAI", source: "the reference of chat completions: reasoning stands beside the completion", kind: "openai",
		request: asks("text.chat", "grok-4.3", `{"prompt":"What is 101*3?","system":"You are a helpful assistant that can answer questions and help with tasks."}`, `{}`),
		answer: completed(`{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"prompt_tokens_details":{"text_tokens":32,"audio_tokens":0,"image_tokens":0,"cached_tokens":6},` +
			`"completion_tokens_details":{"reasoning_tokens":94,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0},"num_sources_used":0}`),
		used:    supplier.Usage{InputTokens: 32, OutputTokens: 103, CachedInputTokens: 6, ReasoningTokens: 94},
		own:     price("mtok 1.25 2.50 cached_input=0.20"),
		list:    price("mtok 2 3 reasoning=4"),
		owed:    26*1250 + 6*200 + 103*2500,
		charged: 32*2000 + 9*3000 + 94*4000,
	},
}
