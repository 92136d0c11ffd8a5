package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/client"
	"unitask/internal/config"
	"unitask/internal/operator"
	"unitask/internal/secret"
	"unitask/internal/store/boltstore"
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

// suppliersOf is what serve finds with the directory as it is built in.
func suppliersOf(t *testing.T, c config.Config, getenv func(string) string) (supply, error) {
	t.Helper()
	directory, err := catalog.Default()
	if err != nil {
		t.Fatal(err)
	}
	boxes, err := newSandboxes(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return findSuppliers(t.Context(), c, directory, boxes, getenv)
}

func noEnv(string) string { return "" }

// routeNames lists the routes of a mode as "capability supplier/model", those not approved in brackets.
func routeNames(s supply, mode task.Mode) []string {
	names := []string{}
	for _, r := range s.routes {
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

// TestSandboxForTestKeysOnly: every capability of the directory for test keys, nothing for live ones.
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
	if s.anyLive() || len(routeNames(s, task.Live)) != 0 {
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
	for _, r := range s.routes {
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
		{Name: "sandbox", Live: true, About: "for test keys: all 7 capabilities"},
		{Name: "a", Live: true, About: "text.chat"},
		{Name: "b", About: "its key can't be read: environment variable UNITASK_TEST_UNSET is not set"},
	}
	if diff := cmp.Diff(want, s.statuses); diff != "" {
		t.Error(diff)
	}
	if s.prices["text.chat"].Output != 2*task.USD {
		t.Errorf("prices: %+v", s.prices)
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
	s := supply{}
	future := config.Builtin{Title: "Future", Variable: "FUTURE_KEY", Supplier: config.Supplier{Kind: "future"}}
	for _, b := range append(config.Builtins(), future) {
		if b.Variable == "" {
			continue // what answers on this machine isn't the test's to know
		}
		if err := s.addBuiltin(t.Context(), b, env); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"audio.transcribe groq/whisper-large-v3-turbo",
		"image.edit gemini/gemini-2.5-flash-image",
		"image.generate fal/fal-ai/flux-pro/v1.1", "image.generate fal/fal-ai/flux/schnell",
		"image.generate gemini/gemini-2.5-flash-image", "image.generate gemini/gemini-3.1-flash-image",
		"text.chat anthropic/claude-haiku-4-5", "text.chat anthropic/claude-sonnet-5",
		"text.chat gemini/gemini-2.5-flash-lite", "text.chat gemini/gemini-3.1-flash-lite",
		"text.chat groq/llama-3.1-8b-instant", "text.chat groq/llama-3.3-70b-versatile", "text.chat groq/openai/gpt-oss-20b",
		"text.chat replicate/meta/llama-3-8b-instruct",
		"text.embed gemini/gemini-embedding-001", "video.generate gemini/veo-3.1-fast-generate-preview",
		"video.generate gemini/veo-3.1-generate-preview", "video.generate gemini/veo-3.1-lite-generate-preview",
	}
	if diff := cmp.Diff(want, routeNames(s, task.Live)); diff != "" {
		t.Error(diff)
	}
	got := map[string]string{}
	for _, st := range s.statuses {
		got[st.Name] = fmt.Sprint(st.Live, " ", st.About)
	}
	for name, want := range map[string]string{
		"Groq": "true audio.transcribe, text.chat", "OpenAI": "false OPENAI_API_KEY is not set", "OpenRouter": "false has no approved route",
		"Anthropic": "true text.chat", "Gemini": "true image.edit, image.generate, text.chat, text.embed, video.generate",
		"fal": "true image.generate", "Replicate": "true text.chat", "xAI": "false XAI_API_KEY holds nothing but spaces",
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
	local := func() (supply, api.SupplierStatus) {
		t.Helper()
		all := config.Builtins()
		one := all[len(all)-1]
		one.Supplier.BaseURL = server.URL + "/v1"
		var s supply
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
	if s, st := local(); st.Live || !strings.Contains(st.About, "has no model") || s.anyLive() {
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

// TestAdminSocketInDeepFolder: where the path is too long for a socket, the client still finds it,
// and nothing is left behind.
func TestAdminSocketInDeepFolder(t *testing.T) {
	for name, dir := range map[string]string{
		"short": t.TempDir(), "deep": filepath.Join(t.TempDir(), strings.Repeat("very-deep/", 10)),
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second one finds what a crash leaves
			if name == "short" {
				_ = os.WriteFile(filepath.Join(dir, "admin.sock"), nil, 0o600)
			}
			s, err := openAdminSocket(t.Context(), dir)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			path, err := client.AdminSocketPath(dir)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", name, info, err)
			}
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_ = conn.Close()
			if err := s.listener.Close(); err != nil {
				t.Error(err)
			}
			if err := s.remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Dir(path)); name == "deep" && !os.IsNotExist(err) {
				t.Errorf("%s: the folder of the socket is left", name)
			}
		}
	}
}

// TestLocalProfile: the profile follows a server that moves, and leaves one folder for another only
// where nobody answers there any more.
func TestLocalProfile(t *testing.T) {
	t.Setenv("UNITASK_CONFIG_DIR", t.TempDir())
	a, b := t.TempDir(), t.TempDir()
	running, err := openAdminSocket(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	admin := &http.Server{Handler: newFakeAdmin(""), ReadHeaderTimeout: time.Minute}
	go func() { _ = admin.Serve(running.listener) }()
	step := func(base, dir string, want client.Profile) {
		t.Helper()
		if err := saveLocalProfile(t.Context(), base, dir); err != nil {
			t.Fatal(err)
		}
		all, err := client.LoadProfiles(client.ConfigDir())
		if err != nil {
			t.Fatal(err)
		}
		if got := all.Profiles[client.LocalProfile]; got != want {
			t.Errorf("after %s on %s: %+v, want %+v", base, dir, got, want)
		}
	}
	step("http://127.0.0.1:1", a, client.Profile{BaseURL: "http://127.0.0.1:1", DataDir: a})
	step("http://127.0.0.1:2", a, client.Profile{BaseURL: "http://127.0.0.1:2", DataDir: a})
	step("http://127.0.0.1:3", b, client.Profile{BaseURL: "http://127.0.0.1:3", DataDir: b})
	step("http://127.0.0.1:4", a, client.Profile{BaseURL: "http://127.0.0.1:3", DataDir: b})
	if err := admin.Close(); err != nil {
		t.Fatal(err)
	}
	step("http://127.0.0.1:4", a, client.Profile{BaseURL: "http://127.0.0.1:4", DataDir: a})
	save := func(p client.Profile) client.Profile {
		t.Helper()
		if err := client.SaveProfile(client.ConfigDir(), client.LocalProfile, p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	key, err := secret.ParseRef("keyring:local")
	if err != nil {
		t.Fatal(err)
	}
	save(client.Profile{BaseURL: "http://127.0.0.1:4", DataDir: a, Key: key})
	loggedIn := client.Profile{BaseURL: "http://127.0.0.1:5", DataDir: a, Key: key}
	step("http://127.0.0.1:5", a, loggedIn)
	step("http://127.0.0.1:6", b, loggedIn)
	save(client.Profile{BaseURL: "http://127.0.0.1:5", DataDir: a, Sealed: true})
	step("http://127.0.0.1:6", a, client.Profile{BaseURL: "http://127.0.0.1:6", DataDir: a, Sealed: true})
	step("http://127.0.0.1:7", b, client.Profile{BaseURL: "http://127.0.0.1:6", DataDir: a, Sealed: true})
	own := save(client.Profile{BaseURL: "https://ai.example.org"})
	step("http://127.0.0.1:5", a, own)
}

func TestBusyPort(t *testing.T) {
	ln, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	_, err = listen(context.Background(), "--listen", ln.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "is in use") || !strings.Contains(hintOf("unitask serve", err), "--listen 127.0.0.1:") {
		t.Errorf("%v, hint %q", err, hintOf("unitask serve", err))
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "example.org:1": false, "x": false,
	} {
		if got := loopback(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	for address, want := range map[string]string{"127.0.0.1:8420": "127.0.0.1:8421", "[::1]:65535": "[::1]:0", ":80": ":81"} {
		if got := nextPort(address); got != want {
			t.Errorf("after %s comes %s, want %s", address, got, want)
		}
	}
}

// TestUnboundedLimits: a 0 in the settings lifts the limit, and never becomes the gateway's default.
func TestUnboundedLimits(t *testing.T) {
	c := loadConfig(t, "limits: {body: 0, inline_media: 0, artifact: 0, json_depth: 0, workers: 0}\n")
	got, err := json.Marshal(gatewayLimits(c.Limits))
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{`"JSONDepth":2147483647`, `"InlineMedia":9223372036854775807`, `"ArtifactBytes":9223372036854775807`, `"Workers":2147483647`} {
		if !strings.Contains(string(got), member) {
			t.Errorf("no %s in %s", member, got)
		}
	}
}

// TestOperatorLink: whoever runs the server gets in as its operator, on a new store and later on.
func TestOperatorLink(t *testing.T) {
	db, _, err := openData(t.TempDir(), boltstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	op := &operator.Operator{Store: db, Prefix: "svc", Now: time.Now, Server: api.Info{BaseURL: "http://127.0.0.1:8420"}}
	for range 2 {
		link, err := operatorLink(t.Context(), op)
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(link.URL, "#")
		_, who, err := op.SignIn(t.Context(), token)
		if err != nil || who.Session.Role != "operator" || who.Session.Member == "" || who.Account.Name != firstAccount {
			t.Errorf("%+v %v", who, err)
		}
	}
}
