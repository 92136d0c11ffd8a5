package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/sse"
	"unitask/internal/task"
	"unitask/test/harness"
)

// callers are the fixtures of a foreign server whose models call two tools, one after the other.
const callers = `{"fixtures":[
	{"match":{"userMessage":"weather","hasToolResult":false},"response":{"content":"Let me see.","reasoning":"I need the town first.",
		"reasoningSignature":"signed-by-them","toolCalls":[{"name":"find_town","arguments":{"name":"Lund"}}]}},
	{"match":{"userMessage":"weather","toolResultContains":"Sweden"},"response":{"reasoning":"Now its weather.","reasoningSignature":"signed-again",
		"toolCalls":[{"name":"get_weather","arguments":{"town":"Lund"}}]}},
	{"match":{"userMessage":"weather","toolResultContains":"rain"},"response":{"content":"It rains in Lund."}}]}`

// models are names by which each kind knows that the model thinks, and that it can do so between calls.
var models = map[string]string{"openai": "gpt-5.1", "anthropic": "claude-sonnet-4-6", "gemini": "gemini-3-flash-preview"}

// calling starts a server that chats by a foreign server whose models call tools, in the formats in this order.
func calling(t *testing.T, order ...string) (h *host, foreign *recorded) {
	t.Helper()
	h = newHost(t)
	h.write("callers.json", callers)
	foreign = record(t, service(t, "listening on ", npmTool(t, "llmock"), "--port", "0", "--fixtures", filepath.Join(h.Dir, "callers.json"), "--validate-on-load", "--strict"))
	suppliers, routes := "", ""
	for i, name := range order {
		base := foreign.proxy
		if name == "openai" {
			base += "/v1"
		}
		suppliers += `
  - {name: ` + name + `, kind: ` + name + `, base_url: "` + base + `", api_key: env:UPSTREAM_KEY`
		if name == "openai" {
			suppliers += `, options: {features: tools reasoning}`
		}
		suppliers += `}`
		routes += `
    - {supplier: ` + name + `, model: ` + models[name] + `, price: {unit: mtok, input: "` + fmt.Sprint(1+i) + `", output: "0"}}`
	}
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.Config = "suppliers:" + suppliers + "\nroutes:\n  text.chat:" + routes + "\n"
	h.start()
	h.useLiveKey()
	return h, foreign
}

// TestAgentLoops runs the loops of the documentation, in three languages, against models of three formats: the same
// programs call two tools and get their answer. With a test key the sandbox calls them.
func TestAgentLoops(t *testing.T) {
	t.Parallel()
	programs := map[string][]string{"py": {"python3"}, "mjs": {"node"}, "go": {"go", "run"}}
	run := func(t *testing.T, h *host, want string) {
		for suffix, command := range programs {
			need(t, command[0])
			path, err := filepath.Abs("../../docs/agents/loop." + suffix)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], path, "What is the weather in Lund?")...)
			cmd.Env = append(os.Environ(), "UNITASK_BASE_URL="+h.Base, "UNITASK_API_KEY="+h.key)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v\n%s", suffix, err, out)
			}
		}
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			h, _ := calling(t, k.name)
			run(t, h, "It rains in Lund.")
		})
	}
	t.Run("sandbox", func(t *testing.T) {
		h := newHost(t)
		h.start()
		run(t, h, "get_weather says: {")
	})
}

// turn asks for the next turn of a conversation about the weather.
func (h *host) turn(key string, messages ...any) api.Task {
	h.T.Helper()
	body, err := json.Marshal(map[string]any{
		"capability": "text.chat", "input": map[string]any{"messages": messages},
		"parameters": map[string]any{"reasoning": "low", "max_output_tokens": 4000, "tools": []map[string]any{
			{"name": "find_town", "parameters": map[string]any{"type": "object", "required": []string{"name"}, "properties": map[string]any{"name": map[string]any{"type": "string"}}}},
			{"name": "get_weather", "parameters": map[string]any{"type": "object", "required": []string{"town"}, "properties": map[string]any{"town": map[string]any{"type": "string"}}}},
		}},
	})
	if err != nil {
		h.T.Fatal(err)
	}
	var done api.Task
	h.call(http.MethodPost, api.PathTasks, string(body), map[string]string{api.HeaderIdempotencyKey: key, "Prefer": "wait=30"}, &done)
	if done.State != task.Succeeded {
		h.T.Fatalf("%s: %+v", done.State, done.Error)
	}
	return done
}

// said is an output as the message that goes into the next request.
func said(o *api.Output) map[string]any {
	m := map[string]any{"role": "assistant", "content": *o.Text, "tool_calls": o.ToolCalls}
	if o.State != "" {
		m["state"] = o.State
	}
	return m
}

func result(o *api.Output, text string) map[string]any {
	return map[string]any{"role": "tool", "tool_call_id": o.ToolCalls[0].ID, "content": text}
}

// TestAgentFailover has the supplier of the first turn fail in the second one: another format's goes on with the
// conversation, whose state it neither needs nor gets.
func TestAgentFailover(t *testing.T) {
	for _, next := range []string{"openai", "gemini"} {
		t.Run(next, func(t *testing.T) {
			h, foreign := calling(t, "anthropic", next)
			user := map[string]any{"role": "user", "content": "What is the weather in Lund?"}
			first := h.turn("failover-turn-1", user)
			if o := first.Output; o.State == "" || o.Reasoning != "I need the town first." || len(o.ToolCalls) != 1 || o.ToolCalls[0].Invalid {
				t.Fatalf("first turn: %s", o.JSON)
			}
			breakNext(t, foreign.url)
			second := h.turn("failover-turn-2", user, said(first.Output), result(first.Output, `{"country":"Sweden"}`))
			if o := second.Output; len(o.ToolCalls) != 1 || o.ToolCalls[0].Name != "get_weather" || string(o.ToolCalls[0].Arguments) != `{"town":"Lund"}` {
				t.Fatalf("second turn: %s", o.JSON)
			}
			last := h.turn("failover-turn-3", user, said(first.Output), result(first.Output, `{"country":"Sweden"}`),
				said(second.Output), result(second.Output, `{"sky":"rain"}`))
			if *last.Output.Text != "It rains in Lund." {
				t.Errorf("last turn: %s", last.Output.JSON)
			}
			ledger, err := h.AdminTask(t.Context(), second.ID)
			var tried []string
			for _, a := range ledger.Attempts {
				tried = append(tried, a.Supplier)
			}
			if diff := cmp.Diff([]string{"anthropic", next}, tried); diff != "" || err != nil {
				t.Errorf("suppliers, %v (-want +got):\n%s", err, diff)
			}
			got := map[bool]int{} // the requests with the state, by whether its own supplier got them
			for r := range foreign.requests() {
				if strings.Contains(r.body, "signed-by-them") {
					got[strings.Contains(r.path, "/messages")]++
				}
			}
			if got[true] == 0 || got[false] > 0 {
				t.Errorf("the state went to its own supplier %d times, to another %d times", got[true], got[false])
			}
		})
	}
}

// breakNext has the foreign server fail its next request.
func breakNext(t *testing.T, foreign string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, foreign+"/__aimock/error", strings.NewReader(`{"status":503}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer upstream-key")
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", response, err)
	}
	_ = response.Body.Close()
}

// recorded is a foreign server behind a proxy that keeps the requests.
type recorded struct {
	url   string // of the foreign server itself
	proxy string
	mu    sync.Mutex
	sent  []sent
}

// sent is a request that a foreign server got.
type sent struct{ path, body string }

func record(t *testing.T, address string) *recorded {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{url: address}
	onward := httputil.NewSingleHostReverseProxy(target)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.sent = append(r.sent, sent{req.URL.Path, string(body)})
		r.mu.Unlock()
		req.Body = io.NopCloser(bytes.NewReader(body))
		onward.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	r.proxy = srv.URL
	return r
}

func (r *recorded) requests() iter.Seq[sent] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Values(slices.Clone(r.sent))
}

// TestStreamedToolCall: a stream tells thoughts, text and the pieces of a call, with the id and the arguments that the
// output then has, whichever format the model speaks.
func TestStreamedToolCall(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			h, _ := calling(t, k.name)
			body := `{"capability":"text.chat","input":{"prompt":"What is the weather in Lund?"},"parameters":{"reasoning":"low","max_output_tokens":4000,` +
				`"tools":[{"name":"find_town","description":"Finds a town."}]}}`
			reply, err := h.Send(t.Context(), harness.Request{Method: http.MethodPost, Path: api.PathTasks, Key: h.key, Body: body, Header: map[string]string{
				api.HeaderIdempotencyKey: "streamed-call", "Accept": sse.ContentType,
			}})
			if err != nil {
				t.Fatal(err)
			}
			var thoughts, text, arguments, id string
			var last api.Task
			for e, err := range sse.Read(strings.NewReader(string(reply.Body)), 0) {
				if err != nil {
					t.Fatal(err)
				}
				var d api.Delta
				switch {
				case e.Name == api.EventTask:
					if err := json.Unmarshal([]byte(e.Data), &last); err != nil {
						t.Fatal(err)
					}
				case json.Unmarshal([]byte(e.Data), &d) != nil:
					t.Fatalf("%s: %s", e.Name, e.Data)
				case d.ToolCall != nil:
					id, arguments = d.ToolCall.ID, arguments+d.ToolCall.Arguments
				}
				thoughts, text = thoughts+d.Reasoning, text+d.Text
			}
			o := last.Output
			if o == nil || len(o.ToolCalls) != 1 {
				t.Fatalf("%s", reply.Body)
			}
			if thoughts != o.Reasoning || text != *o.Text || text == "" || id != o.ToolCalls[0].ID || arguments != `{"name":"Lund"}` {
				t.Errorf("told %q, %q, %s %s of %s", thoughts, text, id, arguments, o.JSON)
			}
			if !o.ToolCalls[0].Invalid {
				t.Error("a call with arguments fits a tool without any")
			}
		})
	}
}
