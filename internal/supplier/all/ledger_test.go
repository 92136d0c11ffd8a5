package all_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/all"
	"unitask/internal/supplier/suppliertest"
	"unitask/internal/task"
)

// ledger is a usage report as a supplier documents it, with the amounts that follow from it. They are computed by hand,
// beside the row: first what the supplier is owed, in millionths of a dollar as far as tokens go, then the caller's charge.
type ledger struct {
	supplier, source string
	kind             string
	options          map[string]string
	request          supplier.Request
	answer           string // whose usage is the documented one
	used             supplier.Usage
	own, list        task.Price
	owed, charged    string // USD
}

func chat(model string) supplier.Request {
	return supplier.Request{Capability: "text.chat", Model: model, Input: json.RawMessage(`{"prompt":"Hi"}`), Parameters: json.RawMessage(`{}`), SubmitKey: "task_1/1"}
}

func other(capability, model, input string) supplier.Request {
	r := chat(model)
	r.Capability, r.Input = capability, json.RawMessage(input)
	return r
}

// completed is an answer in OpenAI's format.
func completed(usage string) string {
	return `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}],"usage":` + usage + `}`
}

// price reads amounts in USD, as the settings have them: "mtok 0.25 2 cached_input=0.025".
func price(text string) task.Price {
	words := strings.Fields(text)
	amount := func(s string) task.Money {
		m, err := task.ParseMoney(s)
		if err != nil {
			panic(err)
		}
		return m
	}
	p := task.Price{Unit: task.Unit(words[0]), Input: amount(words[1]), Output: amount(words[2])}
	rates := map[string]task.Money{}
	for _, w := range words[3:] {
		name, value, _ := strings.Cut(w, "=")
		rates[name] = amount(value)
	}
	if len(rates) > 0 {
		raw, err := json.Marshal(rates)
		if err != nil {
			panic(err)
		}
		if err := json.Unmarshal(raw, &p.Rates); err != nil {
			panic(err)
		}
	}
	return p
}

// plain is a list price for the suppliers whose own price isn't the subject: 1,000,000 tokens at 3 and 12 dollars.
var plain = price("mtok 3 12")

var ledgers = []ledger{
	{
		supplier: "OpenAI", source: "the guide to prompt caching", kind: "openai", request: chat("gpt-5-mini"),
		answer: completed(`{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920},` +
			`"completion_tokens_details":{"reasoning_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`),
		used:    supplier.Usage{InputTokens: 2006, OutputTokens: 300, CachedInputTokens: 1920},
		own:     price("mtok 0.25 2.00 cached_input=0.025"), // 86×0.25 + 1920×0.025 + 300×2 = 21.5 + 48 + 600
		list:    price("mtok 0.30 2.50 cached_input=0.05"),  // 86×0.3 + 1920×0.05 + 300×2.5 = 25.8 + 96 + 750
		owed:    "0.0006695",
		charged: "0.0008718",
	},
	{
		supplier: "OpenAI", source: "the reference of responses: a search of the web", kind: "openai", request: chat("gpt-5.4"),
		options: map[string]string{"chat_api": "responses", "features": "web_search"},
		answer: `{"object":"response","status":"completed","error":null,"output":[{"type":"web_search_call","id":"ws_67ccf18f64008190a39b619f4c8455ef087bb177ab789d5c","status":"completed"},` +
			`{"type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"As of today, March 9, 2025, one notable positive news story...",` +
			`"annotations":[]}]}],"usage":{"input_tokens":328,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":356,` +
			`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":684}}`,
		used:    supplier.Usage{InputTokens: 328, OutputTokens: 356, Searches: 1},
		own:     price("mtok 2.50 15.00 search=0.01"), // 328×2.5 + 356×15 = 820 + 5340, and 0.01
		list:    plain,                                // 328×3 + 356×12 = 984 + 4272
		owed:    "0.01616",
		charged: "0.005256",
	},
	{
		supplier: "OpenAI", source: "the reference of responses: a reasoning model", kind: "openai", request: chat("o1-2024-12-17"),
		options: map[string]string{"chat_api": "responses"},
		answer: `{"object":"response","status":"completed","error":null,"output":[{"type":"message","status":"completed","role":"assistant",` +
			`"content":[{"type":"output_text","text":"The classic tongue twister...","annotations":[]}]}],"usage":{"input_tokens":81,` +
			`"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":1035,"output_tokens_details":{"reasoning_tokens":832},"total_tokens":1116}}`,
		used:    supplier.Usage{InputTokens: 81, OutputTokens: 1035, ReasoningTokens: 832},
		own:     price("mtok 15.00 60.00"), // 81×15 + 1035×60 = 1215 + 62100
		list:    plain,                     // 81×3 + 1035×12 = 243 + 12420
		owed:    "0.063315",
		charged: "0.012663",
	},
	{
		supplier: "OpenAI", source: "the reference of image generations", kind: "openai", request: other("image.generate", "gpt-image-2", `{"prompt":"An otter"}`),
		answer:  `{"created":1713833628,"data":[{"b64_json":"aW1hZ2UtMQ=="}],"usage":{"total_tokens":100,"input_tokens":50,"output_tokens":50,"input_tokens_details":{"text_tokens":10,"image_tokens":40}}}`,
		used:    supplier.Usage{InputTokens: 50, OutputTokens: 50, ImageInputTokens: 40, Images: 1},
		own:     price("mtok 5.00 30.00 image_input=8.00"), // 10×5 + 40×8 + 50×30 = 50 + 320 + 1500
		list:    price("image 0 0.04 request=0.001"),       // an image and, once the gateway has counted it, no request yet
		owed:    "0.00187",
		charged: "0.04",
	},
	{
		supplier: "OpenAI", source: "the reference of transcriptions", kind: "openai", request: transcribe(),
		answer:  `{"text":"Imagine.","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":0,"audio_tokens":14},"output_tokens":45,"total_tokens":59}}`,
		used:    supplier.Usage{InputTokens: 14, OutputTokens: 45, AudioInputTokens: 14},
		own:     price("mtok 1.25 5.00 audio_input=3.00"), // 14×3 + 45×5 = 42 + 225
		list:    plain,                                    // 14×3 + 45×12 = 42 + 540
		owed:    "0.000267",
		charged: "0.000582",
	},
	{
		supplier: "xAI", source: "the reference of chat completions: reasoning stands beside the completion", kind: "openai", request: chat("grok-4.3"),
		answer: completed(`{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"prompt_tokens_details":{"text_tokens":32,"audio_tokens":0,"image_tokens":0,"cached_tokens":6},` +
			`"completion_tokens_details":{"reasoning_tokens":94,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0},"num_sources_used":0}`),
		used:    supplier.Usage{InputTokens: 32, OutputTokens: 103, CachedInputTokens: 6, ReasoningTokens: 94},
		own:     price("mtok 1.25 2.50 cached_input=0.20"), // 26×1.25 + 6×0.2 + 103×2.5 = 32.5 + 1.2 + 257.5
		list:    price("mtok 2 3 reasoning=4"),             // 32×2 + 9×3 + 94×4 = 64 + 27 + 376
		owed:    "0.0002912",
		charged: "0.000467",
	},
	{
		supplier: "DeepSeek", source: "a recorded answer of deepseek-v4-flash, of the form in the guide to context caching", kind: "openai", request: chat("deepseek-v4-flash"),
		answer: completed(`{"prompt_tokens":89008,"completion_tokens":192,"total_tokens":89200,"prompt_tokens_details":{"cached_tokens":88960},` +
			`"completion_tokens_details":{"reasoning_tokens":94},"prompt_cache_hit_tokens":88960,"prompt_cache_miss_tokens":48}`),
		used:    supplier.Usage{InputTokens: 89008, OutputTokens: 192, CachedInputTokens: 88960, ReasoningTokens: 94},
		own:     price("mtok 0.14 0.28 cached_input=0.028"), // 48×0.14 + 88960×0.028 + 192×0.28 = 6.72 + 2490.88 + 53.76
		list:    plain,                                      // 89008×3 + 192×12 = 267024 + 2304
		owed:    "0.00255136",
		charged: "0.269328",
	},
	{
		supplier: "DeepSeek", source: "the same without the details, as older answers are", kind: "openai", request: chat("deepseek-v4-flash"),
		answer:  completed(`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":80,"prompt_cache_miss_tokens":20}`),
		used:    supplier.Usage{InputTokens: 100, OutputTokens: 5, CachedInputTokens: 80},
		own:     price("mtok 0.14 0.28 cached_input=0.028"), // 20×0.14 + 80×0.028 + 5×0.28 = 2.8 + 2.24 + 1.4
		list:    plain,                                      // 100×3 + 5×12
		owed:    "0.00000644",
		charged: "0.00036",
	},
	{
		supplier: "Perplexity", source: "the page on pricing: reasoning is not in the completion, nor are citations in the prompt", kind: "openai",
		request: chat("sonar-deep-research"),
		answer:  completed(`{"prompt_tokens":33,"completion_tokens":7163,"total_tokens":7196,"citation_tokens":20016,"num_search_queries":18,"reasoning_tokens":73997}`),
		used:    supplier.Usage{InputTokens: 33 + 20016, OutputTokens: 7163 + 73997, ReasoningTokens: 73997, Searches: 18},
		own:     price("mtok 2 8 reasoning=3 search=0.005"), // 33×2 + 20016×2 + 7163×8 + 73997×3 = 66 + 40032 + 57304 + 221991, and 18×0.005
		list:    price("search 0.01 0"),                     // 18×0.01
		owed:    "0.409393",
		charged: "0.18",
	},
	{
		supplier: "OpenRouter", source: "the page on usage accounting", kind: "openai", options: map[string]string{"reported_cost": "on"}, request: chat("any"),
		answer: completed(`{"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":0},"cost":0.95,"cost_details":{"upstream_inference_cost":19},` +
			`"prompt_tokens":194,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"total_tokens":196}`),
		used:    supplier.Usage{InputTokens: 194, OutputTokens: 2},
		own:     plain, // it states its charge
		list:    plain, // 194×3 + 2×12 = 582 + 24
		owed:    "0.95",
		charged: "0.000606",
	},
	{
		supplier: "Anthropic", source: "the page on the web search tool", kind: "anthropic", request: chat("claude-sonnet-5"),
		answer: `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":105,"output_tokens":6039,` +
			`"cache_read_input_tokens":7123,"cache_creation_input_tokens":7345,"server_tool_use":{"web_search_requests":1}}}`,
		used:    supplier.Usage{InputTokens: 14573, OutputTokens: 6039, CachedInputTokens: 7123, CacheWriteTokens: 7345, Searches: 1},
		own:     price("mtok 2.00 10.00 cached_input=0.20 cache_write=2.50 search=0.01"), // 210 + 1424.6 + 18362.5 + 60390 = 80387.1, and 0.01
		list:    plain,                                                                   // 14573×3 + 6039×12 = 43719 + 72468
		owed:    "0.0903871",
		charged: "0.116187",
	},
	{
		supplier: "Gemini", source: "a recorded answer of gemini-2.5-flash: thoughts are not in the candidates", kind: "gemini", request: chat("gemini-2.5-flash-lite"),
		answer:  generated(`{"promptTokenCount":27,"candidatesTokenCount":6,"thoughtsTokenCount":194,"totalTokenCount":227}`),
		used:    supplier.Usage{InputTokens: 27, OutputTokens: 200, ReasoningTokens: 194},
		own:     price("mtok 0.10 0.40"), // 27×0.1 + 200×0.4 = 2.7 + 80
		list:    plain,                   // 27×3 + 200×12
		owed:    "0.0000827",
		charged: "0.002481",
	},
	{
		supplier: "Gemini", source: "a recorded answer with cached content, an image within it", kind: "gemini", request: chat("gemini-3.1-flash-lite"),
		answer: generated(`{"promptTokenCount":9660,"candidatesTokenCount":7,"totalTokenCount":9667,"cachedContentTokenCount":9651,` +
			`"promptTokensDetails":[{"modality":"TEXT","tokenCount":9402},{"modality":"IMAGE","tokenCount":258}],` +
			`"cacheTokensDetails":[{"modality":"TEXT","tokenCount":9393},{"modality":"IMAGE","tokenCount":258}]}`),
		used:    supplier.Usage{InputTokens: 9660, OutputTokens: 7, CachedInputTokens: 9651},
		own:     price("mtok 0.25 1.50 cached_input=0.025 image_input=1"), // 9×0.25 + 9651×0.025 + 7×1.5 = 2.25 + 241.275 + 10.5
		list:    plain,                                                    // 9660×3 + 7×12 = 28980 + 84
		owed:    "0.000254025",
		charged: "0.029064",
	},
	{
		supplier: "Gemini", source: "the page on grounding with Google Search: each query of a model of the series 3 is billed, but for empty ones", kind: "gemini",
		request: chat("gemini-3-flash-preview"),
		answer:  searched,
		used:    supplier.Usage{InputTokens: 10, OutputTokens: 30, Searches: 2},
		own:     price("mtok 0.50 3.00 search=0.014"), // 10×0.5 + 30×3 = 5 + 90, and 2×0.014
		list:    plain,                                // 10×3 + 30×12
		owed:    "0.028095",
		charged: "0.00039",
	},
	{
		supplier: "Gemini", source: "the same page: with a model of the series 2.5 the request is billed", kind: "gemini", request: chat("gemini-2.5-flash"),
		answer:  searched,
		used:    supplier.Usage{InputTokens: 10, OutputTokens: 30, Searches: 1},
		own:     price("mtok 0.30 2.50 search=0.035"), // 10×0.3 + 30×2.5 = 3 + 75, and 0.035
		list:    price("search 0.05 0"),
		owed:    "0.035078",
		charged: "0.05",
	},
	{
		supplier: "Replicate", source: "the reference of predictions: the metrics of a language model", kind: "replicate", request: chat("meta/llama-3-8b-instruct"),
		answer:  `{"id":"p1","status":"succeeded","output":["Hi","."],"error":null,"metrics":{"predict_time":0.5,"input_token_count":9,"output_token_count":2}}`,
		used:    supplier.Usage{InputTokens: 9, OutputTokens: 2},
		own:     price("mtok 0.05 0.25"), // 9×0.05 + 2×0.25 = 0.45 + 0.5
		list:    plain,                   // 9×3 + 2×12
		owed:    "0.00000095",
		charged: "0.000051",
	},
	{
		supplier: "fal", source: "the reference of its queue: a result has no usage, its images are counted", kind: "fal",
		request: other("image.generate", "fal-ai/flux/schnell", `{"prompt":"An otter"}`),
		answer:  `{"request_id":"r1","status":"COMPLETED","images":[{"url":"https://fal.example/1.png","content_type":"image/png"}]}`,
		used:    supplier.Usage{Images: 1},
		own:     price("image 0 0.003"),
		list:    price("image 0.001 0.003"),
		owed:    "0.003",
		charged: "0.004",
	},
	{
		supplier: "another gateway", source: "docs/openapi.yaml", kind: "unitask", request: chat("text.chat"),
		answer: `{"id":"task_1","state":"succeeded","output":{"text":"Hi.","finish_reason":"stop"},"usage":{"input_tokens":200,"output_tokens":100,"cached_input_tokens":150,` +
			`"cache_write_tokens":10,"reasoning_tokens":60,"searches":2,"requests":1,"pages":3,"cost":{"currency":"USD","amount":"0.000013"}}}`,
		used: supplier.Usage{
			InputTokens: 200, OutputTokens: 100, CachedInputTokens: 150, CacheWriteTokens: 10, ReasoningTokens: 60, Searches: 2, Requests: 1, Pages: 3,
		},
		own:     plain,                                                                      // it states its charge
		list:    price("mtok 2 10 cached_input=0.2 reasoning=12 search=0.01 request=0.001"), // 50×2 + 150×0.2 + 40×10 + 60×12 = 1250, and 0.021
		owed:    "0.000013",
		charged: "0.02225",
	},
}

// searched is an answer of Gemini's with the queries of that page. Google doesn't charge for what a search finds as input.
var searched = strings.Replace(generated(`{"promptTokenCount":10,"candidatesTokenCount":30,"toolUsePromptTokenCount":100,"totalTokenCount":140}`),
	`"finishReason"`, `"groundingMetadata":{"webSearchQueries":["UEFA Euro 2024 winner","","Spain vs England Euro 2024 final score"]},"finishReason"`, 1)

func generated(usage string) string {
	return `{"candidates":[{"content":{"parts":[{"text":"Hi."}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":` + usage + `}`
}

func transcribe() supplier.Request {
	r := other("audio.transcribe", "gpt-4o-mini-transcribe", `{"audio":{"content_type":"audio/wav","data":"YWJj"}}`)
	r.Media = map[string]supplier.Media{"/audio": {ContentType: "audio/wav", Bytes: 3, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("abc")), nil
	}}}
	return r
}

// TestLedger: of each supplier's documented usage the gateway's record is that of the table, and the supplier's and the
// caller's amounts are exact to the nano-dollar.
func TestLedger(t *testing.T) {
	kinds := all.Kinds()
	for _, tt := range ledgers {
		t.Run(tt.supplier+", "+tt.source, func(t *testing.T) {
			k := kinds[slices.IndexFunc(kinds, func(k supplier.Kind) bool { return k.Name == tt.kind })]
			srv := httptest.NewServer(suppliertest.JSON(http.StatusOK, tt.answer))
			defer srv.Close()
			a, err := k.New(supplier.Config{BaseURL: srv.URL + suppliertest.Base(k), Options: tt.options})
			if err != nil {
				t.Fatal(err)
			}
			out, err := a.Submit(t.Context(), tt.request)
			for err == nil && out.Job != nil {
				out, err = a.(supplier.Poller).Poll(t.Context(), *out.Job)
			}
			if err != nil || out.Result == nil {
				t.Fatalf("%+v, %v", out, err)
			}
			if diff := cmp.Diff(tt.used, out.Result.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			used := task.Usage(out.Result.Usage)
			owed := tt.own.Cost(used)
			if out.Result.Charged != nil {
				owed = task.Money(*out.Result.Charged)
			}
			if owed.String() != tt.owed {
				t.Errorf("the supplier is owed %s, want %s", owed, tt.owed)
			}
			if charged := tt.list.Cost(used); charged.String() != tt.charged {
				t.Errorf("the caller pays %s, want %s", charged, tt.charged)
			}
		})
	}
}
