//go:build ignore

// Command loop is an agent: a model calls functions of this program until it has an answer. It needs no packages.
package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

var (
	base = cmp.Or(os.Getenv("UNITASK_BASE_URL"), "http://127.0.0.1:8420")
	key  = os.Getenv("UNITASK_API_KEY")
)

type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	State      string `json:"state,omitempty"`
}

type call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Invalid   bool            `json:"invalid,omitempty"`
}

type task struct {
	ID     string `json:"id"`
	Output *struct {
		Text         string `json:"text"`
		FinishReason string `json:"finish_reason"`
		ToolCalls    []call `json:"tool_calls"`
		State        string `json:"state"`
	} `json:"output"`
	Error *struct {
		Code       string `json:"code"`
		Message    string `json:"message"`
		Retryable  bool   `json:"retryable"`
		RetryAfter int    `json:"retry_after_seconds"`
	} `json:"error"`
}

const tools = `[
	{"name":"find_town","description":"Finds a town.","parameters":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},
	{"name":"get_weather","description":"Tells the weather of a town.","parameters":{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}}]`

// run does what the model calls. A call that doesn't fit its tool goes back to the model, which may do better.
func run(c call) string {
	var given struct{ Name, Town string }
	switch err := json.Unmarshal(c.Arguments, &given); {
	case c.Invalid || err != nil:
		return "These arguments don't fit the tool."
	case c.Name == "find_town":
		return fmt.Sprintf(`{"town":%q,"country":"Sweden"}`, given.Name)
	default:
		return fmt.Sprintf(`{"town":%q,"sky":"rain","degrees":12}`, given.Town)
	}
}

// ask does one turn, which is one task. Its key is made once, so that a request that is sent again costs nothing more.
func ask(messages []message) task {
	body, err := json.Marshal(map[string]any{
		"capability": "text.chat",
		"input":      map[string]any{"messages": messages},
		"parameters": map[string]any{"tools": json.RawMessage(tools), "reasoning": "low", "max_output_tokens": 4000},
	})
	if err != nil {
		log.Fatal(err)
	}
	once := rand.Text()
	t := send(http.MethodPost, "/api/ai/v1/tasks", once, body)
	for tries := 0; t.Error != nil && t.Error.Retryable && tries < 4; tries++ {
		time.Sleep(time.Duration(t.Error.RetryAfter) * time.Second)
		t = send(http.MethodPost, "/api/ai/v1/tasks", once, body)
	}
	for t.Output == nil && t.Error == nil {
		time.Sleep(2 * time.Second)
		t = send(http.MethodGet, "/api/ai/v1/tasks/"+t.ID, "", nil)
	}
	if t.Output == nil {
		log.Fatalf("%s: %s", t.Error.Code, t.Error.Message)
	}
	return t
}

func send(method, path, once string, body []byte) (t task) {
	request, err := http.NewRequest(method, base+path, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", once)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&t); err != nil {
		log.Fatal(err)
	}
	return t
}

func main() {
	messages := []message{{Role: "user", Content: strings.Join(os.Args[1:], " ")}}
	for range 10 {
		out := ask(messages).Output
		if out.FinishReason != "tool_calls" {
			fmt.Println(out.Text)
			return
		}
		messages = append(messages, message{Role: "assistant", Content: out.Text, ToolCalls: out.ToolCalls, State: out.State})
		for _, c := range out.ToolCalls {
			messages = append(messages, message{Role: "tool", ToolCallID: c.ID, Content: run(c)})
		}
	}
}
