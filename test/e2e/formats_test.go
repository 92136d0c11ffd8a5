package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"unitask/internal/api"
	"unitask/internal/supplier/sandbox/media"
)

// TestOtherFormats has a prompt answered, a text embedded, one spoken and a video made by suppliers of two other
// formats: a foreign server, and Veo as its author describes it.
func TestOtherFormats(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Abs("../../internal/supplier/gemini/testdata/aimock.json")
	if err != nil {
		t.Fatal(err)
	}
	base := service(t, "listening on ", npmTool(t, "llmock"), "--port", "0", "--fixtures", fixtures, "--validate-on-load", "--strict")
	film := media.Video(media.VideoSpec{Prompt: "Waves", Width: 320, Height: 180, Seconds: 1})
	studio := newVeoServer(t, film)
	h := newHost(t)
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.Config = `suppliers:
  - {name: words, kind: anthropic, base_url: "` + base + `", api_key: env:UPSTREAM_KEY}
  - {name: sounds, kind: gemini, base_url: "` + base + `", api_key: env:UPSTREAM_KEY}
  - {name: films, kind: gemini, base_url: "` + studio.URL + `", api_key: env:UPSTREAM_KEY}
routes:
  text.chat:
    - {supplier: words, model: claude-haiku-4-5, price: {unit: mtok, input: "1.00", output: "5.00"}}
  text.embed:
    - {supplier: sounds, model: gemini-embedding-001, price: {unit: mtok, input: "0.15"}}
  audio.speech:
    - {supplier: sounds, model: gemini-2.5-flash-preview-tts, price: {unit: second, output: "0.001"}}
  video.generate:
    - {supplier: films, model: veo-3.1-lite-generate-preview, price: {unit: second, output: "0.05"}}
`
	h.start()
	h.useLiveKey()
	if got := strings.TrimSpace(h.must("run", "text.chat", "Greet me")); got != "Hello from a server that nobody here wrote." {
		t.Errorf("text.chat: %q", got)
	}
	var embedded api.Task
	if err := json.Unmarshal([]byte(h.must("run", "text.embed", "a red fox", "--json")), &embedded); err != nil {
		t.Fatal(err)
	}
	if embedded.Output == nil || len(embedded.Output.Embeddings) != 1 || len(embedded.Output.Embeddings[0]) != 3 {
		t.Errorf("text.embed: %+v", embedded.Output)
	}
	h.must("run", "audio.speech", "Good morning", "-o", "morning.wav")
	if got, err := os.ReadFile(filepath.Join(h.Dir, "morning.wav")); err != nil || !bytes.HasPrefix(got, []byte("RIFF")) || len(got) != 60 {
		t.Errorf("audio.speech: %q, %v", got, err)
	}
	shown := h.must("run", "video.generate", "Waves", "duration_seconds=4", "-o", "waves.mp4", "--json")
	if got, err := os.ReadFile(filepath.Join(h.Dir, "waves.mp4")); err != nil || !bytes.Equal(got, film) {
		t.Errorf("video.generate: %d bytes, want %d, %v", len(got), len(film), err)
	}
	for _, word := range []string{"veo", "films", "operations", studio.Listener.Addr().String()} {
		if strings.Contains(shown, word) {
			t.Errorf("the task names %q: %s", word, shown)
		}
	}
	if n := studio.started.Load(); n != 1 {
		t.Errorf("%d videos were started, want 1", n)
	}
}

// veoServer is a server of Veo's format with one film. The file moves once, and all of it takes the key.
type veoServer struct {
	*httptest.Server
	started atomic.Int64
}

func newVeoServer(t *testing.T, film []byte) *veoServer {
	s := &veoServer{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1beta/models/veo-3.1-lite-generate-preview:predictLongRunning", func(w http.ResponseWriter, _ *http.Request) {
		s.started.Add(1)
		_, _ = w.Write([]byte(`{"name":"models/veo-3.1-lite-generate-preview/operations/o1"}`))
	})
	mux.HandleFunc("GET /v1beta/models/veo-3.1-lite-generate-preview/operations/o1", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"name":"models/veo-3.1-lite-generate-preview/operations/o1","done":true,"response":{"generateVideoResponse":{
			"generatedSamples":[{"video":{"uri":"` + s.URL + `/v1beta/files/f1:download?alt=media"}}]}}}`))
	})
	mux.HandleFunc("GET /v1beta/files/f1:download", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/download"+r.URL.RequestURI(), http.StatusFound)
	})
	mux.HandleFunc("GET /download/v1beta/files/f1:download", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(film) })
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Goog-Api-Key") != "upstream-key" {
			t.Errorf("%s %s without the key", r.Method, r.URL)
		}
		mux.ServeHTTP(w, r)
	}))
	s.Start() // once its handlers can read its address
	t.Cleanup(s.Close)
	return s
}
