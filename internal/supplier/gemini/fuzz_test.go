package gemini_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"strings"
	"testing"

	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/suppliertest"
)

func FuzzChatAnswer(f *testing.F) {
	suppliertest.FuzzText(f, gemini.Kind(), request("text.chat", `{"prompt":"Hi"}`, `{}`),
		chatAnswer, ``, `null`, `[]`, `<html>`, `{"candidates":[]}`, `{"error":"x"}`, `{"error":{"code":429,"details":[{"@type":"google.rpc.RetryInfo","retryDelay":"1s"}]}}`,
		finished("a", "SAFETY"), finished("a", "MAX_TOKENS"), finished("a", "?"), `{"promptFeedback":{"blockReason":"OTHER"}}`,
		`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":10,"thoughtsTokenCount":3,`+
			`"promptTokensDetails":[{"modality":"IMAGE","tokenCount":4},{"modality":"AUDIO","tokenCount":-1}],"cacheTokensDetails":[{"modality":"IMAGE","tokenCount":8}],`+
			`"candidatesTokensDetails":{"modality":"AUDIO"}}}`,
		`{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"text":"b","thoughtSignature":"YQ=="},`+
			`{"functionCall":{"id":"i","name":"f","args":{"a":[1]}},"thoughtSignature":"Yg=="},{"functionCall":{"name":"g"}},{"functionCall":7}]}}]}`,
		searched[0], searched[1],
		`{"candidates":[{"content":{"parts":[{"inlineData":{"data":"?"}}]}}]}`, `[{"error":{"code":400,"status":"INVALID_ARGUMENT"}}]`,
	)
}

func FuzzStream(f *testing.F) {
	data := func(s string) string { return "data: " + s + "\n\n" }
	suppliertest.FuzzTextStream(f, gemini.Kind(), request("text.chat", `{"prompt":"Hi"}`, `{}`),
		data(finished("a", ""))+data(finished("b", "STOP")), ": ping\n\n", data(`{"error":{"code":503}}`), data(finished("a", ""))+data(`{"error":{"code":503}}`),
		data(searched[0])+data(searched[1]),
		data(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]}}]}`)+
			data(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"g"},"thoughtSignature":"YQ=="},{"functionCall":{}}]},"finishReason":"STOP"}]}`),
		data(finished("a", ""))+data(finished("", "SAFETY")), data(finished("a", "STOP"))+data(`{`), "\ufeffdata: {}\r\r",
	)
}

func FuzzEmbedAnswer(f *testing.F) {
	for _, s := range []string{
		embedAnswer, ``, `{"embedding":{"values":[1]}}`, `{"embeddings":[{"values":[1]},{"values":[1e39]}]}`, `{"embeddings":[{},{}]}`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, gemini.Kind(), "application/json")
	r := request("text.embed", `{"texts":["a","b"]}`, `{}`)
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		got, err := suppliertest.Send(t, a, r, false)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		if v := got.Embeddings; len(v) != 2 || len(v[0]) == 0 || len(v[0]) != len(v[1]) || got.Usage.InputTokens < 1 {
			t.Errorf("vectors %v, usage %+v", v, got.Usage)
		}
		suppliertest.CheckUsage(t, got.Usage)
	})
}

// fuzzFile gives any file of any type in answer to r, and checks the one file that comes of it.
func fuzzFile(f *testing.F, r supplier.Request, check func(t *testing.T, got *supplier.Result)) {
	a, answer := suppliertest.Answering(f, gemini.Kind(), "application/json")
	f.Fuzz(func(t *testing.T, mimeType string, data []byte) {
		kind, err := json.Marshal(mimeType)
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":%s,"data":%q}}]}}]}`, kind, base64Of(data))
		answer(body)
		got, err := suppliertest.Send(t, a, r, false)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		if u := got.Usage; len(got.Files) != 1 || u.InputTokens < 1 || u.Milliseconds < 0 {
			t.Fatalf("result %+v", got)
		}
		check(t, got)
	})
}

func FuzzImage(f *testing.F) {
	for _, format := range []string{"png", "jpeg"} {
		f.Add("image/"+format, picture(f, format))
		f.Add("image/png", picture(f, format)[:40])
	}
	fuzzFile(f, request("image.generate", `{"prompt":"A fox"}`, `{"format":"png"}`), func(t *testing.T, got *supplier.Result) {
		file := got.Files[0]
		shape, format, err := image.DecodeConfig(bytes.NewReader(file.Data))
		if err != nil || format != "png" || shape.Width != file.Width || shape.Height != file.Height || got.Usage.Images != 1 {
			t.Errorf("a %s of %+v, %v, as %d×%d", format, shape, err, file.Width, file.Height)
		}
	})
}

func FuzzSpeech(f *testing.F) {
	for _, kind := range []string{"audio/L16;codec=pcm;rate=24000", "audio/L16;rate=-1", "audio/pcm", "audio/wav", "", "audio/mpeg"} {
		f.Add(kind, []byte(sound))
		f.Add(kind, []byte("R"))
	}
	fuzzFile(f, request("audio.speech", `{"text":"Hi"}`, `{}`), func(t *testing.T, got *supplier.Result) {
		file := got.Files[0]
		if file.ContentType != "audio/wav" || file.Duration > 0 && (!bytes.HasPrefix(file.Data, []byte("RIFF")) || len(file.Data)%2 != 0) {
			t.Errorf("%d bytes of %s, %v s", len(file.Data), file.ContentType, file.Duration)
		}
	})
}

// FuzzOperation gives any bytes in answer to a poll.
func FuzzOperation(f *testing.F) {
	for _, s := range []string{
		`{"name":"operations/1"}`, `{"name":"operations/1","done":true,"error":{"code":8}}`, `{"name":"operations/1","done":true,"response":{}}`, ``, `null`,
		`{"done":true,"response":{"generateVideoResponse":{"generatedSamples":[{"video":{"uri":"https://a.example/v1beta/files/f:download?alt=media"}},{"video":{"uri":"http://b.example/x"}}]}}}`,
		`{"done":true,"response":{"generateVideoResponse":{"raiMediaFilteredCount":1}}}`, `{"error":{"code":429}}`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, gemini.Kind(), "application/json")
	job := supplier.Job{ID: "operations/1", State: []byte(`{"seconds":4}`)}
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.(supplier.Poller).Poll(t.Context(), job)
		switch {
		case err != nil:
			e := supplier.AsError(err)
			if !e.Fault.Code.Valid() || e.Fault.Code == fault.Internal || len(body) > 40 && strings.Contains(err.Error(), body) {
				t.Errorf("error %v", err)
			}
			if e.Sent == supplier.Failed && !json.Valid([]byte(body)) {
				t.Error("a job failed for certain by what is no JSON")
			}
		case out.Job != nil:
			if out.Result != nil || out.Job.ID != job.ID {
				t.Errorf("outcome %+v", out)
			}
		default:
			checkVideos(t, out.Result.Files)
		}
	})
}

func checkVideos(t *testing.T, files []supplier.File) {
	t.Helper()
	if len(files) == 0 {
		t.Error("a result without a video")
	}
	for _, file := range files {
		ways := 0
		for _, given := range []bool{file.Open != nil, file.URL != "", len(file.Data) > 0} {
			if given {
				ways++
			}
		}
		if ways != 1 || file.URL != "" && !strings.HasPrefix(strings.ToLower(file.URL), "http") {
			t.Errorf("file %+v", file)
		}
	}
}
