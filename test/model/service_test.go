package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
)

// service is the running server with a live key.
type service struct {
	*harness.Server

	key string
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

// startService starts the server with Ollama as its only supplier and makes a live key.
func startService(t *testing.T, config string) *service {
	t.Helper()
	s := &service{Server: harness.NewServer(t)}
	s.Config = config
	s.Start()
	s.key = s.MustNewKey(task.Live)
	return s
}

// clients is the environment of the server's clients.
func (s *service) clients() []string {
	return append(s.Environ(), "UNITASK_BASE_URL="+s.Base, "UNITASK_API_KEY="+s.key)
}

// must runs a client command that has to succeed and returns its stdout.
func (s *service) must(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, answerLimit, s.clients(), harness.Binary(), args...)
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
