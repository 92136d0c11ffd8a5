package gemini_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/suppliertest"
)

// TestTolerated holds the forms in which texts may come.
func TestTolerated(t *testing.T) {
	text := func(s, reason string, in, out, reasoning int64) *supplier.Result {
		return &supplier.Result{Text: &s, FinishReason: reason, Usage: supplier.Usage{InputTokens: in, OutputTokens: out, ReasoningTokens: reasoning}}
	}
	mused := func(r *supplier.Result, thoughts string) *supplier.Result { r.Reasoning = thoughts; return r }
	kept := func(r *supplier.Result, state string) *supplier.Result { r.State = json.RawMessage(state); return r }
	const signed = `{"candidates":[{"content":{"parts":[{"text":"Hello","thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}`
	thought := `{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}]},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":2,"thoughtsTokenCount":20}}`
	suppliertest.RunTolerated(t, gemini.Kind(), request("text.chat", `{"prompt":"Prompt"}`, `{}`), []suppliertest.Tolerated{
		{Name: "no usage", Answer: suppliertest.JSON(200, finished("Hello", "STOP")), Want: text("Hello", "stop", 2, 2, 0)},
		{Name: "cut", Answer: suppliertest.JSON(200, finished("Hello", "MAX_TOKENS")), Want: text("Hello", "length", 2, 2, 0)},
		{Name: "no finish reason", Answer: suppliertest.JSON(200, finished("Hello", "")), Want: text("Hello", "stop", 2, 2, 0)},
		{Name: "all thought", Answer: suppliertest.JSON(200, thought), Want: mused(text("", "length", 2, 20, 20), "Hm")},
		{Name: "usage of a wrong type", Answer: suppliertest.JSON(200, strings.Replace(chatAnswer, `"usageMetadata":{`, `"usageMetadata":7,"x":{`, 1)), Want: mused(text("Hello.", "stop", 2, 3, 0), "Well.")},
		{Name: "nonsense usage", Answer: suppliertest.JSON(200, strings.Replace(chatAnswer, `:9,`, `:-9,`, 1)), Want: mused(text("Hello.", "stop", 2, 7, 5), "Well.")},
		{Name: "an empty reason for a block", Answer: suppliertest.JSON(200, strings.Replace(chatAnswer, `{`, `{"promptFeedback":{"blockReason":"BLOCK_REASON_UNSPECIFIED"},`, 1)), Want: hello()},
		{Name: "a whole answer to a stream", Answer: suppliertest.JSON(200, chatAnswer), Stream: true, Want: hello()},
		{Name: "no reason by name", Answer: suppliertest.Events(finished("Hel", "FINISH_REASON_UNSPECIFIED"), finished("lo", "MAX_TOKENS")), Stream: true, Want: text("Hello", "length", 2, 2, 0)},
		{Name: "noise after the finish", Answer: suppliertest.Events(finished("Hello", "STOP"), `{`, finished("x", "SAFETY")), Stream: true, Want: text("Hello", "stop", 2, 2, 0)},
		{Name: "a signature", Answer: suppliertest.JSON(200, signed), Want: kept(text("Hello", "stop", 2, 2, 0), `{"text":"c2ln"}`)},
		{Name: "a signature in a stream", Answer: suppliertest.Events(finished("Hello", ""), strings.Replace(signed, "Hello", "", 1)), Stream: true, Want: kept(text("Hello", "stop", 2, 2, 0), `{"text":"c2ln"}`)},
		{Name: "a call after the finish", Answer: suppliertest.Events(finished("Hello", "STOP"), `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"},"thoughtSignature":"c2ln"}]}}]}`), Stream: true, Want: text("Hello", "stop", 2, 2, 0)},
		{Name: "usage after the finish", Answer: suppliertest.Events(finished("Hello", "STOP"), `{"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":6}}`), Stream: true, Want: text("Hello", "stop", 5, 6, 0)},
	})
}

// TestOneVector: a single text takes the method for one, whose answer is of another form.
func TestOneVector(t *testing.T) {
	a := suppliertest.Answered(t, gemini.Kind(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1beta/models/model-1:embedContent" {
			t.Errorf("path %s", r.URL.Path)
		}
		suppliertest.JSON(200, `{"embedding":{"values":[1,2]}}`).ServeHTTP(w, r)
	}))
	got, err := suppliertest.Send(t, a, request("text.embed", `{"texts":["hello"]}`, `{}`), false)
	if err != nil {
		t.Fatal(err)
	}
	want := &supplier.Result{Embeddings: [][]float32{{1, 2}}, Usage: supplier.Usage{InputTokens: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestImageFormat shows that an image comes in the format that was asked for, whatever the model made.
func TestImageFormat(t *testing.T) {
	for _, made := range []string{"png", "jpeg"} {
		for _, asked := range []string{"png", "jpeg"} {
			data := picture(t, made)
			a := suppliertest.Answered(t, gemini.Kind(), suppliertest.JSON(200, fileAnswer("image/"+made, data)))
			got, err := suppliertest.Send(t, a, request("image.generate", `{"prompt":"A fox"}`, `{"format":"`+asked+`"}`), false)
			if err != nil {
				t.Fatal(err)
			}
			f := got.Files[0]
			m, format, err := image.Decode(bytes.NewReader(f.Data))
			if err != nil || format != asked || f.ContentType != "image/"+asked || f.Width != 4 || f.Height != 2 {
				t.Errorf("%s for %s: a %s, %v, %+v", made, asked, format, err, f)
			}
			if made == asked && !bytes.Equal(f.Data, data) {
				t.Errorf("%s for %s: encoded anew", made, asked)
			}
			if r, _, _, _ := m.At(0, 0).RGBA(); made == "png" && asked == "jpeg" && r>>8 != 255 {
				t.Errorf("what is transparent became %d of 255, want white", r>>8)
			}
		}
	}
}

// TestImageSize shows how a size in pixels is asked for.
func TestImageSize(t *testing.T) {
	for _, tt := range []struct{ model, size, want string }{
		{"gemini-2.5-flash-image", "1344x768", `"imageConfig":{"aspectRatio":"16:9"}`},
		{"gemini-3.1-flash-image", "1376x768", `"imageConfig":{"aspectRatio":"16:9","imageSize":"1K"}`},
		{"gemini-3.1-flash-image", "2048x2048", `"imageConfig":{"aspectRatio":"1:1","imageSize":"2K"}`},
		{"gemini-3.1-flash-image", "3584x4800", `"imageConfig":{"aspectRatio":"3:4","imageSize":"4K"}`},
	} {
		a := suppliertest.Answered(t, gemini.Kind(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if b, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(b), tt.want) {
				t.Errorf("%s: sent %s, %v", tt.size, b, err)
			}
			suppliertest.JSON(200, fileAnswer("image/png", picture(t, "png"))).ServeHTTP(w, r)
		}))
		r := request("image.generate", `{"prompt":"A fox"}`, `{"size":"`+tt.size+`"}`)
		r.Model = tt.model
		if _, err := suppliertest.Send(t, a, r, false); err != nil {
			t.Error(err)
		}
	}
}

// checkSpeech checks that the one file is a WAV with the samples of sound.
func checkSpeech(t *testing.T, got *supplier.Result, rate uint32, usage supplier.Usage) {
	t.Helper()
	if len(got.Files) != 1 || got.Files[0].ContentType != "audio/wav" || got.Usage != usage {
		t.Fatalf("result %+v", got)
	}
	type header struct {
		RIFF          [4]byte
		Size          uint32
		WAVE, Fmt     [4]byte
		FmtSize       uint32
		PCM, Channels uint16
		Rate, Bytes   uint32
		Block, Bits   uint16
		Data          [4]byte
		DataSize      uint32
	}
	want := header{
		RIFF: [4]byte([]byte("RIFF")), Size: 36 + uint32(len(sound)), WAVE: [4]byte([]byte("WAVE")), Fmt: [4]byte([]byte("fmt ")),
		FmtSize: 16, PCM: 1, Channels: 1, Rate: rate, Bytes: 2 * rate, Block: 2, Bits: 16,
		Data: [4]byte([]byte("data")), DataSize: uint32(len(sound)),
	}
	var h header
	n, err := binary.Decode(got.Files[0].Data, binary.LittleEndian, &h)
	if err != nil || string(got.Files[0].Data[n:]) != sound {
		t.Errorf("samples %q, %v", got.Files[0].Data[n:], err)
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

// TestSpeechForms holds the forms in which sound may come.
func TestSpeechForms(t *testing.T) {
	r := request("audio.speech", `{"text":"Hi"}`, `{}`)
	send := func(body string) *supplier.Result {
		t.Helper()
		got, err := suppliertest.Send(t, suppliertest.Answered(t, gemini.Kind(), suppliertest.JSON(200, body)), r, false)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	half := base64Of([]byte(sound[:8]))
	rest := base64Of([]byte(sound[8:] + "?")) // half a sample is left out
	pieces := `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/pcm","data":"` + half + `"}},
		{"inlineData":{"mimeType":"audio/pcm","data":"` + rest + `"}}]}}]}`
	checkSpeech(t, send(pieces), 24_000, supplier.Usage{InputTokens: 1})
	whole := send(fileAnswer("audio/x-wav", []byte("RIFF")))
	want := []supplier.File{{ContentType: "audio/wav", Data: []byte("RIFF")}}
	if diff := cmp.Diff(want, whole.Files); diff != "" {
		t.Errorf("a whole WAV (-want +got):\n%s", diff)
	}
}

// archive is a server of files, and of an operation that ended with the file at the address.
type archive struct {
	*httptest.Server
	address string
	files   http.Handler
}

func newArchive(t *testing.T, address string, files http.HandlerFunc) *archive {
	t.Helper()
	a := &archive{address: address, files: files}
	a.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Goog-Api-Key") != "k" {
			t.Errorf("%s %s without the key", r.Method, r.URL)
		}
		if strings.Contains(r.URL.Path, "/operations/") {
			uri := strings.Replace(a.address, "{base}", a.URL, 1)
			suppliertest.JSON(200, `{"name":"operations/1","done":true,"response":{"generateVideoResponse":{"generatedSamples":[
				{"video":{"uri":"`+uri+`"}},{"video":{}}]}}}`).ServeHTTP(w, r)
			return
		}
		a.files.ServeHTTP(w, r)
	}))
	a.Start() // once its handlers can read its address
	t.Cleanup(a.Close)
	return a
}

// video polls for the one file.
func (a *archive) video(t *testing.T) supplier.File {
	t.Helper()
	adapter, err := gemini.New(supplier.Config{BaseURL: a.URL, APIKey: func() (string, error) { return "k", nil }})
	if err != nil {
		t.Fatal(err)
	}
	job := supplier.Job{ID: "operations/1", State: []byte(`{"seconds":6}`)}
	out, err := adapter.(supplier.Poller).Poll(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Result.Files) != 1 || out.Result.Files[0].Duration != 6 {
		t.Fatalf("files %+v", out.Result.Files)
	}
	return out.Result.Files[0]
}

// TestVideoFile shows which hosts a file's address may name, and which get the key.
func TestVideoFile(t *testing.T) {
	const path = "/v1beta/files/f:download?alt=media"
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a stranger got %s", r.URL) }))
	defer stranger.Close()
	moved := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/download/") {
				_, _ = io.WriteString(w, "film")
				return
			}
			http.Redirect(w, r, to, http.StatusFound)
		}
	}
	plain := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != path {
			t.Errorf("asked for %s", r.URL)
		}
		_, _ = io.WriteString(w, "film")
	}
	for name, tt := range map[string]struct {
		address string
		files   http.HandlerFunc
		want    suppliertest.Verdict
	}{
		"its own":               {"{base}" + path, plain, suppliertest.Verdict{}},
		"the author's":          {"https://generativelanguage.example" + path, plain, suppliertest.Verdict{}},
		"moved":                 {"{base}" + path, moved("/download" + path), suppliertest.Verdict{}},
		"moved to a stranger":   {"{base}" + path, moved(stranger.URL + path), refused(fault.ProviderUnavailable)},
		"moved again and again": {"{base}" + path, moved(path), refused(fault.ProviderUnavailable)},
		"full":                  {"{base}" + path, suppliertest.JSON(503, ``).ServeHTTP, refused(fault.CapacityExhausted)},
		"gone": {
			"{base}" + path, suppliertest.JSON(404, ``).ServeHTTP,
			suppliertest.Verdict{Code: fault.ProviderUnavailable, Sent: supplier.Refused},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newArchive(t, tt.address, tt.files).video(t)
			body, err := f.Open(t.Context())
			if diff := cmp.Diff(tt.want, suppliertest.VerdictOf(err)); diff != "" {
				t.Fatalf("verdict (-want +got):\n%s", diff)
			}
			if err != nil {
				return
			}
			got, err := io.ReadAll(body)
			if err = errors.Join(err, body.Close()); err != nil || string(got) != "film" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	t.Run("elsewhere", func(t *testing.T) {
		f := newArchive(t, "https://storage.example/signed", plain).video(t)
		if f.URL != "https://storage.example/signed" || f.Open != nil {
			t.Errorf("file %+v", f)
		}
	})
}

// TestForeignJob shows that a job's name that isn't one is no path.
func TestForeignJob(t *testing.T) {
	a := suppliertest.Answered(t, gemini.Kind(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) }))
	_, err := a.(supplier.Poller).Poll(t.Context(), supplier.Job{ID: "../files/x"})
	want := suppliertest.Verdict{Code: fault.Internal, Sent: supplier.NotSent}
	if diff := cmp.Diff(want, suppliertest.VerdictOf(err)); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}

// TestTemplate holds that what stands before the texts to some models is counted for a whole batch.
func TestTemplate(t *testing.T) {
	kind := gemini.Kind()
	a, err := kind.New(supplier.Config{BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		capability catalog.Name
		model      string
		want       int
	}{
		{catalog.TextEmbed, "gemini-embedding-2-preview", 100 * len("task: search result | query: ")},
		{catalog.TextEmbed, "gemini-embedding-001", 0},
		{catalog.TextChat, "gemini-embedding-2", 0},
	} {
		if got := a.(supplier.Templater).Template(tt.capability, tt.model); got != tt.want {
			t.Errorf("%s by %s: got %d, want %d", tt.capability, tt.model, got, tt.want)
		}
	}
}
