package gemini_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/suppliertest"
)

var unknown = suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}

func refused(code fault.Code) suppliertest.Verdict {
	return suppliertest.Verdict{Code: code, Sent: supplier.Refused}
}

// faults returns the rows of the error table for this format.
func faults() []suppliertest.Fault {
	row := func(name string, status int, body string, want suppliertest.Verdict, headers ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Answer: suppliertest.JSON(status, body, headers...), Want: want}
	}
	failure := func(code int, status, details string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":"m","status":%q,"details":[%s]}}`, code, status, details)
	}
	advice := func(delay string) string {
		return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[]},
			{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}`
	}
	paused := func(d time.Duration) suppliertest.Verdict {
		return suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused, RetryAfter: d}
	}
	review, invalid, full := refused(fault.ContentPolicyViolation), refused(fault.InvalidRequest), refused(fault.CapacityExhausted)
	down, late := refused(fault.ProviderUnavailable), suppliertest.Verdict{Code: fault.ProviderTimeout, Sent: supplier.Unknown}
	operator := down
	operator.Operator = true
	all := []suppliertest.Fault{
		row("prompt blocked", 200, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, review),
		row("prompt blocked for another reason", 200, `{"candidates":[],"promptFeedback":{"blockReason":"OTHER"}}`, review),
		row("no capacity", 503, failure(503, "UNAVAILABLE", ""), full),
		row("quota", 429, failure(429, "RESOURCE_EXHAUSTED", ""), full),
		row("quota with advice", 429, failure(429, "RESOURCE_EXHAUSTED", advice("34.5s")), paused(34500*time.Millisecond)),
		row("quota with endless advice", 429, failure(429, "RESOURCE_EXHAUSTED", advice("99999999s")), paused(time.Hour)),
		row("quota with advice of the past", 429, failure(429, "RESOURCE_EXHAUSTED", advice("-3s")), full),
		row("quota with junk advice", 429, failure(429, "RESOURCE_EXHAUSTED", advice("soon")), full),
		row("quota with both", 429, failure(429, "RESOURCE_EXHAUSTED", advice("34s")), paused(9*time.Second), "Retry-After", "9"),
		row("deadline", 504, failure(504, "DEADLINE_EXCEEDED", ""), late),
		row("internal", 500, failure(500, "INTERNAL", ""), down),
		row("precondition", 400, failure(400, "FAILED_PRECONDITION", ""), operator),
		row("bad key", 400, failure(400, "INVALID_ARGUMENT", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`), operator),
		row("permission", 403, failure(403, "PERMISSION_DENIED", ""), operator),
		row("model gone", 404, failure(404, "NOT_FOUND", ""), operator),
		row("invalid", 400, failure(400, "INVALID_ARGUMENT", ""), invalid),
		row("invalid in an array", 400, `[`+failure(400, "INVALID_ARGUMENT", "")+`]`, invalid),
		row("400 without a body", 400, ``, invalid),
		row("413", 413, `too large`, invalid),
		row("200 with an error", 200, failure(503, "UNAVAILABLE", ""), full),
		row("200 without candidates", 200, `{"candidates":[]}`, unknown),
		row("200 without text", 200, `{"candidates":[{"content":{},"finishReason":"STOP"}]}`, unknown),
		row("200 with a file for text", 200, `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}]}`, unknown),
	}
	for _, reason := range []string{
		"SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER",
	} {
		all = append(all, row(reason, 200, finished("par", reason), review))
	}
	for _, reason := range []string{"OTHER", "LANGUAGE", "MALFORMED_RESPONSE", "SOMETHING_NEW"} {
		all = append(all, row(reason, 200, finished("par", reason), unknown))
	}
	all = append(all, streams()...)
	all = append(all, files()...)
	return append(all, videos()...)
}

func finished(text, reason string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":%q}]},"finishReason":%q}]}`, text, reason)
}

// streams are the rows of a streamed text: the meaning of a failure before and after the first piece.
func streams() []suppliertest.Fault {
	row := func(name string, want suppliertest.Verdict, events ...string) suppliertest.Fault {
		return suppliertest.Fault{Name: "stream " + name, Stream: true, Answer: suppliertest.Events(events...), Want: want}
	}
	const (
		piece = `{"candidates":[{"content":{"parts":[{"text":"par"}]}}]}`
		busy  = `{"error":{"code":503,"status":"UNAVAILABLE"}}`
	)
	return []suppliertest.Fault{
		row("of nothing", unknown),
		row("cut", unknown, piece),
		row("malformed", unknown, piece, `{`),
		row("full at once", refused(fault.CapacityExhausted), busy),
		row("full later", suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Unknown}, piece, busy),
		row("blocked at once", refused(fault.ContentPolicyViolation), `{"promptFeedback":{"blockReason":"SAFETY"}}`),
		row("blocked later", refused(fault.ContentPolicyViolation), piece, finished("", "SAFETY")),
		row("broken off", unknown, piece, finished("", "OTHER")),
	}
}

// files are the rows of images, speech and embeddings.
func files() []suppliertest.Fault {
	paint := request("image.generate", `{"prompt":"A fox"}`, `{"format":"png"}`)
	speak := request("audio.speech", `{"text":"Hi"}`, `{}`)
	edit := withMedia(request("image.edit", `{"prompt":"Bluer","images":[{"data":"A"}]}`, `{}`), "/images/0")
	embed := request("text.embed", `{"texts":["a","b"]}`, `{"dimensions":3}`)
	one := request("text.embed", `{"texts":["a"]}`, `{}`)
	row := func(name string, r supplier.Request, body string, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Request: &r, Answer: suppliertest.JSON(200, body), Want: want}
	}
	return []suppliertest.Fault{
		row("no image", paint, finished("I'd rather not.", "NO_IMAGE"), refused(fault.ProviderUnavailable)),
		row("text for an image", paint, finished("A fox.", "STOP"), unknown),
		row("an image that is none", paint, fileAnswer("image/png", []byte("?")), unknown),
		row("an image in base64 that is none", paint, strings.Replace(fileAnswer("image/png", nil), `"data":""`, `"data":"?"`, 1), unknown),
		row("an image refused", edit, finished("", "IMAGE_SAFETY"), refused(fault.ContentPolicyViolation)),
		row("text for a sound", speak, finished("Hi", "STOP"), unknown),
		row("a sound of another type", speak, fileAnswer("audio/mpeg", []byte(sound)), unknown),
		row("a sound of no rate", speak, fileAnswer("audio/L16;rate=0", []byte(sound)), unknown),
		row("half a sample", speak, fileAnswer("audio/L16;rate=8000", []byte("0")), unknown),
		row("vectors of another length", embed, embedAnswer, unknown),
		row("a vector short", embed, `{"embeddings":[{"values":[1,2,3]}]}`, unknown),
		row("ragged vectors", embed, `{"embeddings":[{"values":[1,2,3]},{"values":[1,2]}]}`, unknown),
		row("an empty vector", one, `{"embedding":{"values":[]}}`, unknown),
		row("no vector", one, `{"embedding":null}`, unknown),
	}
}

// videos are the rows of a job: at its beginning and at its end.
func videos() []suppliertest.Fault {
	film := request("video.generate", `{"prompt":"Waves"}`, `{}`)
	begin := func(name, body string, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: "video " + name, Request: &film, Answer: suppliertest.JSON(200, body), Want: want}
	}
	end := func(name string, status int, body string, want suppliertest.Verdict) suppliertest.Fault {
		answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				suppliertest.JSON(200, `{"name":"`+operationID+`"}`).ServeHTTP(w, r)
				return
			}
			suppliertest.JSON(status, body).ServeHTTP(w, r)
		})
		return suppliertest.Fault{Name: "video " + name, Request: &film, Answer: answer, Want: want}
	}
	failed := func(code fault.Code, operator bool) suppliertest.Verdict {
		return suppliertest.Verdict{Code: code, Sent: supplier.Failed, Operator: operator}
	}
	done := func(response string) string {
		return `{"name":"` + operationID + `","done":true,"response":{"generateVideoResponse":` + response + `}}`
	}
	all := []suppliertest.Fault{
		begin("without a name", `{"done":false}`, unknown),
		begin("of a hostile name", `{"name":"operations/../../v1beta/files/x"}`, unknown),
		begin("of a name of dots", `{"name":"models/../operations/.."}`, unknown),
		begin("refused in a success", `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`, refused(fault.CapacityExhausted)),
		end("filtered", 200, done(`{"raiMediaFilteredCount":1,"raiMediaFilteredReasons":["no"]}`), failed(fault.ContentPolicyViolation, false)),
		end("filtered without reasons", 200, done(`{"raiMediaFilteredCount":1}`), failed(fault.ContentPolicyViolation, false)),
		end("of nothing", 200, done(`{}`), failed(fault.ProviderUnavailable, false)),
		end("of a file that is nowhere", 200, done(`{"generatedSamples":[{"video":{"uri":"file:///etc/passwd"}}]}`), failed(fault.ProviderUnavailable, false)),
		end("done without an answer", 200, `{"name":"`+operationID+`","done":true}`, unknown),
		end("of another form", 200, `{"name":{}}`, unknown),
		end("an error while it runs", 200, `{"name":"`+operationID+`","error":{"code":13}}`, unknown),
		end("vanished", 404, `{"error":{"code":404,"status":"NOT_FOUND"}}`,
			suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Refused, Operator: true}),
		end("poll full", 503, ``, refused(fault.CapacityExhausted)),
	}
	for code, want := range map[string]suppliertest.Verdict{
		"3": failed(fault.InvalidRequest, false), "4": failed(fault.ProviderTimeout, false),
		"8": failed(fault.CapacityExhausted, false), "14": failed(fault.CapacityExhausted, false),
		"13": failed(fault.ProviderUnavailable, false), "1": failed(fault.ProviderUnavailable, false),
		"9": failed(fault.ProviderUnavailable, true), "7": failed(fault.ProviderUnavailable, true),
		`"?"`: failed(fault.ProviderUnavailable, false),
	} {
		all = append(all, end("failed by code "+code, 200, `{"name":"`+operationID+`","done":true,"error":{"code":`+code+`,"message":"m"}}`, want))
	}
	return all
}

func refusals() []suppliertest.Refusal {
	row := func(name, capability, model, input, parameters string, refused bool) suppliertest.Refusal {
		r := request(capability, input, parameters)
		r.Model = model
		return suppliertest.Refusal{Name: name, Request: r, Refused: refused}
	}
	const (
		prompt = `{"prompt":"Hi"}`
		old    = "gemini-2.5-flash-image"
		now    = "gemini-3.1-flash-image"
		veo    = "veo-3.1-generate-preview"
		lite   = "veo-3.1-lite-generate-preview"
	)
	texts := func(n int) string { return `{"texts":["a"` + strings.Repeat(`,"a"`, n-1) + `]}` }
	image := func(name, model, parameters string, refused bool) suppliertest.Refusal {
		return row("image: "+name, "image.generate", model, prompt, parameters, refused)
	}
	film := func(name, model, input, parameters string, refused bool) suppliertest.Refusal {
		return row("video: "+name, "video.generate", model, input, parameters, refused)
	}
	return []suppliertest.Refusal{
		row("another capability", "audio.transcribe", "m", `{"audio":{}}`, `{}`, true),
		row("unknown parameter", "text.chat", "m", prompt, `{"top_k":4}`, true),
		row("as many texts as it takes", "text.embed", "m", texts(100), `{"dimensions":3072}`, false),
		row("too many texts", "text.embed", "m", texts(101), `{}`, true),
		row("too many dimensions", "text.embed", "m", texts(1), `{"dimensions":3073}`, true),
		row("what is no request", "text.embed", "m", `{"texts":1}`, `{}`, false),
		image("defaults", now, `{"n":1,"format":"png"}`, false),
		image("several", now, `{"n":2}`, true),
		image("jpeg", now, `{"format":"jpeg"}`, false),
		image("webp", now, `{"format":"webp"}`, true),
		image("quality", now, `{"quality":"high"}`, true),
		image("square", old, `{"size":"1024x1024"}`, false),
		image("an older size", old, `{"size":"832x1248"}`, false),
		image("an older size of a later model", now, `{"size":"832x1248"}`, true),
		image("4K of an older model", old, `{"size":"2048x2048"}`, true),
		image("4K", now, `{"size":"4096x4096"}`, false),
		image("no size of the model's", now, `{"size":"1000x1000"}`, true),
		row("transparent", "image.generate", now, `{"prompt":"a"}`, `{"background":"transparent"}`, true),
		row("opaque", "image.generate", now, `{"prompt":"a"}`, `{"background":"opaque","format":"png"}`, false),
		row("negative prompt", "image.generate", now, `{"prompt":"a","negative_prompt":"b"}`, `{}`, true),
		row("mask", "image.edit", now, `{"prompt":"a","images":[{}],"mask":{}}`, `{}`, true),
		row("speech", "audio.speech", "m", `{"text":"a"}`, `{"format":"wav","speed":1}`, false),
		row("mp3", "audio.speech", "m", `{"text":"a"}`, `{"format":"mp3"}`, true),
		row("fast speech", "audio.speech", "m", `{"text":"a"}`, `{"speed":1.5}`, true),
		film("defaults", veo, prompt, `{"duration_seconds":4,"aspect_ratio":"16:9","resolution":"720p"}`, false),
		film("silent", veo, prompt, `{"audio":false}`, true),
		film("square", veo, prompt, `{"aspect_ratio":"1:1"}`, true),
		film("5 seconds", veo, prompt, `{"duration_seconds":5}`, true),
		film("4 seconds of 1080p", veo, prompt, `{"duration_seconds":4,"resolution":"1080p"}`, true),
		film("8 seconds of 4k", veo, prompt, `{"duration_seconds":8,"resolution":"4k"}`, false),
		film("4k of the small model", lite, prompt, `{"duration_seconds":8,"resolution":"4k"}`, true),
		film("references", veo, `{"prompt":"a","reference_images":[{},{},{}]}`, `{"duration_seconds":8}`, false),
		film("references of 4 seconds", veo, `{"prompt":"a","reference_images":[{}]}`, `{"duration_seconds":4}`, true),
		film("too many references", veo, `{"prompt":"a","reference_images":[{},{},{},{}]}`, `{"duration_seconds":8}`, true),
		film("references beside a frame", veo, `{"prompt":"a","image":{},"reference_images":[{}]}`, `{"duration_seconds":8}`, true),
		film("references of the small model", lite, `{"prompt":"a","reference_images":[{}]}`, `{"duration_seconds":8}`, true),
	}
}

func TestMisconfigured(t *testing.T) {
	const base = "http://supplier.example"
	suppliertest.RunMisconfigured(t, gemini.Kind(), []suppliertest.Misconfigured{
		{Config: supplier.Config{}, Want: "base_url is required"},
		{Config: supplier.Config{BaseURL: base, MaxTokensField: "max_tokens"}, Want: "max_tokens_field is for the kind openai alone"},
		{Config: supplier.Config{BaseURL: base, Options: map[string]string{"project": "x"}}, Want: `unknown option "project"`},
	})
}

func TestUnfit(t *testing.T) {
	suppliertest.RunUnfit(t, gemini.Kind(), map[string]supplier.Request{
		"capability":   request("audio.transcribe", `{}`, `{}`),
		"chat":         request("text.chat", `{"prompt":"Hi"}`, `{"top_k":1}`),
		"embeddings":   request("text.embed", `{"texts":["a"],"more":1}`, `{}`),
		"image":        request("image.generate", `{`, `{}`),
		"speech":       request("audio.speech", `{"text":1}`, `{}`),
		"video":        request("video.generate", `{"prompt":"a"}`, `{"fps":24}`),
		"lost image":   request("image.edit", `{"prompt":"a","images":[{"data":"A"}]}`, `{}`),
		"lost frame":   request("video.generate", `{"image":{"data":"A"}}`, `{}`),
		"lost subject": request("video.generate", `{"prompt":"a","reference_images":[{"data":"A"}]}`, `{}`),
	})
}
