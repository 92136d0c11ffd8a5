package replicate_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/replicate"
	"unitask/internal/supplier/suppliertest"
)

const llama = "meta/llama-3-8b-instruct"

func request(capability, model, input, parameters string) supplier.Request {
	return supplier.Request{
		Capability: capability, Model: model,
		Input: json.RawMessage(input), Parameters: json.RawMessage(parameters), SubmitKey: "task_0/1",
	}
}

func withMedia(r supplier.Request, pointer string) supplier.Request {
	r.Media = map[string]supplier.Media{pointer: {ContentType: "image/png", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("one")), nil
	}}}
	return r
}

// prediction is a prediction's JSON; rest is put among its members.
func prediction(status, rest string) string {
	return `{"id":"p1","model":"theirs","version":"v","input":{"prompt":"echo"},"logs":"words","data_removed":false,"created_at":"2026-04-09T12:00:00Z",
		"status":"` + status + `"` + rest + `,
		"urls":{"web":"https://a.example/p/p1","get":"https://a.example/p1","cancel":"https://a.example/p1/cancel"}}`
}

// later is an upstream whose predictions have started when they are created and ended when asked after, or
// canceled.
func later(status, rest string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/cancel") {
			suppliertest.JSON(201, prediction("starting", `,"output":null,"error":null`)).ServeHTTP(w, r)
			return
		}
		suppliertest.JSON(200, prediction(status, rest)).ServeHTTP(w, r)
	})
}

func TestConformance(t *testing.T) { suppliertest.Run(t, harness(t)) }

func harness(t *testing.T) suppliertest.Harness {
	t.Helper()
	const talked = `,"output":["Hel","lo."],"error":null,"metrics":{"predict_time":0.5,"input_token_count":9,"output_token_count":2}`
	hello := &supplier.Result{Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2}}
	files := func(images int64, addresses ...string) *supplier.Result {
		res := &supplier.Result{Usage: supplier.Usage{Images: images}}
		for _, a := range addresses {
			res.Files = append(res.Files, supplier.File{URL: a})
		}
		return res
	}
	return suppliertest.Harness{
		Toolless:  true,
		Kind:      replicate.Kind(),
		Config:    supplier.Config{Models: []string{"testdata/models.yaml"}},
		Abilities: suppliertest.Abilities{Poll: true, Cancel: true, Probe: true},
		Upstream:  &suppliertest.Upstream{Probe: suppliertest.JSON(200, `{"type":"user","username":"x"}`)},
		Cases: []suppliertest.Case{
			{
				Request: request("text.chat", llama, `{"prompt":"Greet me","system":"Be brief."}`,
					`{"max_output_tokens":20,"temperature":0.5,"top_p":0.9,"stop":["a","b"],"seed":7}`),
				Sends: `{"input":{"prompt":"Greet me","system_prompt":"Be brief.","max_tokens":20,"temperature":0.5,"top_p":0.9,
					"stop_sequences":"a,b","seed":7}}`,
				Answer: suppliertest.JSON(201, prediction("succeeded", talked)), Want: hello,
			},
			{
				Name:    "text.chat/later",
				Request: request("text.chat", llama, `{"messages":[{"role":"user","content":"Greet me"}]}`, `{}`),
				Sends:   `{"input":{"prompt":"Greet me"}}`,
				Alike:   true,
				Answer:  later("succeeded", talked), Want: hello,
			},
			{
				Request: request("image.generate", "test/painter", `{"prompt":"A fox"}`, `{"n":2,"aspect_ratio":"3:2"}`),
				Sends:   `{"input":{"prompt":"A fox","num_outputs":2,"aspect_ratio":"3:2"}}`,
				Alike:   true,
				Answer:  later("succeeded", `,"error":null,"output":["https://replicate.example/1.webp","https://replicate.example/2.webp"]`),
				Want:    files(2, "https://replicate.example/1.webp", "https://replicate.example/2.webp"),
			},
			{
				Request: withMedia(request("image.edit", "test/editor:4eb8", `{"prompt":"Blue","images":[{}],"authorization":{"person":"none"}}`, `{}`), "/images/0"),
				Sends:   `{"version":"4eb8","input":{"prompt":"Blue","image":"data:image/png;base64,b25l"}}`,
				Alike:   true,
				Answer:  later("succeeded", `,"error":null,"output":"https://replicate.example/1.png"`),
				Want:    files(1, "https://replicate.example/1.png"),
			},
			{
				Request: withMedia(request("image.upscale", "google/upscaler", `{"image":{},"authorization":{"person":"none"}}`, `{"factor":4,"format":"jpeg"}`), "/image"),
				Sends:   `{"input":{"image":"data:image/png;base64,b25l","upscale_factor":"x4"}}`,
				Alike:   true,
				Answer:  later("succeeded", `,"error":null,"output":"https://replicate.example/1.jpg"`),
				Want:    files(1, "https://replicate.example/1.jpg"),
			},
			{
				Request: withMedia(request("image.background_remove", "lucataco/remove-bg", `{"image":{},"authorization":{"person":"none"}}`, `{}`), "/image"),
				Sends:   `{"version":"95fcc2a26d3899cd6c2691c900465aaeff466285a65c14638cc5f36f34befaf1","input":{"image":"data:image/png;base64,b25l"}}`,
				Alike:   true,
				Answer:  later("succeeded", `,"error":null,"output":"https://replicate.example/1.png"`),
				Want:    files(1, "https://replicate.example/1.png"),
			},
			{
				Request: withMedia(request("video.extend", "xai/grok-imagine-video-extension", `{"video":{},"prompt":"On","authorization":{"person":"none"}}`, `{"duration_seconds":7}`), "/video"),
				Sends:   `{"input":{"video":"data:image/png;base64,b25l","prompt":"On","duration":7}}`,
				Alike:   true,
				Answer:  later("succeeded", `,"error":null,"output":"https://replicate.example/1.mp4"`),
				Want:    &supplier.Result{Files: []supplier.File{{URL: "https://replicate.example/1.mp4"}}, Usage: supplier.Usage{Milliseconds: 7000}},
			},
			{
				Request: request("video.generate", "test/film", `{"prompt":"Waves"}`, `{}`),
				Alike:   true,
				Answer:  later("succeeded", `,"error":null,"output":"https://replicate.example/1.mp4"`),
				Want:    files(0, "https://replicate.example/1.mp4"),
			},
			{
				Request: request("audio.speech", "test/voice", `{"text":"Hi"}`, `{}`),
				Alike:   true,
				Answer:  later("succeeded", `,"error":null,"output":{"audio":"https://replicate.example/1.wav"}`),
				Want:    files(0, "https://replicate.example/1.wav"),
			},
			{
				Request: withMedia(request("audio.transcribe", "test/ear", `{"audio":{}}`, `{}`), "/audio"),
				Alike:   true,
				Answer:  later("succeeded", `,"error":null,"output":{"transcription":"Hi","duration":1.5}`),
				Want:    &supplier.Result{Text: new("Hi"), FinishReason: "stop", Usage: supplier.Usage{Milliseconds: 1500}},
			},
			{
				Name: "audio.transcribe/hints",
				Request: withMedia(request("audio.transcribe", "openai/gpt-4o-transcribe", `{"audio":{},"hints":["Gap","Ox"]}`,
					`{"language":"pt-BR","timestamps":"none","format":"text"}`), "/audio"),
				Sends:  `{"input":{"audio_file":"data:image/png;base64,b25l","prompt":"Gap, Ox","language":"pt"}}`,
				Alike:  true,
				Answer: later("succeeded", `,"error":null,"output":["Mind ","the gap."]`),
				Want:   &supplier.Result{Text: new("Mind the gap."), FinishReason: "stop"},
			},
		},
		Faults:   faults(),
		Refusals: refusals(),
	}
}

// faults returns the rows of the error table: of submissions, then of predictions.
func faults() []suppliertest.Fault {
	verdict := func(code fault.Code, sent supplier.Sent) suppliertest.Verdict {
		return suppliertest.Verdict{Code: code, Sent: sent}
	}
	const (
		refused = supplier.Refused
		unknown = supplier.Unknown
		failed  = supplier.Failed
	)
	painting := request("image.generate", "test/painter", `{"prompt":"A fox"}`, `{}`)
	operator := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused, Operator: true}
	mapless := verdict(fault.ProviderUnavailable, failed)
	submission := func(name string, status int, body string, want suppliertest.Verdict, headers ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: "submission/" + name, Answer: suppliertest.JSON(status, body, headers...), Want: want}
	}
	job := func(name, status, rest string, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: "job/" + name, Request: &painting, Answer: later(status, rest), Want: want}
	}
	question := func(name string, status int, body string, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{
			Name: "question/" + name, Request: &painting, Want: want,
			Answer: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					later("", "").ServeHTTP(w, r)
					return
				}
				suppliertest.JSON(status, body).ServeHTTP(w, r)
			}),
		}
	}
	full := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: refused, RetryAfter: 2 * time.Second}
	return []suppliertest.Fault{
		submission("invalid", 422, `{"title":"Input validation failed","detail":"- input.prompt: required","status":422,"invalid_fields":[{"field":"prompt","type":"required"}]}`,
			verdict(fault.InvalidRequest, refused)),
		submission("429", 429, `{"title":"Throttled","detail":"Request was throttled.","status":429}`, full, "Retry-After", "2"),
		submission("payment", 402, `{"title":"Insufficient credit","detail":"m","status":402}`, operator),
		submission("key", 401, `{"title":"Unauthenticated","detail":"m","status":401}`, operator),
		submission("no such model", 404, `{"detail":"The requested resource could not be found.","status":404}`, verdict(fault.ProviderUnavailable, refused)),
		submission("500", 500, `{"detail":"m","status":500}`, verdict(fault.ProviderUnavailable, refused)),
		submission("502", 502, `<html>`, verdict(fault.ProviderUnavailable, refused)),
		submission("504", 504, `<html>`, verdict(fault.ProviderTimeout, unknown)),
		submission("no prediction", 201, `{"status":"starting"}`, verdict(fault.ProviderUnavailable, unknown)),
		submission("a prediction of odd name", 201, `{"id":"../account","status":"starting"}`, verdict(fault.ProviderUnavailable, unknown)),
		submission("another status", 201, `{"id":"p1","status":"dreaming"}`, verdict(fault.ProviderUnavailable, unknown)),
		submission("failed at once", 201, prediction("failed", `,"error":"CUDA out of memory"`), verdict(fault.ProviderUnavailable, failed)),
		submission("refused at once", 201, prediction("failed", `,"error":"NSFW content detected"`), verdict(fault.ContentPolicyViolation, failed)),

		job("nsfw", "failed", `,"error":"NSFW content detected. Try running it again."`, verdict(fault.ContentPolicyViolation, failed)),
		job("sensitive", "failed", `,"error":"The input or output was flagged as sensitive. (E005)"`, verdict(fault.ContentPolicyViolation, failed)),
		job("by the operator's pattern", "failed", `,"error":"That is not allowed here."`, verdict(fault.ContentPolicyViolation, failed)),
		job("high demand", "failed", `,"error":"Service is temporarily unavailable due to high demand (E003)"`, verdict(fault.CapacityExhausted, failed)),
		job("not started", "failed", `,"error":"director: unexpected error handling prediction (E6716)"`, verdict(fault.ProviderTimeout, failed)),
		job("E1000", "failed", `,"error":"Prediction failed (E1000)"`, verdict(fault.ProviderUnavailable, failed)),
		job("interrupted", "failed", `,"error":"Prediction interrupted; please retry (code: PA)"`, verdict(fault.ProviderUnavailable, failed)),
		job("failed without words", "failed", `,"error":null`, verdict(fault.ProviderUnavailable, failed)),
		job("failed with an object", "failed", `,"error":{"detail":"m"}`, verdict(fault.ProviderUnavailable, failed)),
		job("deadline while running", "canceled", ``, verdict(fault.ProviderTimeout, failed)),
		job("deadline before the start", "aborted", ``, verdict(fault.ProviderTimeout, failed)),
		job("removed", "succeeded", `,"output":null`, verdict(fault.ProviderUnavailable, failed)),
		job("output of another shape", "succeeded", `,"output":{"images":[]}`, mapless),
		job("an address of another scheme", "succeeded", `,"output":["file:///etc/passwd"]`, mapless),

		// Faults of the poll alone: the prediction is asked after again.
		question("500", 500, `{"detail":"m"}`, verdict(fault.ProviderUnavailable, refused)),
		question("429", 429, `{"detail":"m"}`, verdict(fault.CapacityExhausted, refused)),
		question("vanished", 404, `{"detail":"m"}`, verdict(fault.ProviderUnavailable, refused)),
		question("html", 200, `<html>`, verdict(fault.ProviderUnavailable, unknown)),
		question("another status", 200, prediction("dreaming", ``), verdict(fault.ProviderUnavailable, unknown)),
	}
}

func refusals() []suppliertest.Refusal {
	row := func(name, capability, model, input, parameters string, refused bool) suppliertest.Refusal {
		return suppliertest.Refusal{Name: name, Request: request(capability, model, input, parameters), Refused: refused}
	}
	const prompt = `{"prompt":"Hi"}`
	return []suppliertest.Refusal{
		row("embeddings", "text.embed", llama, `{"texts":["a"]}`, `{}`, true),
		row("a model without a map", "text.chat", "meta/unknown", prompt, `{}`, true),
		row("a conversation", "text.chat", llama,
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`, `{}`, true),
		row("a stop with a comma", "text.chat", llama, prompt, `{"stop":[", "]}`, true),
		row("everything", "text.chat", llama, prompt, `{"max_output_tokens":1,"temperature":0,"top_p":1,"stop":["."],"seed":1}`, false),
		row("format", "image.generate", "test/painter", prompt, `{"format":"png"}`, true),
	}
}
