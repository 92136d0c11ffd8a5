package routing_test

import (
	"os"
	"slices"
	"testing"

	"unitask/internal/catalog"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// rule is what a supplier documents of a request's size without an answer.
type rule struct {
	source  string
	request supplier.Request
	used    supplier.Usage
}

// rules are the suppliers' published counts. Of OpenAI's images they are those of the highest quality.
var rules = []rule{
	{"OpenAI's guide to image generation: gpt-image-1", draws("gpt-image-1", "1024x1536"), supplier.Usage{Images: 1, OutputTokens: 6240}},
	{"OpenAI's calculator: gpt-image-2, a square", draws("gpt-image-2", "1024x1024"), supplier.Usage{Images: 1, OutputTokens: 7024}},
	{"OpenAI's calculator: gpt-image-2, a wide one", draws("gpt-image-2", "3584x2048"), supplier.Usage{Images: 1, OutputTokens: 12_329}},
	{ // whose rule gives each number of the calculator: 96 × round(96 × short ÷ long) × (2,000,000 + pixels) ÷ 4,000,000
		"OpenAI's calculator: gpt-image-2, the largest square", draws("gpt-image-2", "2880x2880"),
		supplier.Usage{Images: 1, OutputTokens: 96*96*(2_000_000+2880*2880)/4_000_000 + 1},
	},
	{"Google's page on Gemini 2.5 Flash Image", draws("gemini-2.5-flash-image", "1024x1024"), supplier.Usage{Images: 1, OutputTokens: 1290}},
	{"Google's page on Gemini 3.1 Flash Image", draws("gemini-3.1-flash-image", "4096x4096"), supplier.Usage{Images: 1, OutputTokens: 2520}},
	{
		"Google's page on Gemini 3.1 Flash Image: its input", asks("image.edit", "gemini-3.1-flash-image", `{"prompt":"Blue","images":[{"url":"https://a.example/1.png"}]}`,
			`{}`, "/images/0", "image/png"), supplier.Usage{Images: 1, InputTokens: 1120, OutputTokens: 1120},
	},
	{ // the guide to vision: 2,833 tokens and 5,667 for each tile of 512 pixels, of which an image of 768 by 2,048 has eight
		"OpenAI's guide to vision: gpt-4o-mini", asks("text.chat", "gpt-4o-mini", organ, `{}`, "/messages/0/content/1/image", "image/jpeg"),
		supplier.Usage{InputTokens: 2833 + 8*5667},
	},
	{"OpenAI's guide to speech", asks("audio.speech", "tts-1", `{"text":"Today is a wonderful day to build something people love!"}`, `{}`), supplier.Usage{Characters: 56}},
	{
		"Anthropic's page on counting tokens: a message", asks("text.chat", "claude-sonnet-5", `{"prompt":"Hello, Claude","system":"You are a scientist"}`, `{}`),
		supplier.Usage{InputTokens: 14},
	},
	{
		"Anthropic's page on counting tokens: a tool", asks("text.chat", "claude-sonnet-5", `{"prompt":"What's the weather like in San Francisco?"}`,
			`{"tools":[{"name":"get_weather","description":"Get the current weather in a given location","parameters":{"type":"object",`+
				`"properties":{"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"}},"required":["location"]}}]}`),
		supplier.Usage{InputTokens: 403},
	},
	{
		"Anthropic's page on counting tokens: a PDF", asks("text.chat", "claude-sonnet-5", `{"messages":[{"role":"user","content":[`+
			`{"type":"document","document":{"url":"https://a.example/document.pdf"}},{"type":"text","text":"Please summarize this document."}]}]}`,
			`{}`, "/messages/0/content/0/document", "application/pdf"),
		supplier.Usage{InputTokens: 2188},
	},
}

// draws is a request for an image.
func draws(model, size string) supplier.Request {
	return asks("image.generate", model, `{"prompt":"A cute baby sea otter"}`, `{"size":"`+size+`","quality":"high"}`)
}

// counts are prices of one kind of work each: an estimate that holds at all of them holds in every count.
var counts = []task.Price{
	price("mtok 1 0"), price("mtok 0 1"), price("image 1 0"), price("second 1 0"), price("mchar 1 0"), price("page 1 0"), price("search 1 0"),
}

// TestEstimateHolds: what a documented request is estimated at, when it is accepted, is no less than its documented usage,
// in every count and at its prices.
func TestEstimateHolds(t *testing.T) {
	directory := directoryWithRecipe(t)
	for _, tt := range documented {
		t.Run(tt.supplier+", "+tt.source, func(t *testing.T) {
			holds(t, directory, tt.request, tt.used, tt.own, tt.list)
		})
	}
	for _, tt := range rules {
		t.Run(tt.source, func(t *testing.T) { holds(t, directory, tt.request, tt.used) })
	}
}

func directoryWithRecipe(t *testing.T) *catalog.Catalog {
	t.Helper()
	ocr, err := os.ReadFile(recipes + "document.ocr/capability.yaml")
	if err != nil {
		t.Fatal(err)
	}
	directory, err := catalog.Load(ocr)
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

// holds fails the test if the reservation for a request that the directory accepts is less than what the work costs.
func holds(t *testing.T, directory *catalog.Catalog, r supplier.Request, usage supplier.Usage, prices ...task.Price) {
	t.Helper()
	entry, known := directory.Get(catalog.Name(r.Capability))
	if !known {
		t.Fatalf("%s isn't in the directory", r.Capability)
	}
	if refused := directory.Validate(catalog.Request{Capability: entry.Name, Input: r.Input, Parameters: r.Parameters}); refused != nil {
		t.Fatalf("the request doesn't fit the capability: %v", refused)
	}
	estimate := routing.Estimate(entry, len(r.Media), r.Input, entry.FillDefaults(r.Parameters))
	estimate.InputTokens += routing.DefaultTemplate // as a route has it
	used := task.Usage(usage)
	used.Requests = 1 // as the gateway has it
	for _, p := range slices.Concat(counts, prices) {
		if cost, reserved := p.Cost(used), p.Most(estimate); cost > reserved {
			t.Errorf("at %+v it costs %s, of %s reserved: %+v of %+v estimated", p, cost, reserved, used, estimate)
		}
	}
}
