package node

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/task"
)

func loadConfig(t *testing.T, text string) config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "unitask.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Load(config.Sources{File: file, Kinds: kindNames()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// suppliersOf returns the suppliers that serve finds with the built-in directory.
func suppliersOf(t *testing.T, c config.Config, getenv func(string) string) (Suppliers, error) {
	t.Helper()
	boxes, err := NewSandboxes(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return FindSuppliers(t.Context(), c, builtIn(t), boxes, getenv)
}

func builtIn(t *testing.T) *catalog.Catalog {
	t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

func noEnv(string) string { return "" }

// routeNames lists the routes of a mode as "capability supplier/model", those not approved in brackets.
func routeNames(s Suppliers, mode task.Mode) []string {
	names := []string{}
	for _, r := range s.Routes {
		name := string(r.Capability) + " " + r.ID()
		if !r.Approved {
			name = "(" + name + ")"
		}
		if r.Mode == mode {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestSandboxForTestKeysOnly: every capability of the directory for test keys, no route for live ones.
func TestSandboxForTestKeysOnly(t *testing.T) {
	c := loadConfig(t, "suppliers: [{name: a, kind: openai, base_url: http://127.0.0.1:1/v1}]\n")
	s, err := suppliersOf(t, c, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(routeNames(s, task.Test)), 4*len(directory.All()); got != want {
		t.Errorf("%d sandbox routes, want %d", got, want)
	}
	if s.AnyLive() || len(routeNames(s, task.Live)) != 0 {
		t.Errorf("live routes out of nothing: %v", routeNames(s, task.Live))
	}
}

func TestConfiguredSuppliers(t *testing.T) {
	c := loadConfig(t, `
suppliers:
  - {name: a, kind: openai, base_url: "http://127.0.0.1:1/v1", max_concurrent: 3}
  - {name: b, kind: openai, base_url: "http://127.0.0.1:2/v1", api_key: env:UNITASK_TEST_UNSET, result_hosts: [files.example]}
routes:
  text.chat:
    - {supplier: a, model: m, price: {unit: mtok, input: "0.05"}, max_concurrent: 2}
    - {supplier: b, model: m, price: {unit: mtok}, approved: false}
prices: {text.chat: {unit: mtok, input: "1", output: "2"}}
`)
	s, err := suppliersOf(t, c, func(string) string { return "a key of an unconfigured supplier" })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"(text.chat b/m)", "text.chat a/m"}, routeNames(s, task.Live)); diff != "" {
		t.Error(diff)
	}
	for _, r := range s.Routes {
		switch r.Supplier {
		case "a":
			if r.Cap != 2 || r.SupplierCap != 3 || r.Price.Input != task.USD/20 || !slices.Equal(r.ResultHosts, []string{"127.0.0.1:1"}) {
				t.Errorf("%+v", r)
			}
		case "b":
			if !slices.Equal(r.ResultHosts, []string{"files.example"}) {
				t.Errorf("%+v", r)
			}
		}
	}
	want := []api.SupplierStatus{
		{Name: "sandbox", Live: true, About: fmt.Sprintf("for test keys: all %d capabilities", len(builtIn(t).All()))},
		{Name: "a", Live: true, About: "text.chat"},
		{Name: "b", About: "its key can't be read: environment variable UNITASK_TEST_UNSET is not set"},
	}
	if diff := cmp.Diff(want, s.Statuses); diff != "" {
		t.Error(diff)
	}
	if s.Prices["text.chat"].Output != 2*task.USD {
		t.Errorf("prices: %+v", s.Prices)
	}
}

// TestFoundSuppliers: without a configuration a supplier is live when its variable is set and this
// version speaks its format.
func TestFoundSuppliers(t *testing.T) {
	env := func(name string) string {
		return map[string]string{
			"GROQ_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k", "OPENROUTER_API_KEY": "k",
			"FAL_KEY": "k", "REPLICATE_API_TOKEN": "k", "FUTURE_KEY": "k", "XAI_API_KEY": " \n",
		}[name]
	}
	s := Suppliers{directory: builtIn(t)}
	future := config.Builtin{Title: "Future", Variable: "FUTURE_KEY", Supplier: config.Supplier{Kind: "future"}}
	for _, b := range append(config.Builtins(), future) {
		if b.Variable == "" {
			continue // the suppliers on this machine are unknown to the test
		}
		if err := s.addBuiltin(t.Context(), b, env); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"audio.transcribe groq/whisper-large-v3-turbo",
		"image.background_remove fal/fal-ai/bria/background/remove", "image.edit gemini/gemini-2.5-flash-image",
		"image.generate fal/fal-ai/flux-pro/v1.1", "image.generate fal/fal-ai/flux/schnell",
		"image.generate gemini/gemini-2.5-flash-image", "image.generate gemini/gemini-3.1-flash-image",
		"image.upscale fal/fal-ai/topaz/upscale/image",
		"text.chat anthropic/claude-haiku-4-5", "text.chat anthropic/claude-sonnet-5",
		"text.chat gemini/gemini-2.5-flash-lite", "text.chat gemini/gemini-3.1-flash-lite",
		"text.chat groq/llama-3.1-8b-instant", "text.chat groq/llama-3.3-70b-versatile", "text.chat groq/openai/gpt-oss-20b",
		"text.chat replicate/meta/llama-3-8b-instruct",
		"text.embed gemini/gemini-embedding-001", "video.extend fal/fal-ai/veo3.1/fast/extend-video",
		"video.generate gemini/veo-3.1-fast-generate-preview",
		"video.generate gemini/veo-3.1-generate-preview", "video.generate gemini/veo-3.1-lite-generate-preview",
	}
	if diff := cmp.Diff(want, routeNames(s, task.Live)); diff != "" {
		t.Error(diff)
	}
	got := map[string]string{}
	for _, st := range s.Statuses {
		got[st.Name] = fmt.Sprint(st.Live, " ", st.About)
	}
	for name, want := range map[string]string{
		"Groq": "true audio.transcribe, text.chat", "OpenAI": "false OPENAI_API_KEY is not set", "OpenRouter": "false has no approved route",
		"Anthropic": "true text.chat", "Gemini": "true image.edit, image.generate, text.chat, text.embed, video.generate",
		"fal": "true image.background_remove, image.generate, image.upscale, video.extend", "Replicate": "true text.chat", "xAI": "false XAI_API_KEY holds nothing but spaces",
		"Future": "false not supported in this version, although FUTURE_KEY is set",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}

func TestLocalSupplier(t *testing.T) {
	models := `{"data":[{"id":"nomic-embed-text"},{"id":"tiny:latest"}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprint(w, models)
	}))
	defer server.Close()
	local := func() (Suppliers, api.SupplierStatus) {
		t.Helper()
		all := config.Builtins()
		one := all[len(all)-1]
		one.Supplier.BaseURL = server.URL + "/v1"
		s := Suppliers{directory: builtIn(t)}
		st, err := s.addLocal(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		return s, st
	}
	if s, st := local(); !st.Live || !slices.Equal(routeNames(s, task.Live), []string{"text.chat ollama/tiny:latest"}) {
		t.Errorf("with a model: %+v %v", st, routeNames(s, task.Live))
	}
	models = `{"data":[]}`
	if s, st := local(); st.Live || !strings.Contains(st.About, "has no model") || s.AnyLive() {
		t.Errorf("without a model: %+v", st)
	}
	models = "<html>"
	if _, st := local(); st.Live || !strings.Contains(st.About, "no list of models") {
		t.Errorf("something else: %+v", st)
	}
	server.Close()
	if _, st := local(); st.Live || !strings.Contains(st.About, "nothing answers") {
		t.Errorf("gone: %+v", st)
	}
}
