// Package model answers prompts and has a conversation by a real model server: a real Ollama that loads a generated
// model, behind the real binary. It needs an Ollama, which `make e2e-model` builds; without one its tests are skipped, in
// CI too, because that build takes minutes.
package model_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/task"
	"unitask/test/harness"
	"unitask/test/model/gguf"
)

// variable holds the path of an ollama binary.
const variable = "UNITASK_E2E_MODEL"

// asked is the most tokens that a caller asks for; unasked is how many the model's own limit allows,
// so that an ignored parameter shows.
const (
	asked   = 16
	unasked = 48
)

func TestMain(m *testing.M) {
	if os.Getenv(variable) == "" {
		os.Exit(m.Run()) // no test needs the service's binary
	}
	os.Exit(harness.Main(m))
}

func TestPrompt(t *testing.T) {
	o := startOllama(t)
	s := startService(t, byOpenAI(o.base))

	t.Run("chat", func(t *testing.T) {
		done := s.run(t, "text.chat", "What grows by the river?", "max_output_tokens=16")
		checkChat(t, done)
		t.Logf("answered %q, %+v", *done.Output.Text, *done.Usage)
	})
	t.Run("again", func(t *testing.T) {
		words := []string{"text.chat", "Name three things", "max_output_tokens=16", "temperature=0", "seed=7"}
		first, second := s.run(t, words...), s.run(t, words...)
		checkChat(t, first)
		if first.ID == second.ID || *first.Output.Text != *second.Output.Text {
			t.Errorf("a seed and no temperature gave %s %q and %s %q", first.ID, *first.Output.Text, second.ID, *second.Output.Text)
		}
	})
	t.Run("plain", func(t *testing.T) {
		out := s.must(t, "run", "text.chat", "Say it plainly", "max_output_tokens=16")
		checkWords(t, out)
	})
	t.Run("chat by Anthropic's format", func(t *testing.T) {
		done := startService(t, byAnthropic(o.base)).run(t, "text.chat", "What grows by the river?", "max_output_tokens=16")
		checkChat(t, done)
		t.Logf("answered %q, %+v", *done.Output.Text, *done.Usage)
	})
	t.Run("JSON", func(t *testing.T) { checkJSON(t, s) })
	t.Run("embed", func(t *testing.T) { checkEmbed(t, s) })
	t.Run("ignored field", func(t *testing.T) { checkIgnoredField(t, o) })
}

// checkChat checks a task after a limit of 16 tokens and a model that never ends by itself.
func checkChat(t *testing.T, got api.Task) {
	t.Helper()
	if got.State != task.Succeeded || got.Mode != task.Live || got.Output == nil || got.Output.Text == nil || got.Usage == nil {
		t.Fatalf("%+v", got)
	}
	checkWords(t, *got.Output.Text)
	if got.Output.FinishReason != "length" {
		t.Errorf("finish_reason %q, want length", got.Output.FinishReason)
	}
	if u := got.Usage; u.InputTokens <= 0 || u.OutputTokens != asked || u.Cost.Amount == "0" {
		t.Errorf("usage %+v, want %d output tokens and a cost", *u, asked)
	}
}

// checkJSON asks for JSON of a schema, to which the server holds its model: that one's own words aren't JSON.
func checkJSON(t *testing.T, s *service) {
	t.Helper()
	schema := `{"type":"object","properties":{"plant":{"enum":["willow","reed"]},"wet":{"type":"boolean"}},"required":["plant","wet"],"additionalProperties":false}`
	got := s.run(t, "text.chat", "What grows by the river?", "max_output_tokens=200", "output_schema="+schema)
	if got.State != task.Succeeded || got.Output == nil || got.Output.FinishReason != "stop" {
		t.Fatalf("%+v", got)
	}
	var said struct {
		Plant string `json:"plant"`
		Wet   *bool  `json:"wet"`
	}
	if err := json.Unmarshal(got.Output.Data, &said); err != nil || said.Plant != "willow" && said.Plant != "reed" || said.Wet == nil {
		t.Errorf("%s, %v", got.Output.JSON, err)
	}
	t.Logf("answered %s", got.Output.Data)
}

// checkWords makes sure that a text came from the generated model: it holds that model's words only.
func checkWords(t *testing.T, text string) {
	t.Helper()
	said := strings.Fields(text)
	known := gguf.Words()
	if len(said) == 0 || slices.ContainsFunc(said, func(word string) bool { return !slices.Contains(known, word) }) {
		t.Errorf("%q isn't what the generated model says", text)
	}
}

func checkEmbed(t *testing.T, s *service) {
	t.Helper()
	got := s.run(t, "text.embed", "amber grove", "salt and frost")
	if got.State != task.Succeeded || got.Output == nil || len(got.Output.Embeddings) != 2 || got.Usage == nil || got.Usage.InputTokens <= 0 {
		t.Fatalf("%+v", got)
	}
	one, two := got.Output.Embeddings[0], got.Output.Embeddings[1]
	if len(one) != 64 || len(two) != 64 || slices.Equal(one, two) {
		t.Errorf("%d and %d numbers, want 64 of each, not the same", len(one), len(two))
	}
}

// checkIgnoredField shows why the supplier needs max_tokens_field: max_completion_tokens has no effect. It is the
// control of checkChat, whose limit is the only one.
func checkIgnoredField(t *testing.T, o *ollama) {
	t.Helper()
	for field, want := range map[string]int{"max_tokens": asked, "max_completion_tokens": unasked} {
		body, err := json.Marshal(map[string]any{
			"model": modelName, field: asked, "messages": []map[string]string{{"role": "user", "content": "go on"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Usage struct {
				CompletionTokens int `json:"completion_tokens"`
			} `json:"usage"`
		}
		post(t, o.base+"/v1/chat/completions", body, &answer)
		if answer.Usage.CompletionTokens != want {
			t.Errorf("%s=%d gave %d tokens, want %d", field, asked, answer.Usage.CompletionTokens, want)
		}
	}
}

func post(t *testing.T, url string, body []byte, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Timeout: answerLimit}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d %s: %v", response.StatusCode, raw, err)
	}
}
