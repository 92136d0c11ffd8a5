package e2e_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

const tiers = `capabilities:
  - name: text.chat.large
    extends: text.chat
    title: Chat with a large model
    description: For hard questions.
    parameters: {properties: {max_output_tokens: {maximum: 4096}}}
  - name: speech.slow
    extends: audio.speech
    title: Speak slowly
    description: By a model of its own.
  - name: image.generate.fast
    extends: image.generate
    title: Make an image fast
    description: One image, within the request.
    mode: sync
    parameters: {properties: {n: {maximum: 1}}}
  - name: image.generate.fine
    extends: image.generate
    title: Make a fine image
    description: It takes its time.
  - name: text.embed.wide
    extends: text.embed
    title: Embed with a large model
    description: Not ready yet.
`

// tierUpstream is a server of OpenAI's format that notes the models it was asked for.
type tierUpstream struct {
	mu     sync.Mutex
	models []string
}

func (u *tierUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Model string }
	_ = json.NewDecoder(r.Body).Decode(&asked)
	u.mu.Lock()
	u.models = append(u.models, asked.Model)
	u.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/audio/speech") {
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(append([]byte("RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x08\x00\x00\x00"), make([]byte, 8)...))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2}}`)
}

// asked returns the models since the last call.
func (u *tierUpstream) asked() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	models := u.models
	u.models = nil
	return models
}

// tierHost is a host with the tiers and routes to two servers.
func tierHost(t *testing.T) (h *host, small, large *tierUpstream, jobs *jobServer) {
	t.Helper()
	small, large, jobs = &tierUpstream{}, &tierUpstream{}, newJobServer(t)
	jobs.letGo()
	one, two := httptest.NewServer(small), httptest.NewServer(large)
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	h = newHost(t)
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.write("tiers.yaml", tiers)
	h.Config = `catalog: [tiers.yaml]
suppliers:
  - {name: small, kind: openai, base_url: "` + one.URL + `/v1"}
  - {name: large, kind: openai, base_url: "` + two.URL + `/v1"}
  - {name: jobs, kind: fal, base_url: "` + jobs.URL + `", api_key: env:UPSTREAM_KEY}
routes:
  text.chat: [{supplier: small, model: s, price: {unit: mtok, input: "1", output: "1"}}]
  text.chat.large: [{supplier: large, model: l, price: {unit: mtok, input: "10", output: "10"}}]
  speech.slow: [{supplier: large, model: v, price: {unit: mchar, input: "2"}}]
  image.generate: [{supplier: jobs, model: fal-ai/flux/schnell, price: {unit: image, output: "0.003"}}]
  image.generate.fast: [{supplier: jobs, model: fal-ai/flux/schnell, price: {unit: image, output: "0.005"}}]
  image.generate.fine: [{supplier: jobs, model: fal-ai/flux-pro/v1.1, price: {unit: image, output: "0.04"}}]
policy:
  rules: [{name: tea, pattern: tea, capabilities: [text.chat]}]
`
	h.start()
	return h, small, large, jobs
}

// TestTiers runs two capabilities and their tiers, which differ in model, price, limits and scope.
func TestTiers(t *testing.T) {
	t.Parallel()
	h, small, large, jobs := tierHost(t)
	testKey := h.key
	h.useLiveKey()
	liveKey := h.key
	for _, tt := range []struct{ name, cost string }{{"text.chat", "0.000006"}, {"text.chat.large", "0.00006"}} {
		done := h.task("run", tt.name, "Hello", "--json")
		if done.Capability != tt.name || done.Usage.Cost.Amount != tt.cost || *done.Output.Text != "Hello." {
			t.Errorf("%s: %+v for %s", tt.name, done, done.Usage.Cost.Amount)
		}
	}
	if spoken := h.task("run", "speech.slow", "Hello", "-o", "slow.wav", "--json"); spoken.Usage.Cost.Amount != "0.00001" || spoken.Usage.Characters != 5 {
		t.Errorf("spoken: %+v for %s", spoken.Usage, spoken.Usage.Cost.Amount)
	}
	if diff := cmp.Diff([][]string{{"s"}, {"l", "v"}}, [][]string{small.asked(), large.asked()}); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ name, cost string }{{"image.generate.fast", "0.005"}, {"image.generate.fine", "0.04"}} {
		if made := h.task("run", tt.name, "a fox", "-o", tt.name+".png", "--json"); made.Usage.Cost.Amount != tt.cost {
			t.Errorf("%s: %+v", tt.name, made.Usage.Cost)
		}
	}
	if started, _ := jobs.seen(); !slices.Equal(started, []string{"fal-ai/flux/schnell", "fal-ai/flux-pro/v1.1"}) {
		t.Errorf("jobs of %v", started)
	}
	expect := func(what, hint string, code int, args ...string) {
		t.Helper()
		if o := h.client(args...); o.code != code || !strings.Contains(o.stderr, hint) {
			t.Errorf("%s: exit %d\n%s", what, o.code, o.stderr)
		}
	}
	expect("above a tier's bound", "max_output_tokens: must be 1 to 4096", 2, "run", "text.chat.large", "Hello", "max_output_tokens=5000")
	var refused api.ErrorResponse
	h.call(http.MethodPost, api.PathTasks, `{"capability":"text.chat.large","input":{"prompt":"a"},"parameters":{"max_output_tokens":5000}}`,
		map[string]string{api.HeaderIdempotencyKey: "tier-bound"}, &refused)
	if want := "parameters.max_output_tokens must be at most 4096"; refused.Error.Message != want {
		t.Errorf("got %+v, want %s", refused.Error, want)
	}
	expect("a rule of the base", "input.prompt is refused", 1, "run", "text.chat.large", "tea")
	if got, want := h.offers(), []string{"image.generate", "image.generate.fast", "image.generate.fine", "speech.slow", "text.chat", "text.chat.large"}; !slices.Equal(got, want) {
		t.Errorf("live: %v, want %v", got, want)
	}

	h.key = testKey
	if base, tier := h.must("run", "text.chat", "What is 2+3?"), h.must("run", "text.chat.large", "What is 2+3?"); base != tier || !strings.Contains(tier, "5") {
		t.Errorf("by the sandbox: %q, its base %q", tier, base)
	}
	if made := h.task("run", "image.generate.fast", "a fox", "-o", "sandbox.png", "--json"); len(made.Output.Images) != 1 {
		t.Errorf("by the sandbox: %+v", made.Output)
	}
	if tools := h.tools(); !slices.Contains(tools, "text_chat_large") || !slices.Contains(tools, "text_embed_wide") {
		t.Errorf("tools: %v", tools)
	}
	var speech api.Capability
	if err := json.Unmarshal([]byte(h.must("capabilities", "speech.slow", "--json")), &speech); err != nil || speech.Price.Unit != task.PerSecond {
		t.Errorf("%+v, %v", speech.Price, err)
	}
	if all := h.must("capabilities"); !strings.Contains(all, "text.chat.large\tsync\t") || !strings.Contains(all, "image.generate.fast\tsync\t") {
		t.Errorf("capabilities: %s", all)
	}
	h.key = liveKey
	usage := h.must("usage", "--by", "capability", "--data-dir", h.Data())
	if !strings.Contains(usage, "text.chat.large\t") || !strings.Contains(usage, "image.generate.fast\t") {
		t.Errorf("usage: %s", usage)
	}
	replayed := h.must("simulate", "text.chat.large", "--config", "unitask.yaml", "--for", "10s", "--json",
		"--jq", ".configured | .succeeded > 0 and .succeeded == .tasks and (.routes | map(.route)) == [\"large/l\"]")
	if replayed != "true\n" {
		t.Errorf("simulate: %s", replayed)
	}
	checked := h.client("config", "check", "unitask.yaml").stderr
	for _, line := range []string{
		"text.chat.large extends text.chat and has the routes large/l\n",
		"warning: text.embed.wide extends text.embed and has no approved route, so live keys can't call it: write one under routes\n",
	} {
		if !strings.Contains(checked, line) {
			t.Errorf("config check says\n%swant %s", checked, line)
		}
	}
}

// TestTierScopes: a key for a capability doesn't open its tiers, nor the other way round.
func TestTierScopes(t *testing.T) {
	h, _, _, _ := tierHost(t)
	testKey := h.key
	for scope, want := range map[string][]string{
		"text.chat":       {"text.chat"},
		"text.chat.large": {"text.chat.large"},
		"text.chat.*":     {"text.chat.large"},
		"text.*":          {"text.chat", "text.chat.large", "text.embed", "text.embed.wide", "text.moderate", "text.rerank"},
	} {
		var key api.Key
		out := h.must("keys", "create", "--name", "scoped", "--mode", "test", "--scope", scope, "--data-dir", h.Data(), "--json")
		if err := json.Unmarshal([]byte(out), &key); err != nil {
			t.Fatal(err)
		}
		h.key = key.Secret
		if diff := cmp.Diff(want, h.offers()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", scope, diff)
		}
		for _, name := range []string{"text.chat", "text.chat.large"} {
			status := map[bool]int{true: http.StatusOK, false: http.StatusBadRequest}[slices.Contains(want, name)]
			var made api.Task
			got := h.call(http.MethodPost, api.PathTasks, `{"capability":"`+name+`","input":{"prompt":"Hello"}}`,
				map[string]string{api.HeaderIdempotencyKey: "tier-" + scope + name}, &made)
			if got.status != status || status == http.StatusOK && made.State != task.Succeeded {
				t.Errorf("%s with %s: %d %+v, want %d", name, scope, got.status, made, status)
			}
		}
	}
	h.key = testKey
	for i, want := range []int{http.StatusOK, http.StatusConflict} {
		body := `{"capability":"` + []string{"text.chat", "text.chat.large"}[i] + `","input":{"prompt":"one"}}`
		if got := h.call(http.MethodPost, api.PathTasks, body, map[string]string{api.HeaderIdempotencyKey: "tier-conflict"}, nil); got.status != want {
			t.Errorf("%s: %d, want %d", body, got.status, want)
		}
	}
}

// tools returns the names of the tools that unitask mcp lists.
func (h *host) tools() (names []string) {
	h.T.Helper()
	cmd := exec.CommandContext(h.T.Context(), harness.Binary(), "mcp")
	cmd.Env = append(h.Environ(), "UNITASK_BASE_URL="+h.Base, "UNITASK_API_KEY="+h.key)
	in, err := cmd.StdinPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	greeting, _, _ := strings.Cut(conversation, `{"jsonrpc":"2.0","id":2`)
	if _, err := io.WriteString(in, greeting+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n"); err != nil {
		h.T.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var listed struct {
		ID     int
		Result struct{ Tools []struct{ Name string } }
	}
	for lines := bufio.NewReader(out); listed.ID != 2; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			h.T.Fatal(err)
		}
		if err := json.Unmarshal(line, &listed); err != nil {
			h.T.Fatalf("%v: %s", err, line)
		}
	}
	for _, tool := range listed.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}
