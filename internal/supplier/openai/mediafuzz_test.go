package openai_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

func FuzzImageAnswer(f *testing.F) {
	for _, s := range []string{
		imageAnswer, ``, `null`, `{"data":[{}]}`, `{"data":[{"url":"https://a.example/1"}],"usage":{"input_tokens":-1}}`,
		`{"data":[{"url":"https://a.example/1"}],"usage":{"input_tokens":3,"output_tokens":4,"input_tokens_details":{"image_tokens":9},"output_tokens_details":{"image_tokens":5,"text_tokens":1}}}`,
		`{"data":[{"b64_json":"data:image/png;base64,AA=="},{"b64_json":"="}]}`, `{"error":{"code":"moderation_blocked"}}`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, openai.Kind(), "application/json")
	r := request("image.generate", `{"prompt":"A fox"}`, `{"n":2}`)
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		files := out.Result.Files
		if len(files) < 1 || len(files) > 2 || out.Result.Usage.Images != int64(len(files)) || out.Result.Usage.InputTokens < 1 {
			t.Errorf("%d files, usage %+v", len(files), out.Result.Usage)
		}
		suppliertest.CheckUsage(t, out.Result.Usage)
		for _, file := range files {
			if (len(file.Data) == 0) == (file.URL == "") {
				t.Errorf("file %+v has neither bytes nor an address, or both", file)
			}
			if file.URL != "" && !strings.HasPrefix(strings.ToLower(file.URL), "http") {
				t.Errorf("address %q", file.URL)
			}
		}
	})
}

func FuzzSpeechAnswer(f *testing.F) {
	for _, s := range []string{"audio/wav", "application/json", "text/html", "audio/", "application/octet-stream; x=", ""} {
		f.Add(s, `RIFF`)
		f.Add(s, ``)
		f.Add(s, `{"error":{"code":429}}`)
	}
	var kind, answer atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind.Load().(string))
		_, _ = w.Write([]byte(answer.Load().(string)))
	}))
	f.Cleanup(srv.Close)
	a, err := openai.New(supplier.Config{BaseURL: srv.URL})
	if err != nil {
		f.Fatal(err)
	}
	r := request("audio.speech", `{"text":"Hi"}`, `{}`)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		kind.Store(contentType)
		answer.Store(body)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		if len(out.Result.Files) != 1 || string(out.Result.Files[0].Data) != body || body == "" {
			t.Errorf("files %+v of %d bytes", out.Result.Files, len(body))
		}
		if k := out.Result.Files[0].ContentType; !strings.HasPrefix(k, "audio/") && k != "application/octet-stream" {
			t.Errorf("sound of type %q", k)
		}
	})
}

func FuzzTranscript(f *testing.F) {
	for _, s := range []string{
		verboseAnswer, ``, `{"text":null}`, `{"text":"a","segments":[{"start":1,"end":0}]}`, `{"text":" ","duration":"1e9"}`,
		`{"text":"a","segments":[{"start":0,"end":1,"text":"a --> b\n\nc"}],"usage":{"seconds":1e300}}`,
		`{"text":"a","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":0,"audio_tokens":15},"output_tokens":3}}`,
	} {
		f.Add(s)
	}
	a, answer := suppliertest.Answering(f, openai.Kind(), "application/json")
	r := transcribeRequest(`{"format":"vtt","timestamps":"segment"}`)
	f.Fuzz(func(t *testing.T, body string) {
		answer(body)
		out, err := a.Submit(t.Context(), r)
		if err != nil {
			suppliertest.CheckFailure(t, err, body)
			return
		}
		res := out.Result
		if cues := strings.Count(*res.Text, "-->"); cues != len(res.Segments) || strings.Count(*res.Text, "\n\n") != cues+1 {
			t.Errorf("%d cues of %d segments in %q", cues, len(res.Segments), *res.Text)
		}
		for _, s := range res.Segments {
			if s.Start < 0 || s.End < s.Start {
				t.Errorf("segment %+v", s)
			}
		}
		if res.Usage.Milliseconds < 0 || res.Usage.InputTokens < 0 || res.Usage.OutputTokens < 0 {
			t.Errorf("usage %+v", res.Usage)
		}
		suppliertest.CheckUsage(t, res.Usage)
	})
}
