package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/test/harness"
)

// steps is what a library of OpenAI's heard.
type steps struct {
	Greeting, Streamed, Finish string
	Tool, Arguments, Town      string
	Object                     string // JSON
	Dimensions                 int
	Image, Edited              string // the letters of their format
	Spoken, Transcript         string
	Tasks                      []string
}

// take has a library of OpenAI's take the steps of test/openaigo against an address.
type take func(h *host, base string, args ...string) steps

// libraries are OpenAI's own. One that isn't here skips the test that asks for it.
var libraries = map[string]func(t *testing.T) take{
	"npm": func(*testing.T) take {
		return func(h *host, base string, args ...string) (heard steps) {
			h.openAI(&heard, base, "openai_steps.mjs", args...)
			return heard
		}
	},
	"go": func(t *testing.T) take {
		if os.Getenv("CI") != "true" && os.Getenv("UNITASK_OPENAI_GO") == "" {
			t.Skip("OpenAI's library for Go takes a minute to build: make openai-go runs this part")
		}
		program, err := builtForGo()
		if err != nil {
			t.Fatal(err)
		}
		return func(h *host, base string, args ...string) (heard steps) {
			h.foreign(&heard, need(h.T, "env"), append([]string{"OPENAI_BASE_URL=" + base, "OPENAI_API_KEY=" + h.key, program}, args...)...)
			return heard
		}
	},
}

// builtForGo builds test/openaigo once, beside the binary.
var builtForGo = sync.OnceValues(func() (program string, err error) {
	program = filepath.Join(filepath.Dir(harness.Binary()), "openaigo")
	build := exec.CommandContext(context.Background(), "go", "build", "-C", filepath.Join("..", "openaigo"), "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

// aimockBehind is a configuration whose capabilities an aimock at an address serves.
func aimockBehind(base string) string {
	return `suppliers:
  - {name: foreign, kind: openai, base_url: "` + base + `/v1", api_key: env:UPSTREAM_KEY, options: {features: tools json_schema json_object}}
routes:
  text.chat:
    - {supplier: foreign, model: gpt-5-nano, price: {unit: mtok, input: "0.05", output: "0.40"}}
  text.embed:
    - {supplier: foreign, model: text-embedding-3-small, price: {unit: mtok, input: "0.02", output: "0"}}
  image.generate:
    - {supplier: foreign, model: gpt-image-2, price: {unit: mtok, input: "5", output: "30"}}
  image.edit:
    - {supplier: foreign, model: gpt-image-2, price: {unit: mtok, input: "8", output: "30"}}
  audio.speech:
    - {supplier: foreign, model: gpt-4o-mini-tts, price: {unit: second, output: "0.00025"}}
  audio.transcribe:
    - {supplier: foreign, model: whisper-1, price: {unit: second, input: "0.0001"}}
`
}

// TestOpenAILibraries has OpenAI's own libraries chat, stream, call tools, get JSON, embed, make and edit images, speak
// and write down: against the sandbox, and against a server that others wrote behind the door.
func TestOpenAILibraries(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Abs("../../internal/supplier/openai/testdata/aimock.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range libraries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			library := of(t)
			base := service(t, "listening on ", npmTool(t, "llmock"), "--port", "0", "--fixtures", fixtures, "--validate-on-load", "--strict")
			h := newHost(t)
			h.Env = []string{"UPSTREAM_KEY=upstream-key"}
			h.Config = doorModels + aimockBehind(base)
			h.start()
			sandboxed(t, library(h, h.Base+"/openai/v1"))
			h.useLiveKey()
			forwarded(t, library(h, h.Base+"/openai/v1"))
			if n := journal(t, base); n != 10 {
				t.Errorf("the other server counted %d calls, want 10", n)
			}
		})
	}
}

// sandboxed holds what a library heard of the sandbox.
func sandboxed(t *testing.T, got steps) {
	t.Helper()
	if got.Greeting == "" || got.Streamed != got.Greeting || got.Finish != "stop" || got.Tool != "get_weather" || !json.Valid([]byte(got.Arguments)) ||
		got.Town == "" || !strings.HasPrefix(got.Object, `{"answer":"`) || got.Dimensions < 8 || got.Image != "PNG" || got.Edited != "PNG" ||
		got.Spoken != "audio/wav" || got.Transcript != "Mind the gap" {
		t.Errorf("of the sandbox: %+v", got)
	}
}

// forwarded holds what a library heard of the other server.
func forwarded(t *testing.T, got steps) {
	t.Helper()
	const greeting = "Hello from a server that nobody here wrote."
	want := steps{
		Greeting: greeting, Streamed: greeting, Finish: "stop", Tool: "get_weather", Arguments: `{"place":"Lund"}`, Town: "Lund",
		Object: `{"river":"Lee"}`, Dimensions: 3, Image: "PNG", Edited: "PNG", Spoken: "audio/wav", Transcript: "Mind the gap.",
	}
	got.Tasks = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of another server (-want +got):\n%s", diff)
	}
}

// held is a server of OpenAI's format that counts what it is sent, and answers once the call's first answer was cut off.
type held struct {
	arrived chan struct{}
	cut     chan struct{}

	mu   sync.Mutex
	sent map[string]int
}

func (s *held) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	s.sent[r.URL.Path]++
	s.mu.Unlock()
	s.arrived <- struct{}{}
	<-s.cut
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/audio/transcriptions") {
		_, _ = io.WriteString(w, `{"text":"Silence.","duration":0.1}`)
		return
	}
	_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Once."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`)
}

// cutting is a proxy that cuts each path's first call off once the work has arrived at the supplier.
func (s *held) cutting(t *testing.T, base string) string {
	t.Helper()
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	p := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		again := seen[r.URL.Path]
		seen[r.URL.Path] = true
		mu.Unlock()
		if again {
			s.cut <- struct{}{} // now the supplier may answer
			p.ServeHTTP(w, r)
			return
		}
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		go func() {
			<-s.arrived
			stop()
		}()
		p.ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestOpenAILibraryIsCutOff cuts the answer to a chat and to a form off after the work reached the supplier. The library
// retries by itself, without an Idempotency-Key: it has the answer, of one task, of one submission.
func TestOpenAILibraryIsCutOff(t *testing.T) {
	for name, of := range libraries {
		t.Run(name, func(t *testing.T) {
			library := of(t)
			s := &held{arrived: make(chan struct{}, 8), cut: make(chan struct{}, 8), sent: map[string]int{}}
			upstream := httptest.NewServer(s)
			t.Cleanup(upstream.Close)
			h := newHost(t)
			h.Config = doorModels + heldBehind(upstream.URL)
			h.start()
			h.useLiveKey()
			got := library(h, s.cutting(t, h.Base)+"/openai/v1", "cut")
			if got.Greeting != "Once." || got.Transcript != "Silence." || len(got.Tasks) != 2 {
				t.Errorf("heard %+v", got)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if diff := cmp.Diff(map[string]int{"/v1/chat/completions": 1, "/v1/audio/transcriptions": 1}, s.sent); diff != "" {
				t.Errorf("submissions (-want +got):\n%s", diff)
			}
			var listed struct{ Data []struct{ ID string } }
			if h.call(http.MethodGet, "/api/ai/v1/tasks", "", nil, &listed); len(listed.Data) != 2 {
				t.Errorf("there are %d tasks", len(listed.Data))
			}
		})
	}
}
