package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/suppliertest"
)

const (
	thought  = `{"type":"thinking","thinking":"Hm.","signature":"s1"}`
	hidden   = `{"type":"redacted_thinking","data":"r1"}`
	searched = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"go"},"caller":{"type":"direct"}}`
	found    = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","caller":{"type":"direct"},"content":[` +
		`{"type":"web_search_result","url":"https://a.example","title":"A","encrypted_content":"e","page_age":null}]}`
	cited = `{"type":"web_search_result_location","url":"https://a.example","title":"A","cited_text":"Go is.","encrypted_index":"i"}`

	// The tools and the blocks of suppliertest.ToolTalk in this format.
	sentTools = `[{"name":"get_weather","description":"The weather of a place.","input_schema":` + suppliertest.ToolSchema + `},
		{"name":"now","input_schema":` + suppliertest.NoArguments + `}]`
	sentText    = `{"type":"text","text":"Let me see."}`
	sentWeather = `{"type":"tool_use","id":"call_1","name":"get_weather","input":{"place":"Lund"}}`
	sentNow     = `{"type":"tool_use","id":"call_2","name":"now","input":{"arguments":"{now"}}`
	sentResults = `{"type":"tool_result","tool_use_id":"call_1","content":"Rain"},
		{"type":"tool_result","tool_use_id":"call_2","content":[{"type":"text","text":"Noon"}]}`
)

// sentTalk is suppliertest.ToolTalk in this format, with what stands before the assistant's text.
func sentTalk(state string) string {
	return `[{"role":"user","content":"What is it like?"},{"role":"assistant","content":[` + state + sentText + `,` + sentWeather + `,` + sentNow + `]},
		{"role":"user","content":[` + sentResults + `]}]`
}

// toolCases are the cases of tools, of reasoning and of searches.
func toolCases() []suppliertest.Case {
	searchAnswer := `{"id":"msg_1","type":"message","role":"assistant","model":"theirs-1","content":[` + searched + `,` + found + `,
		{"type":"text","text":"It ","citations":null},{"type":"text","text":"is.","citations":[` + cited + `,` + cited + `]}],
		"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null,
		"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2,"cache_creation":null,
			"inference_geo":null,"server_tool_use":{"web_search_requests":1,"web_fetch_requests":0},"service_tier":"standard"}}`
	search := request(`{"prompt":"Hi"}`, `{"reasoning":"low","tools":[{"name":"now"}],"tool_choice":"auto","web_search":true,"parallel_tool_calls":true}`)
	search.Model = "claude-opus-4-7"
	off := request(`{"prompt":"Hi"}`, `{"reasoning":"none","tool_choice":"required","tools":[{"name":"now"}]}`)
	off.Model = "claude-sonnet-5"
	never := suppliertest.ToolTalk("claude-haiku-4-5-20251001", json.RawMessage(`[`+thought+`,`+hidden+`]`), `"max_output_tokens":4000,"reasoning":"medium"`)
	never.Parameters = json.RawMessage(`{"max_output_tokens":4000,"reasoning":"medium"}`)
	return []suppliertest.Case{
		{
			Request: suppliertest.ToolTalk("model-1", nil, `"parallel_tool_calls":false,"tool_choice":"get_weather"`),
			Sends: `{"model":"model-1","max_tokens":1024,"messages":` + sentTalk("") + `,"tools":` + sentTools + `,
				"tool_choice":{"type":"tool","name":"get_weather","disable_parallel_tool_use":true}}`,
			Answer: suppliertest.JSON(200, chatAnswer),
			Want:   hello(), Alike: true,
		},
		{
			Request: never,
			Sends: `{"model":"claude-haiku-4-5-20251001","max_tokens":4000,"messages":` + sentTalk(thought+`,`+hidden+`,`) + `,
				"thinking":{"type":"enabled","budget_tokens":2000},"tool_choice":{"type":"none"},
				"tools":[{"name":"get_weather","input_schema":` + suppliertest.NoArguments + `},{"name":"now","input_schema":` + suppliertest.NoArguments + `}]}`,
			Answer: suppliertest.JSON(200, chatAnswer),
			Want:   hello(), Alike: true,
		},
		{
			Request: off,
			Sends: `{"model":"claude-sonnet-5","max_tokens":1024,"messages":[{"role":"user","content":"Hi"}],"thinking":{"type":"disabled"},
				"tool_choice":{"type":"any"},"tools":[{"name":"now","input_schema":` + suppliertest.NoArguments + `}]}`,
			Answer: suppliertest.JSON(200, chatAnswer),
			Want:   hello(), Alike: true,
		},
		{
			Request: search,
			Sends: `{"model":"claude-opus-4-7","max_tokens":1024,"messages":[{"role":"user","content":"Hi"}],
				"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"},"tool_choice":{"type":"auto"},
				"tools":[{"name":"now","input_schema":` + suppliertest.NoArguments + `},{"type":"web_search_20250305","name":"web_search","max_uses":5}]}`,
			Answer: suppliertest.JSON(200, searchAnswer),
			Want: &supplier.Result{
				Text: new("It is."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2, Searches: 1},
				Citations: []supplier.Citation{{URL: "https://a.example", Title: "A", Text: "Go is."}},
			},
			Alike: true,
		},
	}
}

// sentBy returns the body that a request is sent as, and the beta that it asks for. published holds it against the
// format's document, which lacks what came after it.
func sentBy(t *testing.T, r supplier.Request, published bool) (body map[string]any, beta string) {
	t.Helper()
	var answer http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(b, &body) != nil {
			t.Errorf("request body %q: %v", b, err)
		}
		beta = r.Header.Get("Anthropic-Beta")
		suppliertest.JSON(200, chatAnswer).ServeHTTP(w, r)
	})
	if published {
		answer = suppliertest.Held(t, answer)
	}
	srv := httptest.NewServer(answer)
	defer srv.Close()
	a, err := anthropic.New(supplier.Config{BaseURL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := suppliertest.Send(t, a, r, false); err != nil {
		t.Fatal(err)
	}
	return body, beta
}

// parse reads JSON for a comparison.
func parse(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestStateReturns: what the model thought and searched stands where it stood, and not where it is of no use.
func TestStateReturns(t *testing.T) {
	const manual, adaptive = "claude-haiku-4-5", "claude-opus-4-7"
	const calls = sentText + `,` + sentWeather + `,` + sentNow
	for _, tt := range []struct{ name, model, parameters, state, want string }{
		{"in front", adaptive, `"reasoning":"low"`, `[` + thought + `,` + hidden + `]`, thought + `,` + hidden + `,` + calls},
		{
			"among them", adaptive, `"reasoning":"low"`, `[{"type":"text","length":4},` + thought + `,{"type":"text","length":7},{"type":"tool_use"},` + hidden + `]`,
			`{"type":"text","text":"Let "},` + thought + `,{"type":"text","text":"me see."},` + sentWeather + `,` + hidden + `,` + sentNow,
		},
		{"of another text", adaptive, `"reasoning":"low"`, `[{"type":"text","length":400},` + thought + `]`, sentText + `,` + thought + `,` + sentWeather + `,` + sentNow},
		{"of a negative length", adaptive, `"reasoning":"low"`, `[{"type":"text","length":-4},` + thought + `]`, sentText + `,` + thought + `,` + sentWeather + `,` + sentNow},
		{"of more calls", adaptive, `"reasoning":"low"`, `[{"type":"tool_use"},{"type":"tool_use"},{"type":"tool_use"},` + thought + `]`, sentWeather + `,` + sentNow + `,` + thought + `,` + sentText},
		{"with searches", adaptive, `"reasoning":"low","web_search":true`, `[` + thought + `,` + searched + `,` + found + `]`, thought + `,` + searched + `,` + found + `,` + calls},
		{"without searches", adaptive, `"reasoning":"low"`, `[` + thought + `,` + searched + `,` + found + `]`, thought + `,` + calls},
		{"without thoughts", adaptive, `"reasoning":"none","web_search":true`, `[` + thought + `,` + searched + `,` + found + `]`, searched + `,` + found + `,` + calls},
		{"unasked", adaptive, `"max_output_tokens":9`, `[` + thought + `]`, calls},
		{"unasked, of a model that thinks by itself", "claude-sonnet-5", `"max_output_tokens":9`, `[` + thought + `]`, thought + `,` + calls},
		{"unasked, of a model that isn't known", "model-1", `"max_output_tokens":9`, `[` + thought + `]`, thought + `,` + calls},
		{"with a budget", manual, `"reasoning":"low","max_output_tokens":2000`, `[` + hidden + `]`, hidden + `,` + calls},
		{"of another form", adaptive, `"reasoning":"low"`, `{"reasoning_content":"Hm."}`, calls},
		{"of other elements", adaptive, `"reasoning":"low"`, `["Hm."]`, calls},
		{"of places alone", adaptive, `"reasoning":"low"`, `[{"type":"text","length":4}]`, calls},
		{"none", adaptive, `"reasoning":"low"`, ``, calls},
	} {
		r := suppliertest.ToolTalk(tt.model, nil, tt.parameters)
		if tt.state != "" {
			r.States = map[int]json.RawMessage{1: json.RawMessage(tt.state)}
		}
		body, beta := sentBy(t, r, true)
		got := body["messages"].([]any)[1].(map[string]any)["content"]
		if diff := cmp.Diff(parse(t, `[`+tt.want+`]`), got); diff != "" || beta != "" {
			t.Errorf("%s: beta %q (-want +got):\n%s", tt.name, beta, diff)
		}
	}
}

// TestForgotten: a model with a budget reasons among calls of tools only if what it thought before them is known.
func TestForgotten(t *testing.T) {
	const (
		ask  = `{"content":"Hi","role":"user"}`
		said = `{"content":"Yes?","role":"assistant"}`
		c1   = `{"role":"assistant","tool_calls":[{"arguments":{},"id":"c1","name":"now"}]},{"content":"Noon","role":"tool","tool_call_id":"c1"}`
		c2   = `{"role":"assistant","tool_calls":[{"arguments":{},"id":"c2","name":"now"}]},{"content":"","role":"tool","tool_call_id":"c2"}`
	)
	for _, tt := range []struct {
		name, model, messages string
		states                []int
		want                  any
	}{
		{"known", "claude-haiku-4-5", ask + `,` + c1, []int{1}, "enabled"},
		{"unknown", "claude-haiku-4-5", ask + `,` + c1, nil, nil},
		{"known before the first call", "claude-haiku-4-5", ask + `,` + c1 + `,` + c2, []int{1}, "enabled"},
		{"known before the second call", "claude-haiku-4-5", ask + `,` + c1 + `,` + c2, []int{3}, nil},
		{"of a loop that is over", "claude-haiku-4-5", ask + `,` + c1 + `,` + said + `,` + ask, nil, "enabled"},
		{"of an earlier loop", "claude-haiku-4-5", ask + `,` + c1 + `,` + ask + `,` + c2, []int{4}, "enabled"},
		{"interrupted", "claude-haiku-4-5", ask + `,` + c1 + `,` + ask, nil, nil},
		{"of a model that decides itself", "claude-sonnet-4-6", ask + `,` + c1, nil, "adaptive"},
	} {
		r := request(`{"messages":[`+tt.messages+`]}`, `{"max_output_tokens":4000,"reasoning":"high"}`)
		r.Model, r.States = tt.model, map[int]json.RawMessage{}
		for _, i := range tt.states {
			r.States[i] = json.RawMessage(`[` + thought + `]`)
		}
		body, _ := sentBy(t, r, true)
		got, _ := body["thinking"].(map[string]any)
		if got["type"] != tt.want {
			t.Errorf("%s: thinking %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestResultsJoin: the results of calls and what the user says after them are one message; a blank one has no content.
func TestResultsJoin(t *testing.T) {
	r := request(`{"messages":[{"content":"Hi","role":"user"},
		{"content":" ","role":"assistant","tool_calls":[{"arguments":{},"id":"c1","name":"now"},{"arguments":{},"id":"c2","name":"now"}]},
		{"content":"","role":"tool","tool_call_id":"c2"},{"content":"Noon","role":"tool","tool_call_id":"c1"},
		{"content":"And?","role":"user"},{"content":[{"text":"Well?","type":"text"}],"role":"user"},{"content":"Yes?","role":"assistant"},{"content":"No","role":"user"}]}`,
		`{"tools":[{"name":"now"}]}`)
	body, _ := sentBy(t, r, true)
	want := parse(t, `[{"role":"user","content":"Hi"},
		{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"now","input":{}},{"type":"tool_use","id":"c2","name":"now","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2"},{"type":"tool_result","tool_use_id":"c1","content":"Noon"},
			{"type":"text","text":"And?"},{"type":"text","text":"Well?"}]},
		{"role":"assistant","content":"Yes?"},{"role":"user","content":"No"}]`)
	if diff := cmp.Diff(want, body["messages"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if body["tool_choice"] != nil {
		t.Errorf("tool_choice %v", body["tool_choice"])
	}
}

// TestThoughtsBound: a model that binds its thoughts to what stands before them drops those that don't fit, where it
// would refuse the request otherwise. The document lacks that beta.
func TestThoughtsBound(t *testing.T) {
	const drop = `"block_binding":{"prefix_mismatch_behavior":"drop_block"}}`
	for _, tt := range []struct{ model, parameters, state, want, beta string }{
		{"claude-opus-5-5", `"max_output_tokens":9`, `[` + thought + `]`, `{"type":"adaptive",` + drop, "thinking-binding-controls-2026-08-01"},
		{"claude-haiku-5-5", `"reasoning":"high"`, `[` + thought + `]`, `{"type":"adaptive","display":"summarized",` + drop, "thinking-binding-controls-2026-08-01"},
		{"claude-sonnet-5-5", `"reasoning":"none"`, `[` + thought + `]`, `{"type":"between_tools"}`, ""},
		{"claude-opus-5-5", `"max_output_tokens":9`, ``, `null`, ""},
		{"claude-opus-5", `"max_output_tokens":9`, `[` + thought + `]`, `null`, ""},
	} {
		r := suppliertest.ToolTalk(tt.model, nil, tt.parameters)
		if tt.state != "" {
			r.States = map[int]json.RawMessage{1: json.RawMessage(tt.state)}
		}
		body, beta := sentBy(t, r, false)
		if diff := cmp.Diff(parse(t, tt.want), body["thinking"]); diff != "" || beta != tt.beta {
			t.Errorf("%s %s: beta %q (-want +got):\n%s", tt.model, tt.parameters, beta, diff)
		}
	}
}

// TestChoices: a choice among tools has its own form, and so has one call at a time, which needs a choice.
func TestChoices(t *testing.T) {
	for parameters, want := range map[string]string{
		``:                             `null`,
		`"tool_choice":"auto",`:        `{"type":"auto"}`,
		`"tool_choice":"none",`:        `{"type":"none"}`,
		`"tool_choice":"required",`:    `{"type":"any"}`,
		`"tool_choice":"get_weather",`: `{"type":"tool","name":"get_weather"}`,
		`"parallel_tool_calls":true,`:  `null`,
		`"parallel_tool_calls":false,`: `{"type":"auto","disable_parallel_tool_use":true}`,
		`"parallel_tool_calls":false,"tool_choice":"auto",`:     `{"type":"auto","disable_parallel_tool_use":true}`,
		`"parallel_tool_calls":false,"tool_choice":"none",`:     `{"type":"none"}`,
		`"parallel_tool_calls":false,"tool_choice":"required",`: `{"type":"any","disable_parallel_tool_use":true}`,
		`"parallel_tool_calls":true,"tool_choice":"required",`:  `{"type":"any"}`,
	} {
		body, _ := sentBy(t, request(`{"prompt":"Hi"}`, `{`+parameters+`"tools":`+suppliertest.Tools+`}`), true)
		if diff := cmp.Diff(parse(t, want), body["tool_choice"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", parameters, diff)
		}
	}
}

// TestGenerations: each generation of models is asked to think, or not to, in its own way.
func TestGenerations(t *testing.T) {
	const (
		unsaid  = `{}`
		low     = `{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}}`
		lowest  = `{"thinking":{"type":"enabled","budget_tokens":1024}}`
		off     = `{"thinking":{"type":"disabled"}}`
		between = `{"thinking":{"type":"between_tools"}}`
	)
	const noneOf = "the model always reasons"
	for _, tt := range []struct{ model, none, low string }{
		{"claude-3-haiku-20240307", unsaid, "the model doesn't reason"},
		{"claude-3-5-sonnet-latest", unsaid, "the model doesn't reason"},
		{"claude-3-7-sonnet-20250219", unsaid, lowest},
		{"claude-opus-4-0", unsaid, lowest},
		{"claude-sonnet-4-20250514", unsaid, lowest},
		{"claude-haiku-4-5@20251001", unsaid, lowest},
		{"anthropic/claude-opus-4.5", unsaid, lowest},
		{"claude-opus-4-6", unsaid, low},
		{"claude-sonnet-4-6", unsaid, low},
		{"claude-mythos-preview", noneOf, low},
		{"claude-opus-4-8-20260601", unsaid, low},
		{"claude-opus-5", off, low},
		{"claude-sonnet-5", off, low},
		{"claude-haiku-5-5", off, low},
		{"claude-sonnet-5-5", between, low},
		{"claude-opus-5-5", noneOf, low},
		{"claude-fable-5", noneOf, low},
		{"claude-fable-5-2", noneOf, low},
		{"model-1", off, lowest},
	} {
		for reasoning, want := range map[string]string{"": unsaid, "none": tt.none, "low": tt.low} {
			parameters := `{"max_output_tokens":2000}`
			if reasoning != "" {
				parameters = `{"max_output_tokens":2000,"reasoning":"` + reasoning + `"}`
			}
			r := request(`{"prompt":"Hi"}`, parameters)
			r.Model = tt.model
			if why := anthropic.Kind().Refuses(r); why != "" || want[0] != '{' {
				if why != want {
					t.Errorf("%s, reasoning %q: %q, want %q", tt.model, reasoning, why, want)
				}
				continue
			}
			body, _ := sentBy(t, r, want != between)
			for _, name := range []string{"model", "max_tokens", "messages"} {
				delete(body, name)
			}
			if diff := cmp.Diff(parse(t, want), any(body)); diff != "" {
				t.Errorf("%s, reasoning %q (-want +got):\n%s", tt.model, reasoning, diff)
			}
		}
	}
}
