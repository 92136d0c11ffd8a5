package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

const (
	imageAnswer = `{"created":1,"data":[{"b64_json":"aW1hZ2UtMQ=="},{"b64_json":"aW1hZ2UtMg==","revised_prompt":"x"}],
		"usage":{"input_tokens":12,"output_tokens":540,"total_tokens":552,"input_tokens_details":{"text_tokens":12,"image_tokens":0}}}`
	verboseAnswer = `{"language":"english","duration":2.5,"text":"Mind the gap.",
		"segments":[{"id":0,"seek":0,"start":0,"end":1.2,"text":" Mind","tokens":[1],"temperature":0,"avg_logprob":-0.1,"compression_ratio":1,"no_speech_prob":0},
			{"id":1,"seek":0,"start":1.2,"end":2.4504,"text":" the gap.","tokens":[2,3],"temperature":0,"avg_logprob":-0.1,"compression_ratio":1,"no_speech_prob":0}],
		"words":[{"word":"Mind","start":0.1,"end":0.5},{"word":"the","start":0.6,"end":0.7},{"word":"gap","start":0.8,"end":1}]}`
	recording = "RIFF-not-quite-a-recording"
)

// media makes a media value of the bytes.
func media(contentType, data string) supplier.Media {
	return supplier.Media{ContentType: contentType, Bytes: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(data)), nil
	}}
}

func editRequest(parameters string) supplier.Request {
	r := request("image.edit", `{"prompt":"Make it blue","images":[{"url":"https://a.example/1"},{"url":"https://a.example/2"}],
		"mask":{"url":"https://a.example/3"},"authorization":{"person":"none"}}`, parameters)
	r.Media = map[string]supplier.Media{
		"/images/0": media("image/png", "first"), "/images/1": media("image/jpeg", "second"), "/mask": media("image/png", "mask"),
	}
	return r
}

func transcribeRequest(parameters string) supplier.Request {
	r := request("audio.transcribe", `{"audio":{"url":"https://a.example/1"}}`, parameters)
	r.Model = "whisper-1"
	r.Media = map[string]supplier.Media{"/audio": media("audio/wav", recording)}
	return r
}

func mediaCases() []suppliertest.Case {
	images := &supplier.Result{
		Files: []supplier.File{{Data: []byte("image-1")}, {Data: []byte("image-2")}},
		Usage: supplier.Usage{InputTokens: 12, OutputTokens: 540, Images: 2},
	}
	return []suppliertest.Case{
		{
			Request: request("image.generate", `{"prompt":"A fox"}`,
				`{"n":2,"size":"1024x1024","format":"webp","quality":"low","seed":4}`),
			Sends:  `{"model":"model-1","prompt":"A fox","n":2,"size":"1024x1024","quality":"low","output_format":"webp"}`,
			Answer: suppliertest.JSON(200, imageAnswer), Want: images,
		},
		{
			Request: editRequest(`{"n":2,"format":"png"}`),
			Answer:  suppliertest.JSON(200, imageAnswer), Want: images, Alike: true,
		},
		{
			Request: request("audio.speech", `{"text":"Mind the gap","instructions":"slowly"}`, `{"voice":"nova","format":"mp3","speed":1.5}`),
			Sends: `{"model":"model-1","input":"Mind the gap","voice":"nova","instructions":"slowly",
				"response_format":"mp3","speed":1.5}`,
			Answer: suppliertest.Respond(200, "audio/mpeg", recording), Opaque: true,
			Want: &supplier.Result{Files: []supplier.File{{ContentType: "audio/mpeg", Data: []byte(recording)}}},
		},
		{
			Request: transcribeRequest(`{"timestamps":"word","format":"text"}`),
			Answer:  suppliertest.JSON(200, verboseAnswer),
			Want: &supplier.Result{
				Text: new("Mind the gap."), FinishReason: "stop",
				Segments: []supplier.Segment{
					{Start: 0.1, End: 0.5, Text: "Mind"}, {Start: 0.6, End: 0.7, Text: "the"}, {Start: 0.8, End: 1, Text: "gap"},
				},
				Usage: supplier.Usage{Milliseconds: 2500, OutputTokens: 4},
			},
		},
	}
}

// mediaFaults are the rows of the error table that only media meet.
func mediaFaults() []suppliertest.Fault {
	image := request("image.generate", `{"prompt":"A fox"}`, `{}`)
	speech := request("audio.speech", `{"text":"Hi"}`, `{}`)
	edit, heard := editRequest(`{}`), transcribeRequest(`{"timestamps":"segment"}`)
	row := func(name string, r *supplier.Request, status int, kind, body string, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Request: r, Answer: suppliertest.Respond(status, kind, body), Want: want}
	}
	const jsonType = "application/json"
	review := suppliertest.Verdict{Code: fault.ContentPolicyViolation, Sent: supplier.Refused}
	invalid := suppliertest.Verdict{Code: fault.InvalidRequest, Sent: supplier.Refused}
	down := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Refused}
	lost := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	unfit := suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Unknown}
	return []suppliertest.Fault{
		row("image moderation", &image, 400, jsonType, `{"error":{"code":"moderation_blocked","type":"image_generation_user_error"}}`, review),
		row("edit moderation", &edit, 400, jsonType, `{"error":{"code":"moderation_blocked"}}`, review),
		row("edit too large", &edit, 413, jsonType, ``, invalid),
		row("speech moderation", &speech, 400, jsonType, `{"error":{"code":"content_policy_violation"}}`, review),
		row("recording unreadable", &heard, 400, jsonType, `{"error":{"code":"invalid_value","param":"file"}}`, invalid),
		row("no images", &image, 200, jsonType, `{"data":[]}`, lost),
		row("an image of nothing", &image, 200, jsonType, `{"data":[{}]}`, lost),
		row("an image of no base64", &image, 200, jsonType, `{"data":[{"b64_json":"%%%"}]}`, lost),
		row("an image of another scheme", &image, 200, jsonType, `{"data":[{"url":"file:///etc/passwd"}]}`, lost),
		row("an error in the place of images", &image, 200, jsonType, `{"error":{"code":502}}`, down),
		row("an error in the place of sound", &speech, 200, jsonType, `{"error":{"code":502}}`, down),
		row("JSON in the place of sound", &speech, 200, jsonType, `{"audio":"x"}`, lost),
		row("no sound", &speech, 200, "audio/wav", ``, lost),
		row("no transcript", &heard, 200, jsonType, `{"text":null}`, lost),
		row("an error in the place of a transcript", &heard, 200, jsonType, `{"error":{"code":502}}`, down),
		row("a transcript without times", &heard, 200, jsonType, `{"text":"Mind the gap."}`, unfit),
		row("a transcript with times that go back", &heard, 200, jsonType,
			`{"text":"Mind","segments":[{"start":2,"end":1,"text":"Mind"}]}`, unfit),
	}
}

func mediaRefusals() []suppliertest.Refusal {
	row := func(name, capability, model, input, parameters string, refused bool) suppliertest.Refusal {
		r := request(capability, input, parameters)
		r.Model = model
		return suppliertest.Refusal{Name: name, Request: r, Refused: refused}
	}
	const prompt, text = `{"prompt":"A fox"}`, `{"text":"Hi"}`
	return []suppliertest.Refusal{
		row("video", "video.generate", "m", prompt, `{}`, true),
		row("a negative prompt", "image.generate", "m", `{"prompt":"A fox","negative_prompt":"rain"}`, `{}`, true),
		row("seed of an image is for all", "image.generate", "m", prompt, `{"seed":1}`, false),
		row("a size", "image.generate", "gpt-image-2", prompt, `{"size":"2048x1152"}`, false),
		row("a size of odd pixels", "image.generate", "gpt-image-2", prompt, `{"size":"1000x1000"}`, true),
		row("a size too small", "image.generate", "openai/gpt-image-2.5-flare", prompt, `{"size":"256x256"}`, true),
		row("a size too long", "image.generate", "gpt-image-2", prompt, `{"size":"3072x512"}`, true),
		row("a ratio", "image.generate", "gpt-image-2", prompt, `{"aspect_ratio":"21:9"}`, false),
		row("a ratio of few sizes", "image.edit", "gpt-image-1-mini", prompt, `{"aspect_ratio":"3:2"}`, false),
		row("a ratio that few sizes lack", "image.edit", "gpt-image-1.5", prompt, `{"aspect_ratio":"16:9"}`, true),
		row("a background of its own choice", "image.generate", "m", prompt, `{"background":"auto","format":"jpeg"}`, false),
		row("transparent", "image.generate", "gpt-image-2.5-flare", prompt, `{"background":"transparent","format":"webp"}`, false),
		row("transparent by a model that isn't", "image.generate", "openai/gpt-image-2", prompt, `{"background":"transparent"}`, true),
		row("transparent by another's version", "image.generate", "gpt-image-2-2026-04-21", prompt, `{"background":"transparent"}`, true),
		row("opaque", "image.generate", "gpt-image-2", prompt, `{"background":"opaque"}`, false),
		row("a transparent JPEG", "image.generate", "gpt-image-1.5", prompt, `{"background":"transparent","format":"jpeg"}`, true),
		row("a background of an edit", "image.edit", "m", prompt, `{"background":"opaque"}`, true),
		row("fidelity", "image.edit", "gpt-image-1.5", prompt, `{"input_fidelity":"high"}`, false),
		row("fidelity of a small model", "image.edit", "gpt-image-1-mini", prompt, `{"input_fidelity":"low"}`, true),
		row("fidelity that is there anyway", "image.edit", "gpt-image-2", prompt, `{"input_fidelity":"high"}`, false),
		row("less fidelity than there is", "image.edit", "gpt-image-2", prompt, `{"input_fidelity":"low"}`, true),
		row("instructions", "audio.speech", "gpt-4o-mini-tts", `{"text":"Hi","instructions":"slowly"}`, `{}`, false),
		row("instructions for an older model", "audio.speech", "tts-1-hd", `{"text":"Hi","instructions":"slowly"}`, `{}`, true),
		row("speed", "audio.speech", "tts-1", text, `{"speed":2,"format":"flac"}`, false),
		row("a long text", "audio.speech", "gpt-4o-mini-tts", `{"text":"`+strings.Repeat("ü", 4096)+`"}`, `{}`, false),
		row("too long a text", "audio.speech", "gpt-4o-mini-tts", `{"text":"`+strings.Repeat("ü", 4097)+`"}`, `{}`, true),
		row("a longer text for others", "audio.speech", "orpheus", `{"text":"`+strings.Repeat("ü", 4097)+`"}`, `{}`, false),
	}
}

// TestServerRefuses shows which requests a server's settings exclude.
func TestServerRefuses(t *testing.T) {
	const prompt = `{"prompt":"A fox"}`
	speech := func(parameters string) supplier.Request { return request("audio.speech", `{"text":"Hi"}`, parameters) }
	image := func(parameters string) supplier.Request { return request("image.generate", prompt, parameters) }
	slow := request("audio.speech", `{"text":"Hi","instructions":"slowly"}`, `{}`)
	tests := []struct {
		name    string
		options map[string]string
		request supplier.Request
		refused bool
	}{
		{"one image at a time", map[string]string{"image_fields": "size"}, image(`{"n":2}`), true},
		{"one image", map[string]string{"image_fields": "size"}, image(`{"n":1}`), false},
		{"no size", map[string]string{"image_fields": "n aspect_ratio"}, image(`{"size":"1024x1024"}`), true},
		{"a ratio without a size", map[string]string{"image_fields": "n, aspect_ratio"}, image(`{"aspect_ratio":"16:9"}`), false},
		{"a ratio without either", map[string]string{"image_fields": "none"}, image(`{"aspect_ratio":"16:9"}`), true},
		{"no background", map[string]string{"image_fields": "n"}, image(`{"background":"opaque"}`), true},
		{"any background", map[string]string{"image_fields": "n"}, image(`{"background":"auto"}`), false},
		{"a background that no server but the author's is asked for", nil, image(`{"background":"opaque"}`), true},
		{"transparent in its only format", map[string]string{"image_fields": "background", "image_format": "jpeg"}, image(`{"background":"transparent"}`), true},
		{"no quality", map[string]string{"image_fields": "n"}, image(`{"quality":"high"}`), true},
		{"another format", map[string]string{"image_fields": "n", "image_format": "jpeg"}, image(`{"format":"png"}`), true},
		{"its own format", map[string]string{"image_fields": "n", "image_format": "jpeg"}, image(`{"format":"jpeg"}`), false},
		{"no speed", map[string]string{"speech_fields": "instructions"}, speech(`{"speed":2}`), true},
		{"the usual speed", map[string]string{"speech_fields": "none"}, speech(`{"speed":1}`), false},
		{"no instructions", map[string]string{"speech_fields": "speed"}, slow, true},
		{"no such sound", map[string]string{"speech_formats": "wav"}, speech(`{"format":"mp3"}`), true},
		{"such sound", map[string]string{"speech_formats": "wav"}, speech(`{"format":"wav"}`), false},
		{"no times", map[string]string{"transcripts": "json"}, transcribeRequest(`{"timestamps":"word"}`), true},
	}
	for _, tt := range tests {
		a := mustNew(t, supplier.Config{BaseURL: "http://127.0.0.1:1", Options: tt.options})
		if why := supplier.Refuses(openai.Kind(), a, tt.request); (why != "") != tt.refused {
			t.Errorf("%s: got %q, want refused: %t", tt.name, why, tt.refused)
		}
	}
}

// TestServerFields shows the members that the settings add to a request and remove.
func TestServerFields(t *testing.T) {
	image := func(parameters string) supplier.Request {
		return request("image.generate", `{"prompt":"A fox"}`, parameters)
	}
	speech := request("audio.speech", `{"text":"Hi"}`, `{"format":"wav","speed":1}`)
	tests := []struct {
		name    string
		options map[string]string
		request supplier.Request
		want    string
	}{
		{
			"as the author", nil, image(`{"n":1,"format":"png","aspect_ratio":"16:9"}`),
			`{"model":"model-1","prompt":"A fox","n":1,"size":"1536x864","output_format":"png"}`,
		},
		{
			"by ratio",
			map[string]string{"image_fields": "n aspect_ratio seed", "image_answer": "b64_json"},
			image(`{"n":1,"format":"png","aspect_ratio":"16:9","seed":7}`),
			`{"model":"model-1","prompt":"A fox","n":1,"aspect_ratio":"16:9","response_format":"b64_json","seed":7}`,
		},
		{
			"a background",
			map[string]string{"image_fields": "background output_format"},
			image(`{"n":1,"format":"png","background":"transparent"}`),
			`{"model":"model-1","prompt":"A fox","output_format":"png","background":"transparent"}`,
		},
		{"a prompt alone", map[string]string{"image_fields": "none"}, image(`{"n":1,"format":"png"}`), `{"model":"model-1","prompt":"A fox"}`},
		{"the usual voice", nil, speech, `{"model":"model-1","input":"Hi","voice":"alloy","response_format":"wav"}`},
		{"a voice", map[string]string{"voice": "hannah"}, speech, `{"model":"model-1","input":"Hi","voice":"hannah","response_format":"wav"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := suppliertest.JSON(200, imageAnswer)
			if tt.request.Capability == "audio.speech" {
				answer = suppliertest.Respond(200, "audio/wav", recording)
			}
			if tt.options == nil {
				answer = suppliertest.Held(t, answer)
			}
			url, last := foreign(t, answer)
			if _, err := suppliertest.Send(t, mustNew(t, supplier.Config{BaseURL: url + "/v1", Options: tt.options}), tt.request, false); err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, last()); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMediaAnswers holds the forms in which servers answer well.
func TestMediaAnswers(t *testing.T) {
	image := request("image.generate", `{"prompt":"A red fox"}`, `{"n":1}`)
	transcribed := func(text string, used supplier.Usage, segments ...supplier.Segment) *supplier.Result {
		return &supplier.Result{Text: &text, FinishReason: "stop", Usage: used, Segments: segments}
	}
	lines := []supplier.Segment{{Start: 0, End: 1.2, Text: "Mind"}, {Start: 1.2, End: 2.4504, Text: "the gap."}}
	long := supplier.Usage{Milliseconds: 2500, OutputTokens: 4}
	tests := []struct {
		name    string
		request supplier.Request
		answer  string
		want    *supplier.Result
	}{
		{"an address", image, `{"data":[{"url":"https://files.example/1.png"}]}`, &supplier.Result{
			Files: []supplier.File{{URL: "https://files.example/1.png"}}, Usage: supplier.Usage{InputTokens: 3, Images: 1},
		}},
		{"a data address", image, `{"data":[{"b64_json":"data:image/jpeg;base64,aW1hZ2UtMQ=="}]}`, &supplier.Result{
			Files: []supplier.File{{ContentType: "image/jpeg", Data: []byte("image-1")}}, Usage: supplier.Usage{InputTokens: 3, Images: 1},
		}},
		{"more images than asked for", image, imageAnswer, &supplier.Result{
			Files: []supplier.File{{Data: []byte("image-1")}}, Usage: supplier.Usage{InputTokens: 12, OutputTokens: 540, Images: 1},
		}},
		{"segments", transcribeRequest(`{"timestamps":"segment"}`), verboseAnswer, transcribed("Mind the gap.", long, lines...)},
		{"no times asked for", transcribeRequest(`{"timestamps":"none"}`), verboseAnswer, transcribed("Mind the gap.", long)},
		{"SubRip", transcribeRequest(`{"format":"srt"}`), verboseAnswer, transcribed(
			"1\n00:00:00,000 --> 00:00:01,200\nMind\n\n2\n00:00:01,200 --> 00:00:02,450\nthe gap.\n\n", long)},
		{"WebVTT", transcribeRequest(`{"format":"vtt","timestamps":"segment"}`), verboseAnswer, transcribed(
			"WEBVTT\n\n00:00:00.000 --> 00:00:01.200\nMind\n\n00:00:01.200 --> 00:00:02.450\nthe gap.\n\n", long, lines...)},
		{
			"silence", transcribeRequest(`{"format":"vtt","timestamps":"word"}`), `{"text":"","duration":"3.5"}`,
			transcribed("WEBVTT\n\n", supplier.Usage{Milliseconds: 3500}),
		},
		{
			"usage in tokens", transcribeRequest(`{}`), `{"text":"Hi","usage":{"type":"tokens","input_tokens":14,"output_tokens":3}}`,
			transcribed("Hi", supplier.Usage{InputTokens: 14, OutputTokens: 3}),
		},
		{
			"usage in seconds", transcribeRequest(`{}`), `{"text":"Hi","duration":1.6,"usage":{"type":"duration","seconds":2}}`,
			transcribed("Hi", supplier.Usage{Milliseconds: 2000, OutputTokens: 1}),
		},
		{
			"a cue of many lines", transcribeRequest(`{"format":"srt"}`),
			`{"text":"a","segments":[{"start":3661.5,"end":3662,"text":"a\n\n2\n00:00 --> 00:01"}]}`,
			transcribed("1\n01:01:01,500 --> 01:01:02,000\na 2 00:00 -> 00:01\n\n", supplier.Usage{OutputTokens: 1}),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(suppliertest.Held(t, suppliertest.JSON(200, tt.answer)))
			t.Cleanup(srv.Close)
			got, err := suppliertest.Send(t, mustNew(t, supplier.Config{BaseURL: srv.URL + "/v1"}), tt.request, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReportedCost shows when a report's cost counts as the charge, and how exactly.
func TestReportedCost(t *testing.T) {
	answer := func(cost string) http.Handler {
		return suppliertest.JSON(200, `{"choices":[{"message":{"content":"Hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":`+cost+`}}`)
	}
	for _, tt := range []struct {
		base, option, cost string
		want               *int64
	}{
		{"http://openrouter.ai/api/v1", "", "0.000013", new(int64(13_000))},
		{"http://openrouter.ai/api/v1", "off", "0.000013", nil},
		{"http://other.example/v1", "", "0.000013", nil},
		{"http://other.example/v1", "on", "1.5", new(int64(1_500_000_000))},
		{"http://other.example/v1", "on", "-1", nil},
		{"http://other.example/v1", "on", "1e300", nil},
		{"http://other.example/v1", "on", `"1"`, nil},
	} {
		proxy, _ := foreign(t, answer(tt.cost))
		a := mustNew(t, supplier.Config{BaseURL: tt.base, Options: map[string]string{"reported_cost": tt.option, "proxy": proxy}})
		got, err := suppliertest.Send(t, a, request("text.chat", `{"prompt":"Hi"}`, `{}`), false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.Charged); diff != "" {
			t.Errorf("%v: charged (-want +got):\n%s", tt, diff)
		}
	}
}
