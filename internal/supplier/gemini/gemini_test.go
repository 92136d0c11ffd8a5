package gemini_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/suppliertest"
	"unitask/internal/supplier/upstream"
)

const (
	chatAnswer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Well.","thought":true},{"text":"Hel"},{"text":"lo."}]},
		"finishReason":"STOP","index":0}],"modelVersion":"theirs-1","responseId":"r",
		"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":16}}`
	embedAnswer = `{"embeddings":[{"values":[0,0.25]},{"values":[0.5,-1]}],"usageMetadata":{"promptTokenCount":4}}`
	operationID = "models/model-1/operations/op-1"
	sound       = "0123456789abcdef" // eight samples
)

func request(capability, input, parameters string) supplier.Request {
	return supplier.Request{
		Capability: capability, Model: "model-1",
		Input: json.RawMessage(input), Parameters: json.RawMessage(parameters), SubmitKey: "task_0/1",
	}
}

// withMedia returns r with the media values "A", "B" and so on at the pointers.
func withModel(model string, r supplier.Request) supplier.Request {
	r.Model = model
	return r
}

func withMedia(r supplier.Request, pointers ...string) supplier.Request {
	r.Media = map[string]supplier.Media{}
	for i, p := range pointers {
		data := string(rune('A' + i))
		r.Media[p] = supplier.Media{ContentType: "image/png", Bytes: 1, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(data)), nil
		}}
	}
	return r
}

// hello is the result of chatAnswer.
func hello() *supplier.Result {
	return &supplier.Result{
		Text: new("Hello."), FinishReason: "stop", Reasoning: "Well.", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 7, ReasoningTokens: 5},
	}
}

// picture is a small image of the format, png or jpeg.
func picture(t testing.TB, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	m := image.NewNRGBA(image.Rect(0, 0, 4, 2)) // all of it transparent
	err := png.Encode(&b, m)
	if format == "jpeg" {
		b.Reset()
		err = jpeg.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// fileAnswer is an answer with one file, behind a sketch.
func fileAnswer(mimeType string, data []byte) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"},"thought":true},
		{"text":"Here you are."},{"inlineData":{"mimeType":%q,"data":%q}}]},"finishReason":"STOP"}],
		"usageMetadata":{"promptTokenCount":6,"candidatesTokenCount":1290}}`, mimeType, base64Of(data))
}

// veo is the API's side of one video: it is done at the second poll.
func veo() http.Handler {
	var polls int
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := `{"name":"` + operationID + `"}`
		if r.Method == http.MethodGet {
			if polls++; polls > 1 {
				body = `{"name":"` + operationID + `","done":true,"response":{"generateVideoResponse":{"generatedSamples":[
					{"video":{"uri":"https://files.example/v1beta/files/f:download?alt=media"}}]}}}`
			}
		}
		suppliertest.JSON(200, body).ServeHTTP(w, r)
	})
}

func TestConformance(t *testing.T) { suppliertest.Run(t, harness(t)) }

func harness(t *testing.T) suppliertest.Harness {
	t.Helper()
	fox := picture(t, "png")
	return suppliertest.Harness{
		ToolCalls: toolCalls(),
		Kind:      gemini.Kind(),
		Abilities: suppliertest.Abilities{Poll: true, Stream: true, Probe: true},
		Upstream: &suppliertest.Upstream{
			Key: func(r *http.Request) string {
				if r.Header.Get("Authorization") != "" || r.URL.Query().Has("key") {
					return "a second key"
				}
				return r.Header.Get("X-Goog-Api-Key")
			},
			Probe: suppliertest.JSON(200, `{"models":[]}`),
		},
		Cases: append([]suppliertest.Case{
			{
				Request: request("text.chat", `{"system":"Be brief.","messages":[{"role":"user","content":"Hi"},
					{"role":"assistant","content":"Yes?"},{"role":"user","content":"Greet me"}]}`,
					`{"max_output_tokens":20,"temperature":1.5,"top_p":0.9,"stop":["."],"seed":7}`),
				Sends: `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Hi"}]},
					{"role":"model","parts":[{"text":"Yes?"}]},{"role":"user","parts":[{"text":"Greet me"}]}],
					"generationConfig":{"maxOutputTokens":20,"temperature":1.5,"topP":0.9,"stopSequences":["."],"seed":7}}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Stream: suppliertest.Events(
					`{"candidates":[{"content":{"parts":[{"text":"Well.","thought":true}]}}],"usageMetadata":{"promptTokenCount":9}}`,
					`{"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}`,
					`{"candidates":[{"content":{"parts":[{"text":"lo."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":5}}`),
				Want: hello(),
			},
			{
				Request: request("text.chat", `{"prompt":"Hi"}`, `{"output_schema":`+suppliertest.AnswerSchema+`}`),
				Sends: `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"responseMimeType":"application/json",
					"responseJsonSchema":` + suppliertest.AnswerOutline + `}}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   hello(),
			},
			{
				Request: request("text.chat", `{"prompt":"Hi"}`, `{"output_schema":{"type":"object"}}`),
				Sends: `{"systemInstruction":{"parts":[{"text":"` + upstream.AskObject + `"}]},"contents":[{"role":"user","parts":[{"text":"Hi"}]}],
					"generationConfig":{"responseMimeType":"application/json"}}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   hello(),
			},
			{
				Request: suppliertest.ChatWith("model-1", "image/png", "audio/mpeg", "application/pdf", "text/markdown"),
				Sends: `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"What is this?"},
					{"inlineData":{"mimeType":"image/png","data":"YWJj"}},{"inlineData":{"mimeType":"audio/mp3","data":"YWJj"}},
					{"inlineData":{"mimeType":"application/pdf","data":"YWJj"}},{"inlineData":{"mimeType":"text/plain","data":"YWJj"}}]}]}`,
				Answer: suppliertest.JSON(200, chatAnswer),
				Want:   hello(),
			},
			{
				Request: request("text.embed", `{"texts":["a","b"]}`, `{"dimensions":2}`),
				Sends: `{"requests":[{"model":"models/model-1","content":{"parts":[{"text":"a"}]},"outputDimensionality":2},
					{"model":"models/model-1","content":{"parts":[{"text":"b"}]},"outputDimensionality":2}]}`,
				Answer: suppliertest.JSON(200, embedAnswer),
				Want: &supplier.Result{
					Embeddings: [][]float32{{0, 0.25}, {0.5, -1}}, Usage: supplier.Usage{InputTokens: 4},
				},
			},
			{
				Name:    "text.embed/query",
				Request: request("text.embed", `{"texts":["a","b"]}`, `{"input_type":"query"}`),
				Sends: `{"requests":[{"model":"models/model-1","content":{"parts":[{"text":"a"}]},"taskType":"RETRIEVAL_QUERY"},
					{"model":"models/model-1","content":{"parts":[{"text":"b"}]},"taskType":"RETRIEVAL_QUERY"}]}`,
				Answer: suppliertest.JSON(200, embedAnswer), Alike: true,
				Want: &supplier.Result{Embeddings: [][]float32{{0, 0.25}, {0.5, -1}}, Usage: supplier.Usage{InputTokens: 4}},
			},
			{
				Name:    "text.embed/prompted",
				Request: withModel("gemini-embedding-2", request("text.embed", `{"texts":["a","b"]}`, `{"input_type":"document"}`)),
				Sends: `{"requests":[{"model":"models/gemini-embedding-2","content":{"parts":[{"text":"title: none | text: a"}]}},
					{"model":"models/gemini-embedding-2","content":{"parts":[{"text":"title: none | text: b"}]}}]}`,
				Answer: suppliertest.JSON(200, embedAnswer), Alike: true,
				Want: &supplier.Result{Embeddings: [][]float32{{0, 0.25}, {0.5, -1}}, Usage: supplier.Usage{InputTokens: 4}},
			},
			{
				Request: request("image.generate", `{"prompt":"A fox"}`, `{"n":1,"format":"png","aspect_ratio":"16:9","seed":3}`),
				Sends: `{"contents":[{"role":"user","parts":[{"text":"A fox"}]}],"generationConfig":{
					"responseModalities":["IMAGE"],"imageConfig":{"aspectRatio":"16:9"},"seed":3}}`,
				Answer: suppliertest.JSON(200, fileAnswer("image/png", fox)),
				Want: &supplier.Result{
					Files: []supplier.File{{ContentType: "image/png", Data: fox, Width: 4, Height: 2}},
					Usage: supplier.Usage{InputTokens: 6, OutputTokens: 1290, Images: 1},
				},
			},
			{
				Request: withMedia(request("image.edit", `{"prompt":"Bluer","images":[{"data":"A"},{"data":"B"}],"authorization":{"person":"none"}}`, `{}`),
					"/images/0", "/images/1"),
				Sends: `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"QQ=="}},
					{"inlineData":{"mimeType":"image/png","data":"Qg=="}},{"text":"Bluer"}]}],
					"generationConfig":{"responseModalities":["IMAGE"]}}`,
				Answer: suppliertest.JSON(200, fileAnswer("image/png", fox)),
				Want: &supplier.Result{
					Files: []supplier.File{{Data: fox}}, Usage: supplier.Usage{InputTokens: 6, OutputTokens: 1290, Images: 1},
				},
			},
			{
				Request: request("audio.speech", `{"text":"Good morning","instructions":"Say with a smile"}`,
					`{"voice":"Puck","format":"wav","speed":1.0}`),
				Sends: `{"contents":[{"role":"user","parts":[{"text":"Say with a smile:\nGood morning"}]}],"generationConfig":{
					"responseModalities":["AUDIO"],"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Puck"}}}}}`,
				Answer: suppliertest.JSON(200, fileAnswer("audio/L16;codec=pcm;rate=8000", []byte(sound))),
				Check: func(t *testing.T, got *supplier.Result) {
					checkSpeech(t, got, 8000, supplier.Usage{InputTokens: 6, OutputTokens: 1290, Milliseconds: 1})
				},
			},
			{
				Request: withMedia(request("video.generate", `{"prompt":"Waves","image":{"data":"A"},"last_image":{"data":"B"},"authorization":{"person":"none"}}`,
					`{"duration_seconds":8,"aspect_ratio":"9:16","resolution":"1080p","audio":true,"seed":3}`), "/image", "/last_image"),
				Sends: `{"instances":[{"prompt":"Waves","image":{"bytesBase64Encoded":"QQ==","mimeType":"image/png"},
					"lastFrame":{"bytesBase64Encoded":"Qg==","mimeType":"image/png"}}],
					"parameters":{"durationSeconds":8,"aspectRatio":"9:16","resolution":"1080p"}}`,
				Answer: veo(),
				Check: func(t *testing.T, got *supplier.Result) {
					if len(got.Files) != 1 || got.Files[0].Open == nil || got.Files[0].Duration != 8 || got.Files[0].URL != "" {
						t.Errorf("files %+v", got.Files)
					}
				},
			},
		}, toolCases()...),
		Faults:   faults(),
		Refusals: refusals(),
	}
}
