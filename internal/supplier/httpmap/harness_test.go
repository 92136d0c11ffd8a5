package httpmap_test

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/httpmap"
	"unitask/internal/supplier/suppliertest"
)

const talked = `{"choices":[{"text":"Hello."}],"usage":{"asked":9,"kept":10,"looked":3},"error":null}`

func request(capability, model, input, parameters string) supplier.Request {
	return supplier.Request{
		Capability: capability, Model: model,
		Input: json.RawMessage(input), Parameters: json.RawMessage(parameters), SubmitKey: "task_0/1",
	}
}

func withMedia(r supplier.Request, contentType string, pointers ...string) supplier.Request {
	r.Media = map[string]supplier.Media{}
	for _, p := range pointers {
		r.Media[p] = supplier.Media{ContentType: contentType, Bytes: 3, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("one")), nil
		}}
	}
	return r
}

// films is an upstream whose every job has this state when it is asked after, and this result.
func films(state string, result http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			suppliertest.JSON(202, `{"film":"film-1","status":"queued"}`).ServeHTTP(w, r)
		case r.URL.Path == "/v1/films/film-1":
			suppliertest.JSON(200, state, "Retry-After", "3").ServeHTTP(w, r)
		case r.URL.Path == "/v1/films/film-1/result":
			result.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// heard checks the form that a recording is sent in.
func heard(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil {
			t.Error(err)
		}
		var got []string
		for parts := multipart.NewReader(r.Body, params["boundary"]); ; {
			part, err := parts.NextPart()
			if err != nil {
				break
			}
			text, _ := io.ReadAll(part)
			got = append(got, part.FormName()+part.FileName()+part.Header.Get("Content-Type")+"="+string(text))
		}
		if want := "beams=5 filemedia.wavaudio/wav=one language=de model=listener tags=a tags=b"; strings.Join(got, " ") != want {
			t.Errorf("form: got %v, want %s", got, want)
		}
		next.ServeHTTP(w, r)
	})
}

func harness(t *testing.T) suppliertest.Harness {
	t.Helper()
	chat := request("text.chat", "talker", `{"prompt":"Greet me","system":"Be brief."}`, `{"max_output_tokens":20,"seed":7}`)
	film := request("video.generate", "director", `{"prompt":"Waves"}`, `{"duration_seconds":4}`)
	return suppliertest.Harness{
		Toolless:  true,
		Kind:      httpmap.Kind(),
		Config:    supplier.Config{Models: []string{"testdata/models.yaml"}, Options: map[string]string{"probe": "/health"}},
		Abilities: suppliertest.Abilities{Poll: true, Cancel: true, Probe: true},
		Upstream:  &suppliertest.Upstream{Probe: suppliertest.Respond(200, "text/plain", "ok")},
		Cases: []suppliertest.Case{
			{
				Request: chat,
				Sends: `{"model":"owner/talker-v2","limit":20,
					"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Greet me"}]}`,
				Answer: suppliertest.JSON(200, talked, "X-Told", "2"),
				Want: &supplier.Result{
					Data: json.RawMessage(`{"finish_reason":"stop","text":"Hello."}`), Usage: supplier.Usage{InputTokens: 9, CachedInputTokens: 9, OutputTokens: 2, Searches: 3},
				},
			},
			{
				Request: request("text.embed", "embedder", `{"texts":["a","b"]}`, `{"input_type":"query"}`),
				Sends:   `{"inputs":["a","b"],"prompt_name":"query"}`,
				Alike:   true,
				Answer:  suppliertest.JSON(200, `[[0.5,1],[0.25,-1e-7]]`, "X-Compute-Tokens", "4"),
				Want: &supplier.Result{
					Data: json.RawMessage(`{"embeddings":[[0.5,1],[0.25,-1e-7]]}`), Usage: supplier.Usage{InputTokens: 4},
				},
			},
			{
				Request: request("text.moderate", "judge", `{"texts":["a"]}`, `{}`),
				Sends:   `{"texts":["a"]}`,
				Alike:   true,
				Answer:  suppliertest.JSON(200, `[0.75]`),
				Want:    &supplier.Result{Data: json.RawMessage(`{"results":[{"categories":["hate"],"flagged":true,"scores":{"hate":0.75}}]}`)},
			},
			{
				Request: request("text.rerank", "ranker", `{"query":"a","documents":["b","c"]}`, `{}`),
				Sends:   `{"q":"a","texts":["b","c"],"most":2}`,
				Alike:   true,
				Answer:  suppliertest.JSON(200, `[[1,0.5],[0,-2]]`),
				Want: &supplier.Result{
					Data: json.RawMessage(`{"results":[{"index":1,"score":0.5},{"index":0,"score":-2}]}`), Usage: supplier.Usage{Searches: 1},
				},
			},
			{
				Request: request("image.generate", "painter", `{"prompt":"A fox"}`, `{"n":2,"seed":7}`),
				Sends:   `{"prompt":"A fox","count":2,"seed":7,"safe":true}`,
				Alike:   true,
				Answer:  suppliertest.JSON(200, `{"pictures":["b25l","dHdv"]}`),
				Want: &supplier.Result{
					Files: []supplier.File{{ContentType: "image/png", Data: []byte("one")}, {ContentType: "image/png", Data: []byte("two")}},
					Data:  json.RawMessage(`{"images":[{"artifact":0},{"artifact":1}]}`),
				},
			},
			{
				Request: withMedia(request("image.edit", "editor", `{"prompt":"Blue","images":[{"data":"b25l","content_type":"image/png"},{"url":"https://a.example"}],
					"authorization":{"person":"none"}}`, `{}`), "image/png", "/images/0", "/images/1"),
				Sends:  `{"prompt":"Blue","images":["data:image/png;base64,b25l","data:image/png;base64,b25l"],"kinds":["image/png","image/png"]}`,
				Alike:  true,
				Answer: suppliertest.JSON(200, `{"image":{"url":"https://files.example/1","type":"image/webp","w":8,"h":-4}}`),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1", ContentType: "image/webp", Width: 8}},
					Data:  json.RawMessage(`{"images":[{"artifact":0}]}`),
				},
			},
			{
				Request: withMedia(request("image.upscale", "lens", `{"image":{"url":"https://a.example"}}`, `{"factor":2}`), "image/png", "/image"),
				Sends:   `{"image":"data:image/png;base64,b25l","by":"double"}`,
				Alike:   true,
				Answer:  suppliertest.JSON(200, `{"url":"https://files.example/1"}`),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1"}}, Data: json.RawMessage(`{"images":[{"artifact":0}]}`),
				},
			},
			{
				Request: withMedia(request("image.background_remove", "scissors", `{"image":{"url":"https://a.example"}}`, `{}`), "image/png", "/image"),
				Opaque:  true,
				Alike:   true,
				Answer:  suppliertest.Respond(200, "image/png", "PNG"),
				Want: &supplier.Result{
					Files: []supplier.File{{ContentType: "image/png", Data: []byte("PNG")}}, Data: json.RawMessage(`{"images":[{"artifact":0}]}`),
				},
			},
			{
				Request: request("audio.speech", "speaker", `{"text":"Hi"}`, `{"format":"wav"}`),
				Sends:   `{"text":"Hi","format":"wav"}`,
				Opaque:  true,
				Answer:  suppliertest.Respond(200, "audio/wav", "RIFF", "X-Seconds", "1.5"),
				Want: &supplier.Result{
					Files: []supplier.File{{ContentType: "audio/wav", Data: []byte("RIFF")}},
					Data:  json.RawMessage(`{"audio":{"artifact":0}}`), Usage: supplier.Usage{Milliseconds: 1500},
				},
			},
			{
				Request: withMedia(request("audio.transcribe", "listener", `{"audio":{}}`, `{"language":"de"}`), "audio/wav", "/audio"),
				Alike:   true,
				Answer:  heard(t, suppliertest.JSON(200, `{"text":"Hi"}`)),
				Want:    &supplier.Result{Data: json.RawMessage(`{"text":"Hi"}`)},
			},
			{
				Request: withMedia(request("video.extend", "producer", `{"prompt":"On","video":{"url":"https://a.example"}}`, `{"duration_seconds":3}`), "video/mp4", "/video"),
				Sends:   `{"film":"data:video/mp4;base64,b25l","prompt":"On","seconds":3}`,
				Alike:   true,
				Answer:  suppliertest.JSON(200, `{"url":"https://files.example/1"}`),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1"}}, Data: json.RawMessage(`{"videos":[{"artifact":0}]}`),
					Usage: supplier.Usage{Milliseconds: 3000},
				},
			},
			{
				Request: film,
				Sends:   `{"prompt":"Waves","seconds":4}`,
				Answer:  films(`{"status":"complete"}`, suppliertest.JSON(200, `{"url":"https://files.example/1.mp4"}`)),
				Want: &supplier.Result{
					Files: []supplier.File{{URL: "https://files.example/1.mp4", Duration: 4}}, Data: json.RawMessage(`{"videos":[{"artifact":0}]}`),
				},
			},
		},
		Faults:   faults(film),
		Refusals: refusals(),
	}
}

func faults(film supplier.Request) []suppliertest.Fault {
	verdict := func(code fault.Code, sent supplier.Sent) suppliertest.Verdict {
		return suppliertest.Verdict{Code: code, Sent: sent}
	}
	const (
		policy = fault.ContentPolicyViolation
		down   = fault.ProviderUnavailable
	)
	answer := func(name string, status int, body string, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: name, Answer: suppliertest.JSON(status, body), Want: want}
	}
	job := func(name, state string, result http.Handler, want suppliertest.Verdict) suppliertest.Fault {
		return suppliertest.Fault{Name: "job/" + name, Request: &film, Answer: films(state, result), Want: want}
	}
	ready := suppliertest.JSON(200, `{"url":"https://files.example/1.mp4"}`)
	const complete = `{"status":"complete"}`
	return []suppliertest.Fault{
		answer("a rule by status and words", 422, `{"detail":"Safety first"}`, verdict(policy, supplier.Refused)),
		answer("other words of that status", 422, `{"detail":"bad"}`, verdict(fault.InvalidRequest, supplier.Refused)),
		answer("a rule by words", 400, `no balance`, suppliertest.Verdict{Code: down, Sent: supplier.Refused, Operator: true}),
		answer("a rule by status", 418, ``, verdict(fault.CapacityExhausted, supplier.Refused)),
		answer("an error inside, by a rule", 200, `{"error":"no balance"}`, suppliertest.Verdict{Code: down, Sent: supplier.Refused, Operator: true}),
		answer("an error inside", 200, `{"error":{"code":"rate","status":429}}`, verdict(fault.CapacityExhausted, supplier.Refused)),
		answer("the map's own verdict", 200, `{"blocked":true}`, verdict(policy, supplier.Refused)),
		answer("another form", 200, `{"choices":"none"}`, verdict(down, supplier.Unknown)),
		answer("a deep answer", 200, strings.Repeat(`{"a":`, 200)+`1`+strings.Repeat(`}`, 200), verdict(down, supplier.Unknown)),
		answer("a list", 200, `[]`, verdict(down, supplier.Unknown)),

		job("failed", `{"status":"broken"}`, ready, verdict(down, supplier.Failed)),
		job("failed, by a rule", `{"status":"broken","error":{"message":"nudity"}}`, ready, verdict(policy, supplier.Failed)),
		job("the map's own verdict", `{"status":"moderated"}`, ready, verdict(policy, supplier.Failed)),
		job("another state", `{"status":"sleeping"}`, ready, verdict(down, supplier.Unknown)),
		job("no state", `<html>`, ready, verdict(down, supplier.Unknown)),
		job("a result of another form", complete, suppliertest.JSON(200, `{"link":1}`), verdict(down, supplier.Failed)),
		job("a result elsewhere", complete, suppliertest.JSON(200, `{"url":"file:///etc/passwd"}`), verdict(down, supplier.Failed)),
		job("an error for a result", complete, suppliertest.JSON(200, `{"error":"nudity"}`), verdict(policy, supplier.Failed)),
		job("a page for a result", complete, suppliertest.Respond(200, "text/html", `<html>`), verdict(down, supplier.Unknown)),
		job("a result that is gone", complete, suppliertest.JSON(404, `{}`), verdict(down, supplier.Refused)),
		job("a result behind a limit", complete, suppliertest.JSON(429, `{}`, "Retry-After", "3"),
			suppliertest.Verdict{Code: fault.CapacityExhausted, Sent: supplier.Refused, RetryAfter: 3 * time.Second}),
		{
			Name: "job/of an odd name", Request: &film, Answer: suppliertest.JSON(202, `{"film":"../../account"}`),
			Want: verdict(down, supplier.Unknown),
		},
		{
			Name: "job/of no name", Request: &film, Answer: suppliertest.JSON(202, `{"film":7}`),
			Want: verdict(down, supplier.Unknown),
		},
	}
}

func refusals() []suppliertest.Refusal {
	row := func(name, capability, model, input, parameters string, refused bool) suppliertest.Refusal {
		return suppliertest.Refusal{Name: name, Request: request(capability, model, input, parameters), Refused: refused}
	}
	return []suppliertest.Refusal{
		row("a model without a map", "text.chat", "editor", `{"prompt":"Hi"}`, `{}`, true),
		row("a member that isn't honoured", "text.chat", "talker", `{"prompt":"Hi","messages":[]}`, `{}`, true),
		row("a parameter that isn't honoured", "text.chat", "talker", `{"prompt":"Hi"}`, `{"top_p":1}`, true),
		row("both", "text.chat", "talker", `{"messages":[],"prompt":"Hi"}`, `{"stop":["a"],"top_p":1}`, true),
		row("a seed", "text.chat", "talker", `{"prompt":"Hi"}`, `{"seed":1}`, false),
		row("the program's own refusal", "text.chat", "talker", `{"prompt":"`+strings.Repeat("a", 101)+`"}`, `{}`, true),
		row("three images", "image.edit", "editor", `{"images":[{},{},{}],"prompt":"Blue"}`, `{}`, true),
		row("two images", "image.edit", "editor", `{"images":[{"data":"b25l","content_type":"image/png"},{"url":"https://a.example"}],"prompt":"Blue"}`, `{}`, false),
		row("a rule's range", "image.generate", "painter", `{"prompt":"A fox"}`, `{"n":3}`, true),
		row("a member without a rule", "image.generate", "painter", `{"negative_prompt":"rain","prompt":"A fox"}`, `{}`, true),
	}
}

func TestConformance(t *testing.T) { suppliertest.Run(t, harness(t)) }
