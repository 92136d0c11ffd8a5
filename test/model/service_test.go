package model_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unitask/internal/api"
)

// service is the running server with a live key.
type service struct {
	binary, dir, base, key string
}

// byOpenAI and byAnthropic are the two formats in which Ollama at an address is a supplier.
func byOpenAI(address string) string {
	return `suppliers:
  - {name: local, kind: openai, base_url: "` + address + `/v1", max_tokens_field: max_tokens, options: {features: json_schema}}
routes:
  text.chat:
    - {supplier: local, model: ` + modelName + `, price: {unit: mtok, input: "1", output: "2"}}
  text.embed:
    - {supplier: local, model: ` + modelName + `, price: {unit: mtok, input: "1", output: "0"}}
`
}

func byAnthropic(address string) string {
	return `suppliers:
  - {name: local, kind: anthropic, base_url: "` + address + `"}
routes:
  text.chat:
    - {supplier: local, model: ` + modelName + `, price: {unit: mtok, input: "1", output: "2"}}
`
}

// startService builds the binary, starts it with Ollama as its only supplier and makes a live key.
func startService(t *testing.T, config string) *service {
	t.Helper()
	dir := t.TempDir()
	address := freeAddress(t)
	s := &service{binary: filepath.Join(dir, "unitask"), dir: dir, base: "http://" + address}
	output(t, buildLimit, os.Environ(), "go", "build", "-o", s.binary, "unitask/cmd/unitask")
	file := filepath.Join(dir, "unitask.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, "unitask", s.base+api.PathReady, s.environ(), s.binary, "serve", "--listen", address, "--data-dir", s.data(), "--config", file)
	var key api.Key
	out := s.must(t, "keys", "create", "--name", "model", "--mode", "live", "--json", "--data-dir", s.data())
	if err := json.Unmarshal([]byte(out), &key); err != nil || key.Secret == "" {
		t.Fatalf("keys create printed no key: %v", err)
	}
	s.key = key.Secret
	return s
}

func (s *service) data() string { return filepath.Join(s.dir, "data") }

// environ is a clean environment: no key, no proxy, no session bus of whoever runs the tests.
func (s *service) environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TMPDIR=" + s.dir, "NO_COLOR=1",
		"UNITASK_CONFIG_DIR=" + filepath.Join(s.dir, "config"), "UNITASK_BASE_URL=" + s.base, "UNITASK_API_KEY=" + s.key,
	}
}

// must runs a client command that has to succeed and returns its stdout.
func (s *service) must(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, answerLimit, s.environ(), s.binary, args...)
}

// run submits a task, waits for it and returns it; the answer must not name who did the work.
func (s *service) run(t *testing.T, words ...string) api.Task {
	t.Helper()
	out := s.must(t, append(append([]string{"run"}, words...), "--json")...)
	for _, internal := range []string{modelName, "local", "ollama"} {
		if strings.Contains(strings.ToLower(out), internal) {
			t.Errorf("the task names %q: %s", internal, out)
		}
	}
	var done api.Task
	if err := json.Unmarshal([]byte(out), &done); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return done
}
