package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
)

// exchange is one request of a recipe in docs/recipes, as far as it shows from outside the service.
type exchange struct {
	Name    string          `json:"name"`
	Request json.RawMessage `json:"request"`
	Sends   *struct {
		Path string `json:"path"`
		JSON any    `json:"json"`
	} `json:"sends"`
	Answer struct {
		Headers map[string]string `json:"headers"`
		JSON    json.RawMessage   `json:"json"`
	} `json:"answer"`
	Output any `json:"output"`
	Files  []struct {
		Data []byte `json:"data"`
	} `json:"files"`
}

// TestRecipes checks each recipe's configuration with the real binary, and runs its exchanges through the service. The
// suppliers are one server here, which answers the exchange's own path; to the paths of others it says that it is full, so
// that the work comes to the one that answers.
func TestRecipes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/recipes/*/exchanges.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("recipes: %v, %v", files, err)
	}
	for _, file := range files {
		folder := filepath.Dir(file)
		name := filepath.Base(folder)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Exchanges []exchange `json:"exchanges"`
		}
		if err := json.Unmarshal(plain, &doc); err != nil {
			t.Fatal(err)
		}
		ran := 0
		for _, e := range doc.Exchanges {
			if e.Sends == nil || e.Output == nil {
				continue
			}
			ran++
			t.Run(name+"/"+e.Name, func(t *testing.T) { e.run(t, folder, name) })
		}
		if ran == 0 {
			t.Errorf("%s: no exchange was run", name)
		}
	}
}

func (e exchange) run(t *testing.T, folder, capability string) {
	upstream := httptest.NewServer(e.upstream(t))
	t.Cleanup(upstream.Close)
	h := newHost(t)
	if err := os.CopyFS(h.Dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "unitask.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`env:([A-Z_]+)`).FindAllSubmatch(text, -1) {
		h.Env = append(h.Env, string(m[1])+"=the-key")
	}
	h.must("config", "check", filepath.Join(h.Dir, "unitask.yaml"))
	h.Config = string(regexp.MustCompile(`base_url: [^,}]+`).ReplaceAll(text, []byte("base_url: '"+upstream.URL+"'")))
	if err := os.Remove(filepath.Join(h.Dir, "unitask.yaml")); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.useLiveKey()
	var body map[string]any
	if err := json.Unmarshal(e.Request, &body); err != nil {
		t.Fatal(err)
	}
	body["capability"] = capability
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		State  task.State `json:"state"`
		Output any        `json:"output"`
	}
	h.call(http.MethodPost, api.PathTasks, string(raw), map[string]string{api.HeaderIdempotencyKey: "recipe-0001"}, &got)
	if got.State != task.Succeeded {
		t.Fatalf("task %+v\n%s", got, h.Output())
	}
	var artifacts []string
	output := replaced(got.Output, &artifacts)
	if diff := cmp.Diff(e.Output, output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	var files [][]byte
	for _, address := range artifacts {
		files = append(files, fetched(t, address))
	}
	for i, want := range e.Files {
		if i >= len(files) || !bytes.Equal(want.Data, files[i]) {
			t.Errorf("file %d: got %q, want %q", i, files, want.Data)
		}
	}
}

func (e exchange) upstream(t *testing.T) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != e.Sends.Path {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		var body any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(e.Sends.JSON, body); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		for name, v := range e.Answer.Headers {
			w.Header().Set(name, v)
		}
		_, _ = w.Write(e.Answer.JSON)
	})
}

// replaced returns an output with its artifacts as an exchange has them: numbered in order. It gathers their addresses.
func replaced(v any, artifacts *[]string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = replaced(v[i], artifacts)
		}
	case map[string]any:
		if address, is := v["url"].(string); is && v["sha256"] != nil {
			*artifacts = append(*artifacts, address)
			return map[string]any{"artifact": float64(len(*artifacts) - 1)}
		}
		for name := range v {
			v[name] = replaced(v[name], artifacts)
		}
	}
	return v
}

func fetched(t *testing.T, address string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", address, resp.StatusCode, err)
	}
	return body
}
