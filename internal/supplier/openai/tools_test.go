package openai_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/openai"
	"unitask/internal/supplier/suppliertest"
)

// TestThoughtsReturn: a server sees the thoughts that it gave with a tool call again, and none otherwise.
func TestThoughtsReturn(t *testing.T) {
	for state, want := range map[string][2]any{
		`{"reasoning_content":"Hm.","reasoning_details":[{"type":"a"}]}`: {"Hm.", []any{map[string]any{"type": "a"}}},
		`{"reasoning_content":"Hm."}`:                                    {"Hm.", nil},
		`["of another form"]`:                                            {nil, nil},
		``:                                                               {nil, nil},
	} {
		url, last := foreign(t, suppliertest.JSON(200, chatAnswer))
		a := mustNew(t, supplier.Config{BaseURL: url, Options: map[string]string{openai.OptionFeatures: "tools"}})
		r := suppliertest.ToolTalk("model-1", nil, "")
		if state != "" {
			r.States = map[int]json.RawMessage{1: json.RawMessage(state)}
		}
		if _, err := suppliertest.Send(t, a, r, false); err != nil {
			t.Fatal(err)
		}
		said, _ := last()["messages"].([]any)[1].(map[string]any)
		if diff := cmp.Diff(want, [2]any{said["reasoning_content"], said["reasoning_details"]}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", state, diff)
		}
	}
}

// TestToolsAndModels: what a server isn't known to do, or a model can't, passes it over because of the member.
func TestToolsAndModels(t *testing.T) {
	calls := suppliertest.ToolTalk("m", nil, "")
	calls.Parameters = json.RawMessage(`{}`)
	ask := func(model, parameters string) supplier.Request {
		r := request("text.chat", `{"prompt":"Hi"}`, parameters)
		r.Model = model
		return r
	}
	const unknown = "the server isn't known to "
	for _, tt := range []struct {
		features string
		request  supplier.Request
		want     string
	}{
		{"none", ask("m", `{"tools":[{"name":"a"}]}`), unknown + "call tools (features: tools says that it does)"},
		{"none", calls, unknown + "call tools (features: tools says that it does)"},
		{"tools", calls, ""},
		{"tools", ask("m", `{"tools":[{"name":"a"}]}`), ""},
		{"tools", ask("m", `{"reasoning":"low"}`), unknown + "reason more or less (features: reasoning says that it does)"},
		{"none", ask("m", `{"web_search":true}`), unknown + "search the web (features: web_search says that it does)"},
		{"none", ask("m", `{"web_search":false}`), ""},
		{"reasoning", ask("gpt-4.1-mini", `{"reasoning":"low"}`), "the model doesn't reason"},
		{"reasoning", ask("gpt-4.1-mini", `{"reasoning":"none"}`), ""},
		{"reasoning", ask("gpt-5-mini", `{"reasoning":"none"}`), "the model always reasons"},
		{"reasoning", ask("gpt-5-mini", `{"reasoning":"high"}`), ""},
		{"reasoning", ask("gpt-5.1", `{"reasoning":"none"}`), ""},
		{"web_search", ask("gpt-5.1", `{"web_search":true}`), "the model doesn't search the web in this format"},
		{"web_search", ask("gpt-4o-search-preview", `{"web_search":true}`), ""},
		{"web_search", ask("sonar", `{"web_search":true}`), ""},
		{"web_search json_object", ask("sonar", `{"output_schema":{"type":"object"},"web_search":true}`), "the format searches the web beside no JSON of any form"},
		{"web_search json_object", ask("sonar", `{"output_schema":{"type":"object"},"web_search":false}`), ""},
	} {
		a := mustNew(t, supplier.Config{BaseURL: "http://supplier.example/v1", Options: map[string]string{openai.OptionFeatures: tt.features}})
		if got := supplier.Refuses(openai.Kind(), a, tt.request); got != tt.want {
			t.Errorf("%s %s with %s: %q, want %q", tt.request.Model, tt.request.Parameters, tt.features, got, tt.want)
		}
	}
}

// TestSearchAndAPI: the format's author searches by the Responses API; a request that can't go by it is refused for the
// search, and for the member that keeps it from there.
func TestSearchAndAPI(t *testing.T) {
	const alone = "the model searches the web by the Responses API alone, which has no counterpart for another member of the request"
	for _, tt := range []struct {
		model, parameters, want string
		fields                  []string
	}{
		{"gpt-5.1", `{"web_search":true}`, "", nil},
		{"gpt-4.1-mini", `{"seed":1,"web_search":true}`, "", nil},
		{"gpt-4o-search-preview", `{"web_search":true}`, "", nil},
		{"gpt-4o", `{"stop":["a"]}`, "", nil},
		{"gpt-4o", `{"stop":["a"],"web_search":false}`, "", nil},
		{"gpt-4o", `{"stop":["a"],"web_search":true}`, alone, []string{"parameters.stop", "parameters.web_search"}},
		{"gpt-4o", `{"max_output_tokens":5,"web_search":true}`, alone, []string{"parameters.max_output_tokens", "parameters.web_search"}},
	} {
		r := request("text.chat", `{"prompt":"Hi"}`, tt.parameters)
		r.Model = tt.model
		a := mustNew(t, supplier.Config{BaseURL: "https://api.openai.com/v1"})
		if got := supplier.Refuses(openai.Kind(), a, r); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.model, tt.parameters, got, tt.want)
		}
		if got := supplier.Unhonoured(openai.Kind(), a, r); !slices.Equal(got, tt.fields) {
			t.Errorf("%s %s: because of %q, want %q", tt.model, tt.parameters, got, tt.fields)
		}
	}
}
