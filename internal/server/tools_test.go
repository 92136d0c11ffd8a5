package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/server"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// bearing sends a key with each request.
type bearing struct{ key string }

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	r.Header.Set("Traceparent", aTrace)
	return http.DefaultTransport.RoundTrip(r)
}

// toolsOf is a client of the protocol with a key.
func (w *world) toolsOf(key string) *sdk.ClientSession { return w.toolsBy(key, nil) }

func (w *world) toolsBy(key string, o *sdk.ClientOptions) *sdk.ClientSession {
	w.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	s := fixture.Must(c.Connect(w.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: w.base + api.PathMCP, HTTPClient: &http.Client{Transport: bearing{key}}, MaxRetries: -1,
	}, nil))(w.t)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

func toolCall(t testing.TB, s *sdk.ClientSession, name, arguments string) *sdk.CallToolResult {
	t.Helper()
	return fixture.Must(s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)}))(t)
}

// said is the text of an answer.
func said(r *sdk.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

func idOf(r *sdk.CallToolResult) string {
	id, _ := r.Meta["unitask/task_id"].(string)
	return id
}

func toolNames(t testing.TB, s *sdk.ClientSession) []string {
	t.Helper()
	var names []string
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// TestTools lists and calls the tools over HTTP. The calls are requests of the API with the same key: its tasks, its
// records and its log, in which no key stands.
func TestTools(t *testing.T) {
	requests := make(chan server.Request, 100)
	w := newWorld(t, options{tools: true, onRequest: func(r server.Request) { requests <- r }})
	s := w.toolsOf(w.test)
	if got, want := len(toolNames(t, s)), len(fixture.Must(catalog.Default())(t).All())+2; got != want {
		t.Errorf("%d tools, want %d", got, want)
	}
	hello := toolCall(t, s, "text_chat", `{"input":{"prompt":"hello"}}`)
	if hello.IsError || !strings.Contains(said(hello), "sandbox") {
		t.Errorf("text_chat: %q", said(hello))
	}
	if got, err := w.Operator.Task(t.Context(), idOf(hello)); err != nil || got.State != task.Succeeded || got.Traceparent != aTrace {
		t.Errorf("its task: %+v, %v", got, err)
	}
	fox := toolCall(t, s, "image_generate", `{"input":{"prompt":"a fox"},"parameters":{"size":"64x64"}}`)
	if shown, ok := fox.Content[0].(*sdk.ImageContent); fox.IsError || !ok || shown.MIMEType != "image/png" || len(shown.Data) == 0 {
		t.Fatalf("image_generate: %+v", fox.Content)
	}
	var file struct{ Path, URL string }
	if err := json.Unmarshal([]byte(said(fox)), &file); err != nil || file.Path != "" || !strings.HasPrefix(file.URL, w.base+api.PathArtifacts) {
		t.Errorf("the picture's file: %+v, %v", file, err)
	}
	read := fixture.Must(s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "unitask://tasks/" + idOf(fox)}))(t)
	var same api.Task
	if err := json.Unmarshal([]byte(read.Contents[0].Text), &same); err != nil || same.ID != idOf(fox) || same.State != task.Succeeded {
		t.Errorf("the resource: %s, %v", read.Contents[0].Text, err)
	}
	routes := map[string]int{}
	for routes[api.PathMCP] < 5 { // the start of a session, a list, two calls and a reading
		r := <-requests
		routes[r.Route]++
		if r.Client != "127.0.0.1" || r.KeyID == "" && r.Route != api.PathArtifacts+"{artifact_id}" {
			t.Errorf("recorded: %+v", r)
		}
	}
	if routes[api.PathTasks] != 2 || routes[api.PathArtifacts+"{artifact_id}"] != 1 {
		t.Errorf("routes %v", routes)
	}
	if strings.Contains(w.log.String(), w.test) {
		t.Error("the key is in the log")
	}
}

// TestToolsOfAKey: a key's tools are those of its scope, and neither another account's nor another mode's key sees its
// tasks.
func TestToolsOfAKey(t *testing.T) {
	w := newWorld(t, options{tools: true})
	mine := toolCall(t, w.toolsOf(w.test), "text_chat", `{"input":{"prompt":"mine"}}`)
	scoped := w.toolsOf(w.key(api.KeyCreate{Mode: task.Test, Scopes: []string{"image.*"}}))
	names := toolNames(t, scoped)
	if len(names) < 3 || !slices.Contains(names, "image_generate") || slices.Contains(names, "text_chat") {
		t.Errorf("tools of the scope: %v", names)
	}
	if _, err := scoped.CallTool(t.Context(), &sdk.CallToolParams{Name: "text_chat", Arguments: json.RawMessage(`{"input":{"prompt":"x"}}`)}); err == nil {
		t.Error("a tool outside the scope is called")
	}
	for name, key := range map[string]string{"another account": w.otherAccountsKey(), "another mode": w.live} {
		s := w.toolsOf(key)
		for _, tool := range []string{"task_get", "task_cancel"} {
			if got := toolCall(t, s, tool, `{"id":"`+idOf(mine)+`"}`); !got.IsError || !strings.Contains(said(got), string(fault.NotFound)) {
				t.Errorf("%s of %s: %q", tool, name, said(got))
			}
		}
		if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "unitask://tasks/" + idOf(mine)}); err == nil {
			t.Errorf("%s reads the task", name)
		}
	}
	poor := w.toolsOf(w.key(api.KeyCreate{Mode: task.Live, Limits: api.Limits{Budget: "0.000000001", BudgetPeriod: "day"}}))
	if got := toolCall(t, poor, "text_chat", `{"input":{"prompt":"x"}}`); !got.IsError || !strings.Contains(said(got), string(fault.RateLimitExceeded)) {
		t.Errorf("past the budget: %q", said(got))
	}
}

// toolsPing is the smallest message.
const toolsPing = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func toolRequest(body, key string, change ...func(*request)) request {
	r := request{method: http.MethodPost, path: api.PathMCP, key: key, body: body, header: map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
	}}
	for _, c := range change {
		c(&r)
	}
	return r
}

func (r request) http(ctx context.Context, base string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, r.method, base+r.path, strings.NewReader(r.body))
	if err != nil {
		panic(err)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	return req
}

func (w *world) toTools(body string, change ...func(*request)) response {
	w.t.Helper()
	return w.do(toolRequest(body, w.test, change...))
}

// TestToolsRefusals are the answers before the protocol is spoken, in the one shape of errors.
func TestToolsRefusals(t *testing.T) {
	w := newWorld(t, options{tools: true, operators: true, limits: server.Limits{RefusedKeys: -1}})
	few := w.key(api.KeyCreate{Mode: task.Test, Limits: api.Limits{ReadsPerMinute: 1}})
	w.plainTools(toolsPing, few)
	for name, tt := range map[string]struct {
		got  response
		want int
	}{
		"no key":               {w.toTools(toolsPing, by("")), 401},
		"a wrong key":          {w.toTools(toolsPing, by("svc_test_wrong")), 401},
		"an operator's key":    {w.toTools(toolsPing, by(w.operatorKey().Secret)), 401},
		"the rate":             {w.toTools(toolsPing, by(few)), 429},
		"another site":         {w.toTools(toolsPing, with("Origin", "http://attacker.example")), 403},
		"a sandboxed page":     {w.toTools(toolsPing, with("Origin", "null")), 403},
		"no JSON by its name":  {w.toTools(toolsPing, with("Content-Type", "text/plain")), 415},
		"encoded":              {w.toTools(toolsPing, with("Content-Encoding", "gzip")), 415},
		"no stream":            {w.toTools(toolsPing, with("Accept", "application/json")), 400},
		"no JSON":              {w.toTools(`{"jsonrpc`), 400},
		"a batch":              {w.toTools("\n[" + toolsPing + "," + toolsPing + "]"), 400},
		"too large":            {w.toTools(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 5<<20) + `"}`), 413},
		"another method":       {w.do(request{path: api.PathMCP, key: w.test, header: map[string]string{"Accept": "text/event-stream"}}), 405},
		"the end of a session": {w.do(request{method: http.MethodDelete, path: api.PathMCP, key: w.test}), 405},
		"an unknown version":   {w.toTools(toolsPing, with("MCP-Protocol-Version", "1999-01-01")), 400},
	} {
		if tt.got.StatusCode != tt.want || tt.got.error(t).Error.Message == "" {
			t.Errorf("%s: %d %s, want %d", name, tt.got.StatusCode, tt.got.body, tt.want)
		}
		if tt.want == 401 && tt.got.Header.Get("WWW-Authenticate") != "Bearer" || tt.want == 405 && tt.got.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %v", name, tt.got.Header)
		}
	}
	if got := w.plainTools(toolsPing, w.test, with("Origin", w.base)); got != http.StatusOK {
		t.Errorf("a page of its own: %d", got)
	}
	off := newWorld(t, options{})
	if got := off.toTools(toolsPing); got.StatusCode != 404 {
		t.Errorf("without the setting: %d", got.StatusCode)
	}
}

// TestToolsUnknownMethod: a method that isn't there is an error of the protocol, in the shape that its clients read.
func TestToolsUnknownMethod(t *testing.T) {
	w := newWorld(t, options{tools: true})
	for _, method := range []string{"tasks/list", "foo/bar"} {
		for _, params := range []string{"", `,"params":{"a":1}`, `,"params":[1]`, `,"params":"x"`, `,"params":null`} {
			resp, err := (&http.Client{Transport: bearing{w.test}}).Do(
				toolRequest(`{"jsonrpc":"2.0","id":7,"method":"`+method+`"`+params+`}`, w.test).http(t.Context(), w.base))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(raw), `"id":7`) || !strings.Contains(string(raw), `"code":-32601`) {
				t.Errorf("%s: %d %s %v", method, resp.StatusCode, raw, err)
			}
		}
	}
	for body, want := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`:         http.StatusOK,
		`{"jsonrpc":"2.0","method":"notifications/unknown"}`:     http.StatusAccepted,
		`{"jsonrpc":"2.0","method":"foo/bar","params":[1]}`:      http.StatusAccepted,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`: http.StatusAccepted,
		`{"jsonrpc":"2.0","method":"tools/list"}`:                http.StatusBadRequest,
		`{"jsonrpc":"1.0","method":"foo/bar"}`:                   http.StatusBadRequest,
	} {
		if got := w.plainTools(body, w.test); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}

// plainTools sends a message that the protocol answers, which the inspector doesn't know, and returns the status.
func (w *world) plainTools(body, key string, change ...func(*request)) int {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	client := http.Client{Transport: bearing{key}}
	resp, err := client.Do(toolRequest(body, key, change...).http(ctx, w.base))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get(api.HeaderRequestID) == "" || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Mcp-Session-Id") != "" {
		w.t.Errorf("%v", resp.Header)
	}
	return resp.StatusCode
}

// TestToolsReadNoFiles: a caller can't name a file of the server's machine.
func TestToolsReadNoFiles(t *testing.T) {
	w := newWorld(t, options{tools: true})
	s := w.toolsOf(w.test)
	for _, media := range []string{`{"url":"file:///etc/hostname"}`, `{"path":"/etc/hostname"}`, `"/etc/hostname"`, `"@/etc/hostname"`} {
		got := toolCall(t, s, "image_edit", `{"input":{"prompt":"x","authorization":{"person":"none"},"images":[`+media+`]}}`)
		if !got.IsError || !strings.Contains(said(got), string(fault.InvalidRequest)) {
			t.Errorf("%s: %q", media, said(got))
		}
	}
}

// TestToolsRoom: messages under way share a room, of which an account has half, and give it back.
func TestToolsRoom(t *testing.T) {
	w := newWorld(t, options{tools: true})
	other := w.otherAccountsKey()
	large := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{"x":"` + strings.Repeat("x", 3<<20) + `"}}}`
	}
	for range 6 {
		if got := w.plainTools(large("ping", ""), w.test); got != http.StatusOK {
			t.Fatalf("one after the other: %d", got)
		}
	}
	ctx, hangUp := context.WithCancel(t.Context())
	ended := make(chan struct{}, 2)
	stuck := large("tools/call", `"name":"image_generate","arguments":{"input":{"prompt":"@stuck:running"}},`)
	for range 2 {
		go func() {
			req := toolRequest(stuck, w.test).http(ctx, w.base)
			if resp, err := (&http.Client{Transport: bearing{w.test}}).Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			ended <- struct{}{}
		}()
	}
	w.until("both are at work", func() bool { return len(w.ids(w.test)) == 2 })
	if got := w.toTools(large("ping", "")); got.StatusCode != 503 || got.Header.Get("Retry-After") == "" {
		t.Errorf("past the account's room: %d", got.StatusCode)
	}
	if small, others := w.plainTools(toolsPing, w.test), w.plainTools(large("ping", ""), other); small != 200 || others != 200 {
		t.Errorf("a small one: %d, another account's: %d", small, others)
	}
	hangUp()
	<-ended
	<-ended
	w.until("the room is given back", func() bool { return w.plainTools(large("ping", ""), w.test) == 200 })
}

// TestToolsHaveAnEnd: nothing that a client asks for outlasts the client, and a subscription isn't taken.
func TestToolsHaveAnEnd(t *testing.T) {
	requests := make(chan server.Request, 100)
	w := newWorld(t, options{tools: true, onRequest: func(r server.Request) { requests <- r }})
	const about = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}`
	if got := w.plainTools(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{`+about+`}}}`,
		w.test, with("MCP-Protocol-Version", "2026-07-28"), with("Mcp-Method", "subscriptions/listen")); got != http.StatusNotFound {
		t.Errorf("a subscription: %d", got)
	}
	s := w.toolsOf(w.test)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	left := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "image_generate", Arguments: json.RawMessage(`{"input":{"prompt":"@stuck:running"}}`)})
		left <- err
	}()
	w.until("the task is there", func() bool { return len(w.ids(w.test)) > 0 })
	hangUp()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatalf("a call that is given up: %v", err)
	}
	ended := map[string]int{}
	for deadline := time.After(time.Minute); ended[api.PathMCP] < 3 || ended[api.PathTasks] < 1; { // the one above, the session's and the call
		select {
		case r := <-requests:
			if r.Method == http.MethodPost {
				ended[r.Route]++
			}
		case <-deadline:
			t.Fatalf("the request goes on without its client: %v", ended)
		}
	}
	list := decode[api.TaskList](t, w.do(request{path: api.PathTasks, key: w.test}))
	if len(list.Data) != 1 || list.Data[0].State.Terminal() {
		t.Errorf("the tasks after it: %+v", list.Data)
	}
}

// TestToolsAtShutdown: a call that waits is answered by its task's id when the node goes down. It waits from the first
// news of its task on: until then its answer names its key.
func TestToolsAtShutdown(t *testing.T) {
	w := newWorld(t, options{tools: true})
	heard := make(chan struct{}, 100)
	s := w.toolsBy(w.test, &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { heard <- struct{}{} },
	})
	answer := make(chan *sdk.CallToolResult, 1)
	call := &sdk.CallToolParams{Name: "image_generate", Arguments: json.RawMessage(`{"input":{"prompt":"@stuck:running"}}`)}
	call.SetProgressToken("a token")
	go func() {
		got, err := s.CallTool(t.Context(), call)
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	select {
	case <-heard:
	case <-time.After(time.Minute):
		t.Fatal("no news of the task")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if got := <-answer; got == nil || got.IsError || !strings.Contains(said(got), " is still ") {
		t.Errorf("answered: %+v", got)
	}
}
