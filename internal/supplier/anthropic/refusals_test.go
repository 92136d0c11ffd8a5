package anthropic_test

import (
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/suppliertest"
)

func refusals() []suppliertest.Refusal {
	row := func(name, model, input, parameters string, refused bool) suppliertest.Refusal {
		r := request(input, parameters)
		r.Model = model
		return suppliertest.Refusal{Name: name, Request: r, Refused: refused}
	}
	const prompt = `{"prompt":"Hi"}`
	embed := request(`{"texts":["a"]}`, `{}`)
	embed.Capability = "text.embed"
	return []suppliertest.Refusal{
		{Name: "another capability", Request: embed, Refused: true},
		row("unknown input", "m", `{"prompt":"Hi","image":{}}`, `{}`, true),
		row("a recording", "m", `{"messages":[{"role":"user","content":[{"type":"audio","audio":{}}]}]}`, `{}`, true),
		row("an image", "m", `{"messages":[{"role":"user","content":[{"type":"image","image":{}}]}]}`, `{}`, false),
		row("unknown parameter", "m", prompt, `{"top_k":4}`, true),
		row("assistant's turn", "m", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`, `{}`, true),
		row("user's turn", "m", `{"messages":[{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}`, `{}`, false),
		row("temperature", "claude-haiku-4-5", prompt, `{"temperature":0}`, false),
		row("highest temperature", "claude-haiku-4-5", prompt, `{"temperature":1.0}`, false),
		row("temperature beyond the format", "claude-haiku-4-5", prompt, `{"temperature":1.01}`, true),
		row("temperature and top_p", "claude-haiku-4-5", prompt, `{"temperature":0.2,"top_p":0.9}`, true),
		row("temperature and the default top_p", "claude-haiku-4-5", prompt, `{"temperature":0.2,"top_p":1}`, false),
		row("fixed temperature", "claude-sonnet-5", prompt, `{"temperature":0.2}`, true),
		row("fixed top_p of a dated model", "claude-opus-4-7-20260416", prompt, `{"top_p":0.2}`, true),
		row("the default temperature", "claude-sonnet-5", prompt, `{"temperature":1,"top_p":1}`, false),
		row("fixed temperature of a name with a maker", "anthropic/claude-opus-4.8", prompt, `{"temperature":0.2}`, true),
		row("the generation before", "claude-sonnet-4-6", prompt, `{"temperature":0.2}`, false),
		row("another maker's", "sonnet-5", prompt, `{"temperature":0.2}`, false),
		row("stop", "m", prompt, `{"stop":["\n\nHuman:"]}`, false),
		row("blank stop", "m", prompt, `{"stop":["x","\n\n"]}`, true),
		row("seed is for all", "claude-sonnet-5", prompt, `{"seed":1}`, false),
		row("a tool's turn", "m", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","name":"f","arguments":{}}]},`+
			`{"role":"tool","tool_call_id":"c","content":"b"}]}`, `{}`, false),
		row("reasoning of a model that can't", "claude-3-haiku-20240307", prompt, `{"reasoning":"low"}`, true),
		row("no reasoning of a model that must", "claude-fable-5", prompt, `{"reasoning":"none"}`, true),
		row("little reasoning", "claude-haiku-4-5", prompt, `{"reasoning":"low","max_output_tokens":1024}`, true),
		row("a search of a model that isn't known", "m", prompt, `{"web_search":true}`, true),
		row("no search", "m", prompt, `{"web_search":false}`, false),
	}
}

// TestToolsAndModels: what the format or a model doesn't take passes it over, and the reason says why.
func TestToolsAndModels(t *testing.T) {
	const (
		manual, adaptive, newest = "claude-haiku-4-5", "claude-sonnet-4-6", "claude-opus-5-5"

		tools  = `"tools":[{"name":"now"}]`
		sample = "the model takes no temperature and no top_p"
		forced = "the model can't be made to call a tool"
		mine   = "the format's search of the web is one of the tools that tool_choice is about"
		room   = "the model reasons with 1024 tokens at least, and max_output_tokens leaves none beyond them"
	)
	for _, tt := range []struct{ model, parameters, want string }{
		{manual, `{"reasoning":"low"}`, room},
		{manual, `{"reasoning":"high","max_output_tokens":1024}`, room},
		{manual, `{"reasoning":"high","max_output_tokens":1025}`, ""},
		{adaptive, `{"reasoning":"high","max_output_tokens":1}`, ""},
		{"model-1", `{"reasoning":"low"}`, room},
		{"model-1", `{"reasoning":"none"}`, ""},
		{manual, `{"reasoning":"low","max_output_tokens":2000,"temperature":0.5}`, "the model takes no temperature while it reasons"},
		{adaptive, `{"reasoning":"low","temperature":0.5}`, "the model takes no temperature while it reasons"},
		{adaptive, `{"reasoning":"low","temperature":1}`, ""},
		{adaptive, `{"reasoning":"none","temperature":0.5}`, ""},
		{adaptive, `{"reasoning":"low","top_p":0.9}`, "the model takes no top_p below 0.95 while it reasons"},
		{adaptive, `{"reasoning":"low","top_p":0.95}`, ""},
		{newest, `{"reasoning":"low","top_p":0.95}`, sample},
		{"claude-haiku-5-5", `{"temperature":0.5}`, sample},
		{"claude-mythos-preview", `{"temperature":0.5}`, sample},
		{manual, `{"reasoning":"low","max_output_tokens":2000,"tool_choice":"now",` + tools + `}`, "the model can't be made to call a tool while it reasons"},
		{manual, `{"reasoning":"low","max_output_tokens":2000,"tool_choice":"required",` + tools + `}`, "the model can't be made to call a tool while it reasons"},
		{manual, `{"reasoning":"low","max_output_tokens":2000,"tool_choice":"auto",` + tools + `}`, ""},
		{manual, `{"reasoning":"low","max_output_tokens":2000,"tool_choice":"none",` + tools + `}`, ""},
		{manual, `{"reasoning":"none","tool_choice":"now",` + tools + `}`, ""},
		{adaptive, `{"reasoning":"low","tool_choice":"required",` + tools + `}`, ""},
		{newest, `{"tool_choice":"required",` + tools + `}`, forced},
		{newest, `{"tool_choice":"now",` + tools + `}`, forced},
		{newest, `{"tool_choice":"none",` + tools + `}`, ""},
		{"claude-fable-5", `{"tool_choice":"now",` + tools + `}`, ""},
		{"claude-fable-5-1", `{"tool_choice":"now",` + tools + `}`, forced},
		{"claude-haiku-5-5", `{"tool_choice":"now",` + tools + `}`, ""},
		{"model-1", `{"web_search":true}`, "the model isn't known to search the web"},
		{"claude-3-haiku-20240307", `{"web_search":true}`, "the model isn't known to search the web"},
		{manual, `{"web_search":true}`, ""},
		{manual, `{"web_search":true,"tool_choice":"none",` + tools + `}`, mine},
		{manual, `{"web_search":true,"tool_choice":"required",` + tools + `}`, mine},
		{manual, `{"web_search":true,"tool_choice":"now",` + tools + `}`, ""},
		{manual, `{"web_search":true,"tools":[{"name":"web_search"}]}`, "a tool has the name of the format's search of the web"},
		{manual, `{"tools":[{"name":"web_search"}]}`, ""},
		{manual, `{"tools":[{"name":"a"},{"name":"b","parameters":{"type":"object","anyOf":[{"required":["a"]}]}}]}`, "the format takes no anyOf at the top of a tool's parameters"},
		{manual, `{"tools":[{"name":"b","parameters":{"type":"object","properties":{"a":{"anyOf":[{}]}}}}]}`, ""},
	} {
		r := request(`{"prompt":"Hi"}`, tt.parameters)
		r.Model = tt.model
		var a supplier.Adapter // no setting of one counts
		if got := supplier.Refuses(anthropic.Kind(), a, r); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.model, tt.parameters, got, tt.want)
		}
	}
}
