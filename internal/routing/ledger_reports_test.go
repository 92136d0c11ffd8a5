package routing_test

import (
	"strings"

	"unitask/internal/supplier"
)

// reports are usages that a supplier's pages show without the request, and, of a supplier whose pages show none, recorded
// ones: their source says so.
var reports = []ledger{
	{
		supplier: "OpenAI", source: "the guide to prompt caching", kind: "openai", request: chat("gpt-5-mini"),
		answer: completed(`{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920},` +
			`"completion_tokens_details":{"reasoning_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`),
		used:    supplier.Usage{InputTokens: 2006, OutputTokens: 300, CachedInputTokens: 1920},
		own:     price("mtok 0.25 2.00 cached_input=0.025"),
		list:    price("mtok 0.30 2.50 cached_input=0.05"),
		owed:    86*250 + 1920*25 + 300*2000,
		charged: 86*300 + 1920*50 + 300*2500,
	},
	{
		supplier: "DeepSeek", source: "a recorded answer of deepseek-v4-flash, of the form in the guide to context caching", kind: "openai", request: chat("deepseek-v4-flash"),
		answer: completed(`{"prompt_tokens":89008,"completion_tokens":192,"total_tokens":89200,"prompt_tokens_details":{"cached_tokens":88960},` +
			`"completion_tokens_details":{"reasoning_tokens":94},"prompt_cache_hit_tokens":88960,"prompt_cache_miss_tokens":48}`),
		used:    supplier.Usage{InputTokens: 89008, OutputTokens: 192, CachedInputTokens: 88960, ReasoningTokens: 94},
		own:     price("mtok 0.14 0.28 cached_input=0.028"),
		list:    plain,
		owed:    48*140 + 88960*28 + 192*280,
		charged: 89008*3000 + 192*12000,
	},
	{
		supplier: "DeepSeek", source: "the same without the details, as older answers are", kind: "openai", request: chat("deepseek-v4-flash"),
		answer:  completed(`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":80,"prompt_cache_miss_tokens":20}`),
		used:    supplier.Usage{InputTokens: 100, OutputTokens: 5, CachedInputTokens: 80},
		own:     price("mtok 0.14 0.28 cached_input=0.028"),
		list:    plain,
		owed:    20*140 + 80*28 + 5*280,
		charged: 100*3000 + 5*12000,
	},
	{
		supplier: "Perplexity", source: "the page on pricing: reasoning is not in the completion, nor are citations in the prompt", kind: "openai",
		request: chat("sonar-deep-research"),
		answer:  completed(`{"prompt_tokens":33,"completion_tokens":7163,"total_tokens":7196,"citation_tokens":20016,"num_search_queries":18,"reasoning_tokens":73997}`),
		used:    supplier.Usage{InputTokens: 33 + 20016, OutputTokens: 7163 + 73997, ReasoningTokens: 73997, Searches: 18},
		own:     price("mtok 2 8 reasoning=3 search=0.005"),
		list:    price("search 0.01 0"),
		owed:    (33+20016)*2000 + 7163*8000 + 73997*3000 + 18*5_000_000,
		charged: 18 * 10_000_000,
	},
	{
		supplier: "OpenRouter", source: "the page on usage accounting", kind: "openai", options: map[string]string{"reported_cost": "on"}, request: chat("any"),
		answer: completed(`{"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":0},"cost":0.95,"cost_details":{"upstream_inference_cost":19},` +
			`"prompt_tokens":194,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"total_tokens":196}`),
		used:    supplier.Usage{InputTokens: 194, OutputTokens: 2},
		own:     plain, // it states its charge
		list:    plain,
		owed:    950_000_000,
		charged: 194*3000 + 2*12000,
	},
	{
		supplier: "Anthropic", source: "the page on the web search tool", kind: "anthropic", request: chat("claude-sonnet-5"),
		answer: `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":105,"output_tokens":6039,` +
			`"cache_read_input_tokens":7123,"cache_creation_input_tokens":7345,"server_tool_use":{"web_search_requests":1}}}`,
		used:    supplier.Usage{InputTokens: 14573, OutputTokens: 6039, CachedInputTokens: 7123, CacheWriteTokens: 7345, Searches: 1},
		own:     price("mtok 2.00 10.00 cached_input=0.20 cache_write=2.50 search=0.01"),
		list:    plain,
		owed:    105*2000 + 7123*200 + 7345*2500 + 6039*10000 + 10_000_000,
		charged: 14573*3000 + 6039*12000,
	},
	{
		supplier: "Anthropic", source: "the page on prompt caching: the first request about a book", kind: "anthropic", request: chat("claude-sonnet-5"),
		answer:  message(`{"type":"text","text":"The..."}`, `{"cache_creation_input_tokens":188086,"cache_read_input_tokens":0,"input_tokens":21,"output_tokens":393}`),
		used:    supplier.Usage{InputTokens: 21 + 188086, OutputTokens: 393, CacheWriteTokens: 188086},
		own:     price("mtok 2.00 10.00 cached_input=0.20 cache_write=2.50"),
		list:    price("mtok 3 12 cached_input=0.3"),
		owed:    21*2000 + 188086*2500 + 393*10000,
		charged: (21+188086)*3000 + 393*12000,
	},
	{
		supplier: "Anthropic", source: "the same page: the second request about it", kind: "anthropic", request: chat("claude-sonnet-5"),
		answer:  message(`{"type":"text","text":"The..."}`, `{"cache_creation_input_tokens":0,"cache_read_input_tokens":188086,"input_tokens":21,"output_tokens":393}`),
		used:    supplier.Usage{InputTokens: 21 + 188086, OutputTokens: 393, CachedInputTokens: 188086},
		own:     price("mtok 2.00 10.00 cached_input=0.20 cache_write=2.50"),
		list:    price("mtok 3 12 cached_input=0.3"),
		owed:    21*2000 + 188086*200 + 393*10000,
		charged: 21*3000 + 188086*300 + 393*12000,
	},
	{
		supplier: "Gemini", source: "the page on context caching: a request about a film", kind: "gemini", request: chat("gemini-2.5-flash"),
		answer:  generated(`{"promptTokenCount":696219,"cachedContentTokenCount":696190,"candidatesTokenCount":214,"totalTokenCount":696433}`),
		used:    supplier.Usage{InputTokens: 696219, OutputTokens: 214, CachedInputTokens: 696190},
		own:     price("mtok 0.30 2.50 cached_input=0.03"),
		list:    plain,
		owed:    29*300 + 696190*30 + 214*2500,
		charged: 696219*3000 + 214*12000,
	},
	{
		supplier: "Gemini", source: "the quickstart of caching: thoughts are not in the candidates", kind: "gemini", request: chat("gemini-2.5-flash"),
		answer: generated(`{"promptTokenCount":322707,"cachedContentTokenCount":322698,"candidatesTokenCount":282,"thoughtsTokenCount":4049,"totalTokenCount":327038,` +
			`"promptTokensDetails":[{"modality":"TEXT","tokenCount":322707}],"cacheTokensDetails":[{"modality":"TEXT","tokenCount":322698}]}`),
		used:    supplier.Usage{InputTokens: 322707, OutputTokens: 282 + 4049, CachedInputTokens: 322698, ReasoningTokens: 4049},
		own:     price("mtok 0.30 2.50 cached_input=0.03"),
		list:    price("mtok 3 12 reasoning=15"),
		owed:    9*300 + 322698*30 + (282+4049)*2500,
		charged: 322707*3000 + 282*12000 + 4049*15000,
	},
	{
		supplier: "Gemini", source: "the quickstart of sound", kind: "gemini", request: chat("gemini-2.5-flash"),
		answer: generated(`{"promptTokenCount":754,"candidatesTokenCount":49,"totalTokenCount":803,"promptTokensDetails":[{"modality":"TEXT","tokenCount":4},` +
			`{"modality":"AUDIO","tokenCount":750}],"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":49}]}`),
		used:    supplier.Usage{InputTokens: 754, OutputTokens: 49, AudioInputTokens: 750},
		own:     price("mtok 0.30 2.50 audio_input=1"),
		list:    plain,
		owed:    4*300 + 750*1000 + 49*2500,
		charged: 754*3000 + 49*12000,
	},
	{
		supplier: "Gemini", source: "a recorded answer with cached content, an image within it", kind: "gemini", request: chat("gemini-3.1-flash-lite"),
		answer: generated(`{"promptTokenCount":9660,"candidatesTokenCount":7,"totalTokenCount":9667,"cachedContentTokenCount":9651,` +
			`"promptTokensDetails":[{"modality":"TEXT","tokenCount":9402},{"modality":"IMAGE","tokenCount":258}],` +
			`"cacheTokensDetails":[{"modality":"TEXT","tokenCount":9393},{"modality":"IMAGE","tokenCount":258}]}`),
		used:    supplier.Usage{InputTokens: 9660, OutputTokens: 7, CachedInputTokens: 9651},
		own:     price("mtok 0.25 1.50 cached_input=0.025 image_input=1"),
		list:    plain,
		owed:    9*250 + 9651*25 + 7*1500,
		charged: 9660*3000 + 7*12000,
	},
	{
		supplier: "Gemini", source: "the page on grounding with Google Search: each query of a model of the series 3 is billed, but for empty ones", kind: "gemini",
		request: chat("gemini-3-flash-preview"),
		answer:  searched,
		used:    supplier.Usage{InputTokens: 10, OutputTokens: 30, Searches: 2},
		own:     price("mtok 0.50 3.00 search=0.014"),
		list:    plain,
		owed:    10*500 + 30*3000 + 2*14_000_000,
		charged: 10*3000 + 30*12000,
	},
	{
		supplier: "Gemini", source: "the same page: with a model of the series 2.5 the request is billed", kind: "gemini", request: chat("gemini-2.5-flash"),
		answer:  searched,
		used:    supplier.Usage{InputTokens: 10, OutputTokens: 30, Searches: 1},
		own:     price("mtok 0.30 2.50 search=0.035"),
		list:    price("search 0.05 0"),
		owed:    10*300 + 30*2500 + 35_000_000,
		charged: 50_000_000,
	},
	{
		supplier: "Replicate", source: "the metrics of a language model, of which the reference tells the times alone", kind: "replicate", request: chat("meta/llama-3-8b-instruct"),
		answer:  `{"id":"p1","status":"succeeded","output":["Hi","."],"error":null,"metrics":{"predict_time":0.5,"input_token_count":9,"output_token_count":2}}`,
		used:    supplier.Usage{InputTokens: 9, OutputTokens: 2},
		own:     price("mtok 0.05 0.25"),
		list:    plain,
		owed:    9*50 + 2*250,
		charged: 9*3000 + 2*12000,
	},
	{
		supplier: "fal", source: "the reference of its queue: a result has no usage, its images are counted", kind: "fal",
		request: other("image.generate", "fal-ai/flux/schnell", `{"prompt":"An otter"}`),
		answer:  `{"request_id":"r1","status":"COMPLETED","images":[{"url":"https://fal.example/1.png","content_type":"image/png"}]}`,
		used:    supplier.Usage{Images: 1},
		own:     price("image 0 0.003"),
		list:    price("image 0.001 0.003"),
		owed:    3_000_000,
		charged: 4_000_000,
	},
	{
		supplier: "another gateway", source: "docs/openapi.yaml", kind: "unitask", request: chat("text.chat"),
		answer: `{"id":"task_1","state":"succeeded","output":{"text":"Hi.","finish_reason":"stop"},"usage":{"input_tokens":200,"output_tokens":100,"cached_input_tokens":150,` +
			`"cache_write_tokens":10,"reasoning_tokens":60,"searches":2,"requests":1,"pages":3,"cost":{"currency":"USD","amount":"0.000013"}}}`,
		used: supplier.Usage{
			InputTokens: 200, OutputTokens: 100, CachedInputTokens: 150, CacheWriteTokens: 10, ReasoningTokens: 60, Searches: 2, Requests: 1, Pages: 3,
		},
		own:     plain, // it states its charge
		list:    price("mtok 2 10 cached_input=0.2 reasoning=12 search=0.01 request=0.001"),
		owed:    13_000,
		charged: 50*2000 + 150*200 + 40*10000 + 60*12000 + 2*10_000_000 + 1_000_000,
	},
}

// searched is an answer of Gemini's with the queries of that page. Google doesn't charge for what a search finds as input.
var searched = strings.Replace(generated(`{"promptTokenCount":10,"candidatesTokenCount":30,"toolUsePromptTokenCount":100,"totalTokenCount":140}`),
	`"finishReason"`, `"groundingMetadata":{"webSearchQueries":["UEFA Euro 2024 winner","","Spain vs England Euro 2024 final score"]},"finishReason"`, 1)
