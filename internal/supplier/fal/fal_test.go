package fal_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/fal"
	"unitask/internal/supplier/suppliertest"
)

const (
	schnell = "fal-ai/flux/schnell"
	pro     = "fal-ai/flux-pro/v1.1"
	picture = `{"images":[{"url":"https://files.example/1.png","content_type":"image/png","width":1024,"height":768}],"has_nsfw_concepts":[false]}`
)

func request(capability, model, input, parameters string) supplier.Request {
	return supplier.Request{
		Capability: capability, Model: model,
		Input: json.RawMessage(input), Parameters: json.RawMessage(parameters), SubmitKey: "task_0/1",
	}
}

// queue is an upstream whose every job is complete at once, with the result's answer.
func queue(result http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			suppliertest.JSON(200, `{"status":"IN_QUEUE","request_id":"job-1","queue_position":0,
				"status_url":"http://`+r.Host+`/fal-ai/flux/requests/job-1/status"}`).ServeHTTP(w, r)
		case strings.HasSuffix(r.URL.Path, "/status"):
			suppliertest.JSON(200, `{"status":"COMPLETED","request_id":"job-1"}`).ServeHTTP(w, r)
		default:
			result.ServeHTTP(w, r)
		}
	})
}

func media(contentType, data string) supplier.Media {
	return supplier.Media{ContentType: contentType, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil }}
}

func withMedia(r supplier.Request, pointer string, m supplier.Media) supplier.Request {
	r.Media = map[string]supplier.Media{pointer: m}
	return r
}

func TestConformance(t *testing.T) {
	done := func(body string) http.Handler { return queue(suppliertest.JSON(200, body)) }
	suppliertest.Run(t, suppliertest.Harness{
		Kind:      fal.Kind(),
		Config:    supplier.Config{Models: []string{"testdata/models.yaml"}},
		Abilities: suppliertest.Abilities{Poll: true, Cancel: true},
		Upstream:  &suppliertest.Upstream{Key: func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Key ") }},
		Cases: []suppliertest.Case{
			{
				Request: request("image.generate", schnell, `{"prompt":"A fox"}`, `{"n":1,"size":"1024x768","format":"png","seed":4}`),
				Sends: `{"prompt":"A fox","num_images":1,"image_size":{"width":1024,"height":768},"output_format":"png","seed":4,
					"enable_safety_checker":true,"sync_mode":false}`,
				Answer: done(picture),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1.png", ContentType: "image/png", Width: 1024, Height: 768}},
					Usage: supplier.Usage{Images: 1},
				},
			},
			{
				Name:    "image.generate/pro",
				Request: request("image.generate", pro, `{"prompt":"A fox"}`, `{"n":2,"aspect_ratio":"16:9","format":"jpeg"}`),
				Sends: `{"prompt":"A fox","num_images":2,"image_size":{"width":1024,"height":576},"output_format":"jpeg",
					"enable_safety_checker":true,"sync_mode":false}`,
				Alike:  true,
				Answer: done(`{"images":[{"url":"https://files.example/1"},{"url":"https://files.example/2"}]}`),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1"}, {URL: "https://files.example/2"}}, Usage: supplier.Usage{Images: 2},
				},
			},
			{
				Request: withMedia(request("image.edit", "test/editor/edit", `{"prompt":"Blue","images":[{}],"authorization":{"person":"none"}}`, `{"n":1}`),
					"/images/0", media("image/png", "one")),
				Sends:  `{"prompt":"Blue","image_urls":["data:image/png;base64,b25l"]}`,
				Alike:  true,
				Answer: done(`{"image":{"url":"https://files.example/1"}}`),
				Want:   &supplier.Result{Files: []supplier.File{{URL: "https://files.example/1"}}, Usage: supplier.Usage{Images: 1}},
			},
			{
				Request: withMedia(request("image.upscale", "fal-ai/topaz/upscale/image", `{"image":{},"authorization":{"person":"none"}}`, `{"factor":4,"format":"png"}`),
					"/image", media("image/png", "one")),
				Sends:  `{"image_url":"data:image/png;base64,b25l","upscale_factor":4,"output_format":"png"}`,
				Alike:  true,
				Answer: done(`{"image":{"url":"https://files.example/1.png","content_type":"image/png","width":8,"height":4}}`),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1.png", ContentType: "image/png", Width: 8, Height: 4}}, Usage: supplier.Usage{Images: 1},
				},
			},
			{
				Name:    "image.upscale/esrgan",
				Request: withMedia(request("image.upscale", "fal-ai/esrgan", `{"image":{}}`, `{"factor":2,"format":"jpeg"}`), "/image", media("image/png", "one")),
				Sends:   `{"image_url":"data:image/png;base64,b25l","scale":2,"output_format":"jpeg"}`,
				Alike:   true,
				Answer:  done(`{"image":{"url":"https://files.example/1.jpg"}}`),
				Want:    &supplier.Result{Files: []supplier.File{{URL: "https://files.example/1.jpg"}}, Usage: supplier.Usage{Images: 1}},
			},
			{
				Request: withMedia(request("image.background_remove", "fal-ai/bria/background/remove", `{"image":{},"authorization":{"person":"none"}}`, `{}`),
					"/image", media("image/jpeg", "one")),
				Sends:  `{"image_url":"data:image/jpeg;base64,b25l","sync_mode":false}`,
				Alike:  true,
				Answer: done(`{"image":{"url":"https://files.example/1.png","content_type":"image/png","height":1024,"width":1536}}`),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1.png", ContentType: "image/png", Width: 1536, Height: 1024}}, Usage: supplier.Usage{Images: 1},
				},
			},
			{
				Request: request("video.generate", "test/film", `{"prompt":"Waves"}`, `{"duration_seconds":4}`),
				Sends:   `{"prompt":"Waves","duration":"4s"}`,
				Alike:   true,
				Answer:  done(`{"video":{"url":"https://files.example/1.mp4","content_type":"video/mp4","duration":4.04}}`),
				Want:    &supplier.Result{Files: []supplier.File{{URL: "https://files.example/1.mp4", ContentType: "video/mp4", Duration: 4.04}}},
			},
			{
				Request: withMedia(request("video.extend", "fal-ai/veo3.1/fast/extend-video",
					`{"video":{},"prompt":"The tide goes out","authorization":{"person":"none"}}`, `{"duration_seconds":7,"seed":4}`), "/video", media("video/mp4", "one")),
				Sends:  `{"video_url":"data:video/mp4;base64,b25l","prompt":"The tide goes out","duration":"7s","seed":4,"generate_audio":true}`,
				Alike:  true,
				Answer: done(`{"video":{"url":"https://files.example/1.mp4","content_type":"video/mp4","duration":15}}`),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1.mp4", ContentType: "video/mp4", Duration: 15}}, Usage: supplier.Usage{Milliseconds: 7000},
				},
			},
			{
				Name:    "video.extend/grok",
				Request: withMedia(request("video.extend", "xai/grok-imagine-video/extend-video", `{"video":{},"prompt":"On"}`, `{"duration_seconds":2}`), "/video", media("video/mp4", "one")),
				Sends:   `{"video_url":"data:video/mp4;base64,b25l","prompt":"On","duration":2}`,
				Alike:   true,
				Answer:  done(`{"video":{"url":"https://files.example/1.mp4"}}`),
				Want:    &supplier.Result{Files: []supplier.File{{URL: "https://files.example/1.mp4"}}, Usage: supplier.Usage{Milliseconds: 2000}},
			},
			{
				Request: request("audio.speech", "test/voice", `{"text":"Hi"}`, `{}`),
				Sends:   `{"text":"Hi"}`,
				Alike:   true,
				Answer:  done(`{"audio":{"url":"https://files.example/1.wav"}}`),
				Want:    &supplier.Result{Files: []supplier.File{{URL: "https://files.example/1.wav"}}},
			},
			{
				Request: withMedia(request("audio.transcribe", "test/ear", `{"audio":{}}`, `{}`), "/audio", media("audio/wav", "one")),
				Sends:   `{"audio_url":"data:audio/wav;base64,b25l"}`,
				Alike:   true,
				Answer:  done(`{"text":"Hi","duration":1.5}`),
				Want:    &supplier.Result{Text: new("Hi"), FinishReason: "stop", Usage: supplier.Usage{Milliseconds: 1500}},
			},
			{
				Name: "audio.transcribe/whisper",
				Request: withMedia(request("audio.transcribe", "fal-ai/whisper", `{"audio":{},"hints":["Gap","Ox"]}`,
					`{"language":"de-AT","translate_to":"en","speakers":true,"timestamps":"none","format":"text"}`), "/audio", media("audio/wav", "one")),
				Sends: `{"audio_url":"data:audio/wav;base64,b25l","prompt":"Gap, Ox","language":"de","task":"translate","diarize":true,"chunk_level":"segment"}`,
				Alike: true,
				Answer: done(`{"text":" Mind the gap.","chunks":[{"timestamp":[0,1.2],"text":" Mind","speaker":"SPEAKER_00"},
					{"timestamp":[1.2,2.5],"text":" the gap.","speaker":"SPEAKER_01"}],"inferred_languages":["de"],
					"diarization_segments":[{"timestamp":[0,1.2],"speaker":"SPEAKER_00"},{"timestamp":[1.2,2.5],"speaker":"SPEAKER_01"}]}`),
				Want: &supplier.Result{
					Text: new(" Mind the gap."), FinishReason: "stop",
					Segments: []supplier.Segment{{End: 1.2, Text: "Mind", Speaker: "SPEAKER_00"}, {Start: 1.2, End: 2.5, Text: "the gap.", Speaker: "SPEAKER_01"}},
				},
			},
		},
		Faults:   faults(),
		Refusals: refusals(),
	})
}

// faults returns the rows of the error table: of submissions, then of jobs.
func faults() []suppliertest.Fault {
	verdict := func(code fault.Code, sent supplier.Sent) suppliertest.Verdict {
		return suppliertest.Verdict{Code: code, Sent: sent}
	}
	const (
		refused = supplier.Refused
		unknown = supplier.Unknown
		failed  = supplier.Failed
	)
	operator := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: refused, Operator: true}
	mapless := verdict(fault.ProviderUnavailable, failed)
	submission := func(name string, status int, body string, want suppliertest.Verdict, headers ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: "submission/" + name, Answer: suppliertest.JSON(status, body, headers...), Want: want}
	}
	job := func(name string, status int, body string, want suppliertest.Verdict, headers ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: "job/" + name, Answer: queue(suppliertest.JSON(status, body, headers...)), Want: want}
	}
	status := func(name string, code int, body string, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: "status/" + name, Want: want, Answer: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				queue(nil).ServeHTTP(w, r)
				return
			}
			suppliertest.JSON(code, body).ServeHTTP(w, r)
		})}
	}
	full := suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: refused, RetryAfter: 3 * time.Second}
	// The format repeats refused input, which may be an image.
	repeating := `{"detail":[{"loc":["body"],"msg":"m","type":"content_policy_violation","input":{"image_url":"data:image/png;base64,` +
		strings.Repeat("A", 1<<20) + `"}}]}`
	return []suppliertest.Fault{
		submission("policy", 422, `{"detail":[{"loc":["body","prompt"],"type":"content_policy_violation","msg":"m"}]}`, verdict(fault.ContentPolicyViolation, refused)),
		submission("policy, and the input", 422, repeating, verdict(fault.ContentPolicyViolation, refused)),
		submission("invalid", 422, `{"detail":[{"loc":["body","image_size"],"type":"greater_than","msg":"m"}]}`, verdict(fault.InvalidRequest, refused)),
		submission("400", 400, `{"detail":"bad"}`, verdict(fault.InvalidRequest, refused)),
		submission("409", 409, `{"detail":"bad"}`, verdict(fault.InvalidRequest, refused)),
		submission("415", 415, `{"detail":"bad"}`, verdict(fault.InvalidRequest, refused)),
		submission("429", 429, `{"detail":"slow down"}`, full, "Retry-After", "3"),
		submission("no runner", 503, `{"detail":"m","error_type":"runner_scheduling_failure"}`, verdict(fault.CapacityExhausted, refused)),
		submission("start", 504, `{"detail":"m","error_type":"startup_timeout"}`, verdict(fault.ProviderTimeout, unknown)),
		submission("balance", 403, `{"detail":"User is locked. Reason: Exhausted balance."}`, operator),
		submission("payment", 402, `{"detail":"m"}`, operator),
		submission("no such model", 404, `{"detail":"Application not found"}`, verdict(fault.ProviderUnavailable, refused)),
		submission("a locked account", 403, `{"detail":"User is locked. Reason: Exhausted balance. Top up your balance."}`, operator),
		submission("a guard's page", 403, `<h1>User is locked</h1>`, verdict(fault.ProviderUnavailable, refused)),
		submission("500", 500, `{"detail":"m","error_type":"internal_error"}`, verdict(fault.ProviderUnavailable, refused)),
		submission("no job", 200, `{"status":"IN_QUEUE"}`, verdict(fault.ProviderUnavailable, unknown)),
		submission("a job of odd name", 200, `{"request_id":"../../account"}`, verdict(fault.ProviderUnavailable, unknown)),
		submission("an error inside", 200, `{"error":{"code":"rate","status":429}}`, verdict(fault.CapacityExhausted, refused)),

		job("policy", 422, `{"detail":[{"loc":["body","prompt"],"type":"content_policy_violation","msg":"m"}]}`, verdict(fault.ContentPolicyViolation, failed)),
		job("policy, and the input", 422, repeating, verdict(fault.ContentPolicyViolation, failed)),
		job("flagged", 200, `{"images":[{"url":"https://files.example/1"}],"has_nsfw_concepts":[true]}`, verdict(fault.ContentPolicyViolation, failed)),
		job("invalid", 422, `{"detail":[{"type":"image_too_small","msg":"m"}]}`, verdict(fault.InvalidRequest, failed)),
		job("400", 400, `{"detail":"bad"}`, verdict(fault.InvalidRequest, failed)),
		job("request timeout", 504, `{"detail":"m","error_type":"request_timeout"}`, verdict(fault.ProviderTimeout, failed)),
		job("startup timeout", 504, `{"detail":"m","error_type":"startup_timeout"}`, verdict(fault.ProviderTimeout, failed)),
		job("generation timeout", 504, `{"detail":[{"type":"generation_timeout"}]}`, verdict(fault.ProviderTimeout, failed)),
		job("no runner", 503, `{"detail":"m","error_type":"runner_scheduling_failure"}`,
			suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: failed, RetryAfter: 3 * time.Second}, "Retry-After", "3"),
		job("runner unreachable", 503, `{"detail":"m","error_type":"runner_connection_timeout"}`, verdict(fault.ProviderUnavailable, failed)),
		job("runner gone", 503, `{"detail":"m","error_type":"runner_disconnected"}`, verdict(fault.ProviderUnavailable, failed)),
		job("runner refuses", 503, `{"detail":"m","error_type":"runner_connection_refused"}`, verdict(fault.ProviderUnavailable, failed)),
		job("runner error", 500, `{"detail":"m","error_type":"runner_server_error"}`, verdict(fault.ProviderUnavailable, failed)),
		job("500", 500, `{"detail":[{"type":"internal_server_error"}]}`, verdict(fault.ProviderUnavailable, failed)),
		job("nothing made", 422, `{"detail":[{"type":"no_media_generated"}]}`, verdict(fault.ProviderUnavailable, failed)),
		job("output of another shape", 200, `{"pictures":[]}`, mapless),
		job("an address of another scheme", 200, `{"images":[{"url":"file:///etc/passwd"}]}`, mapless),

		// Faults of the poll alone: the job is asked after again.
		job("500 of no type", 500, `{"detail":"m"}`, verdict(fault.ProviderUnavailable, refused)),
		job("429", 429, `{"detail":"m"}`, verdict(fault.CapacityExhausted, refused)),
		job("401", 401, `{"detail":"m"}`, operator),
		job("vanished", 404, `{"detail":"m"}`, verdict(fault.ProviderUnavailable, refused)),
		job("html", 200, `<html>`, verdict(fault.ProviderUnavailable, unknown)),
		status("503", 503, `{"detail":"m"}`, verdict(fault.CapacityExhausted, refused)),
		status("vanished", 404, `{"detail":"m"}`, verdict(fault.ProviderUnavailable, refused)),
		status("another word", 200, `{"status":"PENDING"}`, verdict(fault.ProviderUnavailable, unknown)),
		status("html", 200, `<html>`, verdict(fault.ProviderUnavailable, unknown)),
		status("canceled", 200, `{"status":"CANCELLED"}`, verdict(fault.ProviderUnavailable, failed)),
	}
}

func refusals() []suppliertest.Refusal {
	row := func(name, capability, model, input, parameters string, refused bool) suppliertest.Refusal {
		return suppliertest.Refusal{Name: name, Request: request(capability, model, input, parameters), Refused: refused}
	}
	const prompt = `{"prompt":"A fox"}`
	return []suppliertest.Refusal{
		row("text", "text.chat", schnell, `{"prompt":"Hi"}`, `{}`, true),
		row("a model without a map", "image.generate", "fal-ai/unknown", prompt, `{}`, true),
		row("a negative prompt", "image.generate", schnell, `{"prompt":"A fox","negative_prompt":"rain"}`, `{}`, true),
		row("quality", "image.generate", schnell, prompt, `{"quality":"high"}`, true),
		row("webp", "image.generate", pro, prompt, `{"format":"webp"}`, true),
		row("transparent", "image.generate", pro, prompt, `{"background":"transparent"}`, true),
		row("opaque", "image.generate", pro, prompt, `{"background":"opaque"}`, false),
		row("png", "image.generate", pro, prompt, `{"format":"png"}`, false),
		row("a large picture", "image.generate", schnell, prompt, `{"size":"4096x4096"}`, true),
		row("odd sides", "image.generate", pro, prompt, `{"size":"1000x1000"}`, true),
		row("a size", "image.generate", pro, prompt, `{"size":"1440x704"}`, false),
		row("more than a megapixel", "image.generate", pro, prompt, `{"size":"1440x1024"}`, true),
		row("four", "image.generate", schnell, prompt, `{"n":4,"seed":1}`, false),
		row("ratios", "image.generate", schnell, prompt, `{"aspect_ratio":"21:9"}`, false),
		row("an enlarged webp", "image.upscale", "fal-ai/esrgan", `{"image":{}}`, `{"format":"webp"}`, true),
		row("an enlarged jpeg", "image.upscale", "fal-ai/esrgan", `{"image":{}}`, `{"factor":4,"format":"jpeg"}`, false),
		row("a longer extension", "video.extend", "xai/grok-imagine-video/extend-video", `{"video":{},"prompt":"On"}`, `{"duration_seconds":11}`, true),
		row("an extension of another length", "video.extend", "fal-ai/veo3.1/fast/extend-video", `{"video":{},"prompt":"On"}`, `{"duration_seconds":6}`, true),
		row("another length", "video.generate", "test/film", prompt, `{"duration_seconds":5}`, true),
	}
}
