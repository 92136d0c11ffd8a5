package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/secret"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var kinds = map[string][]string{"openai": {"text.chat", "text.embed"}}

// example is the configuration of the design's page, with sizes and durations beside.
const example = `
listen: 127.0.0.1:8420
base_url: http://127.0.0.1:8420
data_dir: ./data
store: bolt                       # or postgres://…
artifacts: file                   # or s3://bucket/prefix?region=…&endpoint=…
limits: {body: 1MiB, queue: 0, retention: 7d}
deadlines: {text.chat: 90s}
suppliers:
  - {name: groq, kind: openai, base_url: https://api.groq.com/openai/v1, api_key: env:GROQ_API_KEY, max_concurrent: 32,
     timeout: 60s, max_tokens_field: max_tokens}
  - {name: local, kind: openai, base_url: http://127.0.0.1:11434/v1}
routes:
  text.chat:
    - {supplier: groq, model: llama-3.1-8b-instant, price: {unit: mtok, input: "0.05", output: 0.08}, approved: true}
    - {supplier: local, model: llama3.2, price: {unit: mtok, input: "0", output: "0"}}
    - supplier: local
      model: other
      price: {unit: mtok}
      approved: false
`

// defaults is the configuration of no configuration.
func defaults() config.Config {
	return config.Config{
		Listen: "127.0.0.1:8420", BaseURL: "http://127.0.0.1:8420", DataDir: "./data", Store: "bolt", Artifacts: "file",
		KeyPrefix: account.DefaultKeyPrefix, Webhooks: true,
		Policy: config.Policy{Moderation: config.Moderation{Model: "omni-moderation-latest", OnFailure: config.RefuseFailed}},
		Limits: config.Limits{
			Body: 16 << 20, BodyMemory: 16 << 20, BodyDisk: 256 << 20, WorkMemory: 256 << 20, InlineMedia: 10 << 20, Artifact: 2 << 30, UploadQuota: 2 << 30, JSONDepth: 64, CreatesPerMinute: 600,
			ReadsPerMinute: 2400, OpenTasks: 64, Queue: 100_000, Workers: 512, Takeovers: 5, Connections: 4096, PerAddress: 1024, RefusedKeys: 30, Lease: config.Duration(30 * time.Second),
			SyncWait: seconds(30), PlaceWait: seconds(2), ShutdownGrace: seconds(20),
			Retention: days(30), Usage: days(400), RequestLog: 1 << 30, RequestLogAge: days(30), ArtifactTTL: days(7), URLTTL: seconds(3600),
		},
	}
}

func seconds(n int) config.Duration { return config.Duration(time.Duration(n) * time.Second) }
func days(n int) config.Duration    { return seconds(n * 24 * 3600) }

func load(t *testing.T, s config.Sources, text string) (config.Config, error) {
	t.Helper()
	if text != "" {
		s.File = filepath.Join(t.TempDir(), "unitask.yaml")
		if err := os.WriteFile(s.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Kinds, s.Moderators = kinds, []string{"openai"}
	c, _, err := config.Load(s)
	return c, err
}

var sameRef = cmp.Comparer(func(a, b secret.Ref) bool { return a == b })

func TestDefaults(t *testing.T) {
	got, err := load(t, config.Sources{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(defaults(), got, sameRef); diff != "" {
		t.Error(diff)
	}
	if got.HasRoutes() {
		t.Error("no configuration has routes")
	}
}

func TestExample(t *testing.T) {
	got, err := load(t, config.Sources{}, example)
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	want.Limits.Body, want.Limits.Queue, want.Limits.Retention = 1<<20, 0, days(7)
	want.Deadlines = map[catalog.Name]config.Duration{"text.chat": seconds(90)}
	want.Suppliers = []config.Supplier{
		{
			Name: "groq", Kind: "openai", BaseURL: "https://api.groq.com/openai/v1", APIKey: secret.Env("GROQ_API_KEY"),
			MaxConcurrent: 32, Timeout: seconds(60), MaxTokensField: "max_tokens", Transport: config.DirectTransport,
		},
		{Name: "local", Kind: "openai", BaseURL: "http://127.0.0.1:11434/v1", Transport: config.DirectTransport},
	}
	want.Routes = map[catalog.Name][]config.Route{"text.chat": {
		{
			Supplier: "groq", Model: "llama-3.1-8b-instant", Approved: true,
			Price: config.Price{Unit: "mtok", Input: 50_000_000, Output: 80_000_000},
		},
		{Supplier: "local", Model: "llama3.2", Price: config.Price{Unit: "mtok"}, Approved: true},
		{Supplier: "local", Model: "other", Price: config.Price{Unit: "mtok"}},
	}}
	if diff := cmp.Diff(want, got, sameRef); diff != "" {
		t.Error(diff)
	}
}

// TestPrecedence: flag over environment over file over default.
func TestPrecedence(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"UNITASK_LISTEN": "127.0.0.1:2", "UNITASK_DATA_DIR": "/env", "UNITASK_KEY_PREFIX": "env", "UNITASK_DOORS": "openai, openai"}[name]
	}
	got, err := load(t, config.Sources{Getenv: env, Flags: map[string]string{"listen": "127.0.0.1:3"}},
		"listen: 127.0.0.1:1\ndata_dir: /file\nstore: bolt\nkey_prefix: file\ndoors: [openai]\n")
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	want.Listen, want.BaseURL, want.DataDir, want.KeyPrefix = "127.0.0.1:3", "http://127.0.0.1:3", "/env", "env"
	want.Doors = []string{config.DoorOpenAI, config.DoorOpenAI} // a list in a variable
	if diff := cmp.Diff(want, got, sameRef); diff != "" {
		t.Error(diff)
	}
}

func TestBaseURLOfListen(t *testing.T) {
	for listen, want := range map[string]string{
		":8420": "http://127.0.0.1:8420", "0.0.0.0:1": "http://127.0.0.1:1", "[::]:1": "http://127.0.0.1:1",
		"[::1]:1": "http://[::1]:1", "example.org:80": "http://example.org:80",
	} {
		got, err := load(t, config.Sources{Flags: map[string]string{"listen": listen}}, "")
		if err != nil || got.BaseURL != want {
			t.Errorf("listen %s: base URL %q, %v, want %q", listen, got.BaseURL, err, want)
		}
	}
}

func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "unitask.yaml")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("more.yaml", `capabilities:
  - name: text.rewrite
    title: Rewrite
    description: Rewrites a text.
    modality: text
    mode: sync
    deadline: 5m
    input: {type: object, additionalProperties: false, required: [text], properties: {text: {type: string}}}
    parameters: {type: object, additionalProperties: false}
    output: {type: object, required: [text], properties: {text: {type: string}}}
    example: {capability: text.rewrite, input: {text: hello}}
`)
	write("unitask.yaml", "catalog: [more.yaml]\ndeadlines: {text.rewrite: 1m}\n")
	_, directory, err := config.Load(config.Sources{File: file, Kinds: kinds})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := directory.Get("text.rewrite"); !ok || c.Deadline != time.Minute {
		t.Errorf("the added capability isn't in the directory, or with another deadline: %v", c.Deadline)
	}
	write("unitask.yaml", "catalog: [gone.yaml]\n")
	_, _, err = config.Load(config.Sources{File: file, Kinds: kinds})
	if err == nil || !strings.Contains(err.Error(), "unitask.yaml:1:11: catalog[0] can't be read") {
		t.Errorf("a missing overlay: %v", err)
	}
	write("unitask.yaml", "suppliers: [{name: a, kind: openai, base_url: http://x, models: [more.yaml]}]\n")
	c, _, err := config.Load(config.Sources{File: file, Kinds: kinds})
	if err != nil || !slices.Equal(c.Suppliers[0].Models, []string{filepath.Join(filepath.Dir(file), "more.yaml")}) {
		t.Errorf("models beside the file: %+v, %v", c.Suppliers, err)
	}
	write("unitask.yaml", "suppliers: [{name: a, kind: openai, base_url: http://x, models: [gone.yaml]}]\n")
	_, _, err = config.Load(config.Sources{File: file, Kinds: kinds})
	if err == nil || !strings.Contains(err.Error(), "suppliers[0].models[0] can't be read") {
		t.Errorf("missing maps: %v", err)
	}
}

// TestUnfillableOutput has routes of capabilities whose output their suppliers can't make, which the check names.
func TestUnfillableOutput(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "unitask.yaml")
	capability := func(name, output string) string {
		return `
  - name: ` + name + `
    title: A
    description: B.
    modality: text
    mode: sync
    deadline: 5m
    input: {type: object, properties: {prompt: {type: string}}}
    parameters: {type: object}
    output: ` + output + `
    example: {capability: ` + name + `, input: {prompt: hello}}`
	}
	const data = "{type: object, additionalProperties: false, required: [data], properties: {data: {type: string}}}"
	for name, text := range map[string]string{
		"more.yaml": "capabilities:" + capability("text.chat", data) + capability("text.extract", data) + capability("text.sum", data) +
			capability("text.rewrite", "{type: object, required: [text], properties: {text: {type: string}}}"),
		"unitask.yaml": `catalog: [more.yaml]
suppliers: [{name: maps, kind: mapped, base_url: http://x}, {name: open, kind: opened, base_url: http://x}]
routes:
  text.chat: [{supplier: maps, model: m, price: {unit: mtok, input: 1, output: 1}}]
  text.extract:
    - {supplier: open, model: m, price: {unit: mtok, input: 1, output: 1}}
    - {supplier: maps, model: m, price: {unit: mtok, input: 1, output: 1}}
  text.sum: [{supplier: open, model: m, price: {unit: mtok, input: 1, output: 1}}]
  text.rewrite: [{supplier: maps, model: m, price: {unit: mtok, input: 1, output: 1}}]
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := config.Load(config.Sources{File: file, Kinds: map[string][]string{"mapped": nil, "opened": nil}, AnyOutput: []string{"opened"}})
	problems, _ := errors.AsType[config.Errors](err)
	var got []string
	for _, p := range problems {
		got = append(got, p.Setting+" "+p.Message)
	}
	const message = " can't fill the capability's output: its schema asks for data, which no result fills"
	if diff := cmp.Diff([]string{"routes.text.chat[0]" + message, "routes.text.extract[1]" + message}, got); diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestBuiltins(t *testing.T) {
	routes := 0
	for _, b := range config.Builtins() {
		for name, list := range b.Routes {
			for _, r := range list {
				routes++
				if r.Supplier != b.Supplier.Name || r.Model == "" || r.Price.Unit == "" || !r.Approved {
					t.Errorf("%s %s: %+v", b.Title, name, r)
				}
			}
		}
	}
	if routes < 30 {
		t.Errorf("%d built-in routes", routes)
	}
}

// TestReference keeps docs/configuration.md in step with the types.
func TestReference(t *testing.T) {
	const path = "../../docs/configuration.md"
	const begin, end = "<!-- settings: begin -->\n", "<!-- settings: end -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has lost its marks")
	}
	want := before + begin + config.Reference() + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("run go test ./internal/config -update\n%s", diff)
	}
}

// TestPolicy reads rules and a moderation supplier, by default a built-in one.
func TestPolicy(t *testing.T) {
	got, err := load(t, config.Sources{}, `
policy:
  rules:
    - {name: cards, pattern: '\b\d{16}\b', capabilities: [text.*]}
    - pattern: (?i)internal use only
  moderation: {supplier: openai, capabilities: [text.chat, image.*], price: {unit: mchar, input: "0.1"}}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Policy{
		Rules: []config.Rule{{Name: "cards", Pattern: `\b\d{16}\b`, Capabilities: []string{"text.*"}}, {Pattern: "(?i)internal use only"}},
		Moderation: config.Moderation{
			Supplier: "openai", Model: "omni-moderation-latest", Capabilities: []string{"text.chat", "image.*"}, OnFailure: config.RefuseFailed,
			Price: config.Price{Unit: "mchar", Input: 100_000_000},
		},
	}
	if diff := cmp.Diff(want, got.Policy); diff != "" {
		t.Error(diff)
	}
}
