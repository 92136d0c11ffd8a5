package routing_test

import (
	"unitask/internal/supplier"
)

// mediaLedgers are the examples of OpenAI's reference, from the same document, of capabilities beside chats.
var mediaLedgers = []ledger{
	{
		supplier: "OpenAI", source: "the reference of embeddings", kind: "openai",
		request: asks("text.embed", "text-embedding-3-small", `{"texts":["The food was delicious and the waiter..."]}`, `{}`),
		answer:  `{"object":"list","data":[{"object":"embedding","embedding":[0.0023064255,-0.009327292],"index":0}],"usage":{"prompt_tokens":8,"total_tokens":8}}`,
		used:    supplier.Usage{InputTokens: 8},
		own:     price("mtok 0.02 0"),
		list:    plain,
		owed:    8 * 20,
		charged: 8 * 3000,
	},
	{
		supplier: "OpenAI", source: "the reference of moderations: no usage, so a quarter of the text's bytes, rounded up", kind: "openai",
		request: asks("text.moderate", "omni-moderation-latest", `{"texts":["I want to kill them."]}`, `{}`),
		answer: `{"results":[{"flagged":true,"categories":{"harassment":true,"harassment/threatening":true,"violence":true,"hate":false},` +
			`"category_scores":{"harassment":0.5215635299682617,"harassment/threatening":0.5694745779037476,"violence":0.9971134662628174,"hate":0.22706663608551025}}]}`,
		used:    supplier.Usage{InputTokens: 5},
		own:     price("mtok 0 0"), // which is free of charge
		list:    plain,
		charged: 5 * 3000,
	},
	{
		supplier: "OpenAI", source: "the reference of image generations", kind: "openai",
		request: asks("image.generate", "gpt-image-2", `{"prompt":"A cute baby sea otter"}`, `{"n":1,"size":"1024x1024"}`),
		answer:  drawn,
		used:    supplier.Usage{InputTokens: 50, OutputTokens: 50, ImageInputTokens: 40, Images: 1},
		own:     price("mtok 5.00 30.00 image_input=8.00"),
		list:    price("image 0 0.04 request=0.001"), // an image and, once the gateway has counted it, no request yet
		owed:    10*5000 + 40*8000 + 50*30000,
		charged: 40_000_000,
	},
	{
		supplier: "OpenAI", source: "the reference of image edits", kind: "openai",
		request: asks("image.edit", "gpt-image-2", `{"prompt":"Create a lovely gift basket with these four items in it","images":[{"url":"https://a.example/body-lotion.png"},`+
			`{"url":"https://a.example/bath-bomb.png"},{"url":"https://a.example/incense-kit.png"},{"url":"https://a.example/soap.png"}]}`, `{}`,
			"/images/0", "image/png", "/images/1", "image/png", "/images/2", "image/png", "/images/3", "image/png"),
		answer:  drawn,
		used:    supplier.Usage{InputTokens: 50, OutputTokens: 50, ImageInputTokens: 40, Images: 1},
		own:     price("mtok 5.00 30.00 image_input=8.00"),
		list:    plain,
		owed:    10*5000 + 40*8000 + 50*30000,
		charged: 50*3000 + 50*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of transcriptions", kind: "openai", request: hears("gpt-4o-transcribe", `{}`),
		answer: `{"text":"Imagine the wildest idea that you've ever had...","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":0,"audio_tokens":14},` +
			`"output_tokens":45,"total_tokens":59}}`,
		used:    supplier.Usage{InputTokens: 14, OutputTokens: 45, AudioInputTokens: 14},
		own:     price("mtok 1.25 5.00 audio_input=3.00"),
		list:    plain,
		owed:    14*3000 + 45*5000,
		charged: 14*3000 + 45*12000,
	},
	{
		supplier: "OpenAI", source: "the reference of transcriptions: diarization", kind: "openai", request: hears("gpt-4o-transcribe-diarize", `{"speakers":true}`),
		answer: `{"task":"transcribe","duration":27.4,"text":"Agent: Thanks for calling OpenAI support.","segments":[{"type":"transcript.text.segment","id":"seg_001",` +
			`"start":0.0,"end":4.7,"text":"Thanks for calling OpenAI support.","speaker":"agent"}],"usage":{"type":"duration","seconds":27}}`,
		used:    supplier.Usage{OutputTokens: 11, Milliseconds: 27_000},
		own:     price("second 0.0001 0"),
		list:    price("second 0.00015 0.00005"),
		owed:    27 * 100_000,
		charged: 27 * 200_000,
	},
	{
		supplier: "OpenAI", source: "the reference of transcriptions: word timestamps", kind: "openai", request: hears("whisper-1", `{"timestamps":"word"}`),
		answer: `{"task":"transcribe","language":"english","duration":8.470000267028809,"text":"The beach was a popular spot on a hot summer day.",` +
			`"words":[{"word":"The","start":0.0,"end":0.23999999463558197}],"usage":{"type":"duration","seconds":9}}`,
		used:    supplier.Usage{OutputTokens: 13, Milliseconds: 9_000},
		own:     price("second 0.0001 0"),
		list:    price("request 0.01 0"), // once the gateway has counted it
		owed:    9 * 100_000,
		charged: 0,
	},
	{
		supplier: "Cohere", source: "the reference of reranking, of the document that httpmap's testdata names", kind: "http", models: "text.rerank/cohere.yaml",
		request: asks("text.rerank", "rerank-v3.5", `{"query":"What is the capital of the United States?","documents":["Carson City is the capital city of the American state of Nevada.",`+
			`"The Commonwealth of the Northern Mariana Islands is a group of islands in the Pacific Ocean. Its capital is Saipan.",`+
			`"Capitalization or capitalisation in English grammar is the use of a capital letter at the start of a word. English usage varies from capitalization in other languages.",`+
			`"Washington, D.C. (also known as simply Washington or D.C., and officially as the District of Columbia) is the capital of the United States. It is a federal district.",`+
			`"Capital punishment has existed in the United States since beforethe United States was a country. As of 2017, capital punishment is legal in 30 of the 50 states."]}`, `{"top_n":3}`),
		answer: `{"id":"07734bd2-2473-4f07-94e1-0d9f0e6843cf","results":[{"index":3,"relevance_score":0.999071},{"index":4,"relevance_score":0.7867867},` +
			`{"index":0,"relevance_score":0.32713068}],"meta":{"api_version":{"version":"2","is_experimental":false},"billed_units":{"search_units":1}}}`,
		used:    supplier.Usage{Searches: 1},
		own:     price("search 0 0.002"),
		list:    price("search 0.001 0.002"),
		owed:    2_000_000,
		charged: 3_000_000,
	},
	{
		supplier: "Mistral", source: "the reference of OCR, of the document that httpmap's testdata names", kind: "http", models: "document.ocr/mistral.yaml",
		request: asks("document.ocr", "mistral-ocr-latest", `{"document":{"url":"https://arxiv.org/pdf/2201.04234"}}`, `{}`, "/document", "application/pdf"),
		answer: `{"pages":[{"index":3,"markdown":"...","images":[],"dimensions":{"dpi":200,"height":2200,"width":1700}}],"model":"mistral-ocr-2503-completion",` +
			`"usage_info":{"pages_processed":29,"doc_size_bytes":null}}`,
		used:    supplier.Usage{Pages: 29},
		own:     price("page 0 0.002"),
		list:    price("page 0.003 0"),
		owed:    29 * 2_000_000,
		charged: 29 * 3_000_000,
	},
}

// drawn is the answer of both examples of images; they have the same usage.
const drawn = `{"created":1713833628,"data":[{"b64_json":"aW1hZ2UtMQ=="}],"usage":{"total_tokens":100,"input_tokens":50,"output_tokens":50,"input_tokens_details":{"text_tokens":10,"image_tokens":40}}}`

// hears is a request to transcribe.
func hears(model, parameters string) supplier.Request {
	return asks("audio.transcribe", model, `{"audio":{"url":"https://a.example/audio.mp3"}}`, parameters, "/audio", "audio/mpeg")
}
