package sandbox_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/suppliertest"
)

// TestTools: the sandbox calls the tools that an ask has a word of the name of, or that it must, with arguments that
// fit; and says what they answered.
func TestTools(t *testing.T) {
	const weather = `"tools":` + suppliertest.Tools
	now, place := supplier.ToolCall{Name: "now", Arguments: "{}"}, "get_weather"
	for _, tt := range []struct {
		prompt, parameters string
		calls              []string
		text               string // "" for any
	}{
		{"Say hello.", weather, nil, ""},
		{"What is the weather?", weather, []string{place}, ""},
		{"What is the weather now?", weather, []string{place, now.Name}, ""},
		{"What is the weather now?", weather + `,"parallel_tool_calls":false`, []string{place}, ""},
		{"What is the weather?", weather + `,"tool_choice":"none"`, nil, ""},
		{"What is the weather?", weather + `,"tool_choice":"now"`, []string{now.Name}, ""},
		{"Say hello.", weather + `,"tool_choice":"required"`, []string{place}, ""},
	} {
		r := request("text.chat", `{"prompt":"`+tt.prompt+`"}`, `{`+tt.parameters+`}`)
		got, err := suppliertest.Send(t, mustNew(t, "sandbox", instant), r, true)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range got.ToolCalls {
			names = append(names, c.Name)
			var arguments struct{ Place *string }
			if err := json.Unmarshal([]byte(c.Arguments), &arguments); err != nil || (c.Name == place) != (arguments.Place != nil) {
				t.Errorf("%s: arguments %s of %s", tt.prompt, c.Arguments, c.Name)
			}
		}
		reason := map[bool]string{true: "tool_calls", false: "stop"}[len(names) > 0]
		if diff := cmp.Diff(tt.calls, names); diff != "" || got.FinishReason != reason {
			t.Errorf("%s %s: %s (-want +got):\n%s", tt.prompt, tt.parameters, got.FinishReason, diff)
		}
	}
	got, err := suppliertest.Send(t, mustNew(t, "sandbox", instant), suppliertest.ToolTalk("sandbox", nil, ""), true)
	if want := "get_weather says: Rain\nnow says: Noon"; err != nil || *got.Text != want || len(got.ToolCalls) > 0 {
		t.Errorf("%v after results: %+v, want %q", err, got, want)
	}
}

// TestThoughtsAndPages: thoughts are longer with more effort and count as output, and a search finds a page.
func TestThoughtsAndPages(t *testing.T) {
	before := 0
	for _, effort := range []string{"none", "low", "medium", "high"} {
		r := request("text.chat", `{"prompt":"Why do rivers bend?"}`, `{"reasoning":"`+effort+`","web_search":true}`)
		got, err := suppliertest.Send(t, mustNew(t, "sandbox", instant), r, true)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got.Reasoning); (effort == "none") != (n == 0) || n < before || got.Usage.ReasoningTokens > got.Usage.OutputTokens {
			t.Errorf("%s: %q, %+v", effort, got.Reasoning, got.Usage)
		}
		before = len(got.Reasoning)
		want := []supplier.Citation{{URL: "https://example.com/search?q=rivers", Title: "Pages about rivers"}}
		if diff := cmp.Diff(want, got.Citations); diff != "" || got.Usage.Searches != 1 {
			t.Errorf("%s: (-want +got):\n%s", effort, diff)
		}
	}
}
