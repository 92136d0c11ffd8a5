package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/gemini"
	"unitask/internal/supplier/suppliertest"
)

// searched is an answer that rests on two pages, as the events of a stream: they repeat each other.
var searched = []string{
	`{"candidates":[{"content":{"parts":[{"text":"Hello."}]},"groundingMetadata":{"webSearchQueries":["hello","","hi"],` +
		`"groundingChunks":[{"web":{"uri":"https://a.example","title":"A"}},{"maps":{"uri":"https://m.example"}}]}}]}`,
	`{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["hi"],` +
		`"groundingChunks":[{"web":{"uri":"https://a.example","title":"A"}},{"web":{}},{"web":{"uri":"https://b.example"}}],` +
		`"groundingSupports":[{"segment":{"startIndex":0,"endIndex":3,"text":"Hel"},"groundingChunkIndices":[0,1,9]},` +
		`{"segment":{"text":"lo."},"groundingChunkIndices":[0]},{"segment":{"text":"Hel"},"groundingChunkIndices":[0]}]}}],` +
		`"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"toolUsePromptTokenCount":4}}`,
}

// found is the result of searched, with so many searches.
func found(searches int64) *supplier.Result {
	return &supplier.Result{
		Text: new("Hello."), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2, Searches: searches},
		Citations: []supplier.Citation{
			{URL: "https://a.example", Title: "A", Text: "Hel"}, {URL: "https://a.example", Title: "A", Text: "lo."}, {URL: "https://b.example"},
		},
	}
}

// unsigned is the word of Google's that stands for a missing signature, in base64.
var unsigned = base64Of([]byte("skip_thought_signature_validator"))

// toolCases are chats with tools, thoughts and a search.
func toolCases() []suppliertest.Case {
	const tools = `"tools":[{"functionDeclarations":[
		{"name":"get_weather","description":"The weather of a place.","parametersJsonSchema":` + suppliertest.ToolSchema + `},
		{"name":"now","description":"now","parametersJsonSchema":` + suppliertest.NoArguments + `}]}]`
	results := func(text, first string) string {
		return `"contents":[{"role":"user","parts":[{"text":"What is it like?"}]},
			{"role":"model","parts":[{"text":"Let me see."` + text + `},
				{"functionCall":{"id":"call_1","name":"get_weather","args":{"place":"Lund"}},"thoughtSignature":"` + first + `"},
				{"functionCall":{"id":"call_2","name":"now","args":{"arguments":"{now"}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"get_weather","response":{"result":"Rain"}}},
				{"functionResponse":{"id":"call_2","name":"now","response":{"result":"Noon"}}}]}]`
	}
	whole := strings.NewReplacer(`"finishReason":"STOP",`, ``, `{"text":""}`, `{"text":"Hello."}`).Replace(searched[1])
	whole = strings.Replace(whole, `["hi"]`, `["hello","","hi","hello"]`, 1)
	return []suppliertest.Case{
		{
			Request: suppliertest.ToolTalk("model-1", nil, `"tool_choice":"get_weather","parallel_tool_calls":true`),
			Sends: `{` + results("", unsigned) + `,` + tools + `,
				"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["get_weather"]}}}`,
			Answer: suppliertest.JSON(200, chatAnswer), Want: hello(),
		},
		{
			Request: suppliertest.ToolTalk("gemini-3-flash-preview",
				json.RawMessage(`{"text":"dGV4dA==","calls":[{"call":0,"signature":"Zmlyc3Q="}]}`), `"tool_choice":"required","reasoning":"low"`),
			Sends: `{` + results(`,"thoughtSignature":"dGV4dA=="`, "Zmlyc3Q=") + `,` + tools + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},
				"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}}`,
			Answer: suppliertest.JSON(200, chatAnswer), Want: hello(),
		},
		{
			Request: request("text.chat", `{"prompt":"Hi"}`, `{"web_search":true}`),
			Sends:   `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"tools":[{"googleSearch":{}}]}`,
			Answer:  suppliertest.JSON(200, whole), Stream: suppliertest.Events(searched...), Want: found(2),
		},
	}
}

// sent returns what is sent of a request, as JSON.
func sent(t *testing.T, r supplier.Request) (body map[string]any) {
	t.Helper()
	a := suppliertest.Answered(t, gemini.Kind(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, chatAnswer)
	}))
	if _, err := suppliertest.Send(t, a, r, false); err != nil {
		t.Fatal(err)
	}
	return body
}

// TestThinking: a model's own form of a level, within the bound of all tokens; "" of why is for what is sent.
func TestThinking(t *testing.T) {
	const always, never = "the model always thinks", "the model doesn't think"
	type config = map[string]any
	level := func(s string) config { return config{"includeThoughts": true, "thinkingLevel": s} }
	budget := func(n float64) config { return config{"includeThoughts": true, "thinkingBudget": n} }
	for _, tt := range []struct {
		model, parameters string
		want              config
		why               string
	}{
		{"gemini-3-flash-preview", `{}`, nil, ""},
		{"gemini-3-flash-preview", `{"reasoning":"medium","max_output_tokens":10}`, level("MEDIUM"), ""},
		{"gemini-flash-latest", `{"reasoning":"high"}`, level("HIGH"), ""},
		{"gemini-3.1-pro-preview", `{"reasoning":"none"}`, nil, always},
		{"gemini-3-pro-preview", `{"reasoning":"low"}`, level("LOW"), ""},
		{"gemini-3-pro-preview", `{"reasoning":"medium"}`, nil, "the model has no such level of thought; its levels: low, high"},
		{"gemini-2.5-pro", `{"reasoning":"none"}`, nil, always},
		{"gemini-2.5-pro", `{"reasoning":"high"}`, budget(24576), ""},
		{"gemini-2.5-pro", `{"reasoning":"low","max_output_tokens":200}`, budget(128), ""},
		{"gemini-2.5-pro", `{"reasoning":"low","max_output_tokens":128}`, nil, "the model thinks with at least 128 of max_output_tokens"},
		{"gemini-2.5-flash", `{"reasoning":"none","max_output_tokens":1}`, config{"thinkingBudget": 0.0}, ""},
		{"gemini-2.5-flash", `{"reasoning":"medium","max_output_tokens":9000}`, budget(4500), ""},
		{"gemini-2.5-flash", `{"reasoning":"low","max_output_tokens":1}`, nil, "the model thinks with at least 1 of max_output_tokens"},
		{"gemini-2.5-flash-lite", `{"reasoning":"low","max_output_tokens":600}`, budget(512), ""},
		{"gemini-2.5-flash-lite", `{"reasoning":"medium","max_output_tokens":100000}`, budget(8192), ""},
		{"gemini-2.0-flash", `{"reasoning":"none"}`, nil, ""},
		{"gemini-2.0-flash", `{"reasoning":"low"}`, nil, never},
		{"gemma-3-27b-it", `{"reasoning":"none"}`, nil, ""},
		{"gemma-3-27b-it", `{"reasoning":"high"}`, nil, never},
		{"gemma-4-31b-it", `{"reasoning":"none"}`, config{"thinkingLevel": "MINIMAL"}, ""},
		{"gemma-4-31b-it", `{"reasoning":"high"}`, level("HIGH"), ""},
		{"gemma-4-31b-it", `{"reasoning":"low"}`, nil, "the model has no such level of thought; its levels: high"},
	} {
		r := request("text.chat", `{"prompt":"Hi"}`, tt.parameters)
		r.Model = tt.model
		if why := gemini.Kind().Refuses(r); why != tt.why {
			t.Errorf("%s %s: refused because %q, want %q", tt.model, tt.parameters, why, tt.why)
		}
		if tt.why != "" {
			continue
		}
		general, _ := sent(t, r)["generationConfig"].(map[string]any)
		got, _ := general["thinkingConfig"].(config)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.model, tt.parameters, diff)
		}
	}
}

// TestToolsAndModels: what a model can't do excludes it.
func TestToolsAndModels(t *testing.T) {
	const (
		tools  = `"tools":[{"name":"a"}]`
		search = `"web_search":true`
		schema = `"output_schema":` + suppliertest.AnswerSchema
		both   = "the model takes no output_schema beside tools or a web search"
		none   = "the model calls no tools"
	)
	ask := func(model string, parameters ...string) supplier.Request {
		r := request("text.chat", `{"prompt":"Hi"}`, `{`+strings.Join(parameters, ",")+`}`)
		r.Model = model
		return r
	}
	past := suppliertest.ToolTalk("gemma-3-27b-it", nil, "")
	past.Parameters = json.RawMessage(`{}`)
	for _, tt := range []struct {
		request supplier.Request
		want    string
	}{
		{ask("gemini-3-flash-preview", schema, tools), ""},
		{ask("gemini-3-flash-preview", schema, search), ""},
		{ask("gemini-3-flash-preview", search, tools), "the format takes no web search beside tools"},
		{ask("gemini-3-flash-preview", tools, `"parallel_tool_calls":true`), ""},
		{ask("gemini-3-flash-preview", tools, `"parallel_tool_calls":false`), "the format can't ask for one tool call at a time"},
		{ask("gemini-2.5-flash", schema), ""},
		{ask("gemini-2.5-flash", tools), ""},
		{ask("gemini-2.5-flash", schema, tools), both},
		{ask("gemini-2.5-flash", schema, search), both},
		{ask("gemini-2.5-flash", schema, `"web_search":false`), ""},
		{ask("gemini-2.5-flash-image", tools), none},
		{ask("gemini-1.5-pro", tools), ""},
		{ask("gemini-1.5-pro", search), "the model doesn't search the web"},
		{ask("gemini-2.0-flash", search), ""},
		{ask("gemma-3-27b-it", tools), none},
		{ask("gemma-4-31b-it", tools), ""},
		{past, none},
		{ask("gemini-2.5-flash", `"tools":1`), ""}, // is refused when it is made
	} {
		if got := gemini.Kind().Refuses(tt.request); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.request.Model, tt.request.Parameters, got, tt.want)
		}
	}
}

// TestSignatures: only the models that ask for a signature get one that isn't theirs, and only at a message's first call.
func TestSignatures(t *testing.T) {
	for _, tt := range []struct {
		model, state string
		want         []any // of the message's parts
	}{
		{"gemini-3.1-pro-preview", ``, []any{nil, unsigned, nil}},
		{"gemini-3.1-pro-preview", `["of another form"]`, []any{nil, unsigned, nil}},
		{"gemini-3.1-pro-preview", `{"calls":[{"call":1,"signature":"c2Vj"}]}`, []any{nil, unsigned, "c2Vj"}},
		{"gemini-2.5-flash", ``, []any{nil, nil, nil}},
		{"gemini-2.5-flash", `{"text":"dGV4dA=="}`, []any{"dGV4dA==", nil, nil}},
	} {
		r := suppliertest.ToolTalk(tt.model, nil, "")
		if tt.state != "" {
			r.States = map[int]json.RawMessage{1: json.RawMessage(tt.state)}
		}
		var got []any
		for _, p := range sent(t, r)["contents"].([]any)[1].(map[string]any)["parts"].([]any) {
			got = append(got, p.(map[string]any)["thoughtSignature"])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s with %s (-want +got):\n%s", tt.model, tt.state, diff)
		}
	}
}

// TestToolResults: results are an object each, and those of one message one content.
func TestToolResults(t *testing.T) {
	const calls = `{"messages":[{"content":"Hi","role":"user"},{"content":" ","role":"assistant","tool_calls":[` +
		`{"arguments":{},"id":"a","name":"f"},{"arguments":{},"id":"b","name":"g"},{"arguments":{},"id":"c","name":"f"}]},`
	result := func(name, id, response string) string {
		return `{"functionResponse":{"id":"` + id + `","name":"` + name + `","response":` + response + `}}`
	}
	r := request("text.chat", calls+`{"content":"{\"a\": 1}","role":"tool","tool_call_id":"b"},{"content":[{"text":"[1]","type":"text"},{"text":" ","type":"text"}],"role":"tool","tool_call_id":"a"},`+
		`{"content":"{\"a\":1,\"a\":2}","role":"tool","tool_call_id":"c"},{"content":"And?","role":"user"}]}`, `{}`)
	r.Model = "gemini-2.5-flash"
	var want any
	if err := json.Unmarshal([]byte(`[{"role":"user","parts":[{"text":"Hi"}]},
		{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"b","name":"g","args":{}}},{"functionCall":{"id":"c","name":"f","args":{}}}]},
		{"role":"user","parts":[`+result("g", "b", `{"a":1}`)+`,`+result("f", "a", `{"result":"[1]\n "}`)+`,`+result("f", "c", `{"result":"{\"a\":1,\"a\":2}"}`)+`]},
		{"role":"user","parts":[{"text":"And?"}]}]`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, sent(t, r)["contents"]); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
}

// TestSearches: a search with a model before the series 3 counts once, however many queries it has.
func TestSearches(t *testing.T) {
	for model, want := range map[string]int64{"gemini-3-flash-preview": 2, "gemini-2.5-flash": 1} {
		r := request("text.chat", `{"prompt":"Hi"}`, `{"web_search":true}`)
		r.Model = model
		got, err := suppliertest.Send(t, suppliertest.Answered(t, gemini.Kind(), suppliertest.Events(searched...)), r, true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(found(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
	}
}
