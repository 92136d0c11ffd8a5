package routing_test

import (
	"unitask/internal/supplier"
)

// responses are the options of the Responses API.
var responses = map[string]string{"chat_api": "responses", "features": "tools reasoning web_search images documents"}

// boardwalk is the picture of OpenAI's examples.
const boardwalk = `{"url":"https://upload.wikimedia.org/wikipedia/commons/thumb/d/dd/Gfp-wisconsin-madison-the-nature-boardwalk.jpg/2560px-Gfp-wisconsin-madison-the-nature-boardwalk.jpg"}`

// weather is the tool of OpenAI's examples; that of chat completions requires the location alone.
const weather = `{"tools":[{"name":"get_current_weather","description":"Get the current weather in a given location","parameters":{"type":"object","properties":{` +
	`"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},"unit":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["location","unit"]}}],"tool_choice":"auto"}`

// openaiLedgers are the examples of OpenAI's reference: of its published document, as testdata of the package openai names it.
var openaiLedgers = []ledger{
	{
		supplier: "OpenAI", source: "the reference of chat completions: default", kind: "openai",
		request: asks("text.chat", "gpt-5-mini", `{"prompt":"Hello!","system":"You are a helpful assistant."}`, `{}`),
		answer: completed(`{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
			`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`),
		used:    supplier.Usage{InputTokens: 19, OutputTokens: 10},
		own:     price("mtok 0.25 2.00 cached_input=0.025"),
		list:    plain,
		owed:    19*250 + 10*2000,
		charged: 19*3000 + 10*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of chat completions: image input", kind: "openai", options: map[string]string{"features": "images"},
		request: asks("text.chat", "gpt-5.4", `{"messages":[{"role":"user","content":[{"type":"text","text":"What is in this image?"},{"type":"image","image":`+boardwalk+`}]}]}`,
			`{"max_output_tokens":300}`, "/messages/0/content/1/image", "image/jpeg"),
		answer: completed(`{"prompt_tokens":1117,"completion_tokens":46,"total_tokens":1163,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
			`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`),
		used:    supplier.Usage{InputTokens: 1117, OutputTokens: 46},
		own:     price("mtok 2.50 15.00 cached_input=0.25"),
		list:    plain,
		owed:    1117*2500 + 46*15000,
		charged: 1117*3000 + 46*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of chat completions: functions", kind: "openai", options: map[string]string{"features": "tools"},
		request: asks("text.chat", "gpt-5.4", `{"prompt":"What is the weather like in Boston today?"}`, weather),
		answer: `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_abc123","type":"function",` +
			`"function":{"name":"get_current_weather","arguments":"{\n\"location\": \"Boston, MA\"\n}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],` +
			`"usage":{"prompt_tokens":82,"completion_tokens":17,"total_tokens":99,"completion_tokens_details":{"reasoning_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}`,
		used:    supplier.Usage{InputTokens: 82, OutputTokens: 17},
		own:     price("mtok 2.50 15.00"),
		list:    plain,
		owed:    82*2500 + 17*15000,
		charged: 82*3000 + 17*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of responses: text input", kind: "openai", options: responses,
		request: asks("text.chat", "gpt-5.4", `{"prompt":"Tell me a three sentence bedtime story about a unicorn."}`, `{}`),
		answer: responded(`{"input_tokens":36,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":87,` +
			`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":123}`),
		used:    supplier.Usage{InputTokens: 36, OutputTokens: 87},
		own:     price("mtok 2.50 15.00 cached_input=0.25"),
		list:    plain,
		owed:    36*2500 + 87*15000,
		charged: 36*3000 + 87*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of responses: image input", kind: "openai", options: responses,
		request: asks("text.chat", "gpt-5.4", `{"messages":[{"role":"user","content":[{"type":"text","text":"what is in this image?"},{"type":"image","image":`+boardwalk+`}]}]}`,
			`{}`, "/messages/0/content/1/image", "image/jpeg"),
		answer: responded(`{"input_tokens":328,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":52,` +
			`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":380}`),
		used:    supplier.Usage{InputTokens: 328, OutputTokens: 52},
		own:     price("mtok 2.50 15.00 cached_input=0.25"),
		list:    plain,
		owed:    328*2500 + 52*15000,
		charged: 328*3000 + 52*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of responses: file input", kind: "openai", options: responses,
		request: asks("text.chat", "gpt-5.4", `{"messages":[{"role":"user","content":[{"type":"text","text":"what is in this file?"},`+
			`{"type":"document","document":{"url":"https://www.berkshirehathaway.com/letters/2024ltr.pdf"}}]}]}`, `{}`, "/messages/0/content/1/document", "application/pdf"),
		answer: responded(`{"input_tokens":8438,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":398,` +
			`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":8836}`),
		used:    supplier.Usage{InputTokens: 8438, OutputTokens: 398},
		own:     price("mtok 2.50 15.00"),
		list:    plain,
		owed:    8438*2500 + 398*15000,
		charged: 8438*3000 + 398*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of responses: web search", kind: "openai", options: responses,
		request: asks("text.chat", "gpt-5.4", `{"prompt":"What was a positive news story from today?"}`, `{"web_search":true}`),
		answer: `{"object":"response","status":"completed","error":null,"output":[{"type":"web_search_call","id":"ws_67ccf18f64008190a39b619f4c8455ef087bb177ab789d5c","status":"completed"},` +
			`{"type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"As of today, March 9, 2025, one notable positive news story...",` +
			`"annotations":[]}]}],"usage":{"input_tokens":328,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":356,` +
			`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":684}}`,
		used:    supplier.Usage{InputTokens: 328, OutputTokens: 356, Searches: 1},
		own:     price("mtok 2.50 15.00 search=0.01"),
		list:    plain,
		owed:    328*2500 + 356*15000 + 10_000_000,
		charged: 328*3000 + 356*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of responses: functions", kind: "openai", options: responses,
		request: asks("text.chat", "gpt-5.4", `{"prompt":"What is the weather like in Boston today?"}`, weather),
		answer: `{"object":"response","status":"completed","error":null,"output":[{"type":"function_call","id":"fc_67ca09c6bedc8190a7abfec07b1a1332096610f474011cc0",` +
			`"call_id":"call_unLAR8MvFNptuiZK6K6HCy5k","name":"get_current_weather","arguments":"{\"location\":\"Boston, MA\",\"unit\":\"celsius\"}","status":"completed"}],` +
			`"usage":{"input_tokens":291,"output_tokens":23,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":314}}`,
		used:    supplier.Usage{InputTokens: 291, OutputTokens: 23},
		own:     price("mtok 2.50 15.00"),
		list:    plain,
		owed:    291*2500 + 23*15000,
		charged: 291*3000 + 23*12000,
	},
	{ // the example sets no bound, so the least that would let this answer pass stands here
		supplier: "OpenAI", source: "the reference of responses: reasoning", kind: "openai", options: responses,
		request: asks("text.chat", "o3-mini", `{"prompt":"How much wood would a woodchuck chuck?"}`, `{"reasoning":"high","max_output_tokens":1035}`),
		answer: responded(`{"input_tokens":81,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":1035,` +
			`"output_tokens_details":{"reasoning_tokens":832},"total_tokens":1116}`),
		used:    supplier.Usage{InputTokens: 81, OutputTokens: 1035, ReasoningTokens: 832},
		own:     price("mtok 1.10 4.40"),
		list:    price("mtok 3 12 reasoning=10"),
		owed:    81*1100 + 1035*4400,
		charged: 81*3000 + 203*12000 + 832*10000,
	},
}
