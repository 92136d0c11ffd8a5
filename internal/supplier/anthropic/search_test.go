package anthropic_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/anthropic"
	"unitask/internal/supplier/suppliertest"
)

// TestSearches: the server's searches are no calls of the caller's tools, whose answers remember what was found.
func TestSearches(t *testing.T) {
	const (
		call  = `{"type":"tool_use","id":"c","name":"now","input":{}}`
		said  = `{"type":"text","text":"It is.","citations":[` + cited + `]}`
		usage = `"usage":{"input_tokens":9,"output_tokens":2,"server_tool_use":{"web_search_requests":1}}`
	)
	begin := func(index, block string) string {
		return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
	}
	add := func(index, delta string) string {
		return `{"type":"content_block_delta","index":` + index + `,"delta":{` + delta + `}}`
	}
	const asked = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{},"caller":{"type":"direct"}}`
	events := []string{
		begin("0", thought), begin("1", asked), add("1", `"type":"input_json_delta","partial_json":"{\"query\":"`), add("1", `"type":"input_json_delta","partial_json":"\"go\"}"`),
		`{"type":"content_block_stop","index":1}`, begin("2", found), begin("3", `{"type":"text","text":"It is."}`), add("3", `"type":"citations_delta","citation":`+cited),
	}
	whole := func(reason, more string) http.Handler {
		return suppliertest.JSON(200, `{"content":[`+thought+`,`+searched+`,`+found+`,`+said+more+`],"stop_reason":"`+reason+`",`+usage+`}`)
	}
	streamed := func(reason string, more ...string) http.Handler {
		all := append(append([]string{}, events...), more...)
		return suppliertest.Events(append(all, `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"},`+usage+`}`, `{"type":"message_stop"}`)...)
	}
	result := func(reason string) supplier.Result {
		return supplier.Result{
			Text: new("It is."), FinishReason: reason, Reasoning: "Hm.", Citations: []supplier.Citation{{URL: "https://a.example", Title: "A", Text: "Go is."}},
			Usage: supplier.Usage{InputTokens: 9, OutputTokens: 2, Searches: 1},
		}
	}
	called := result(supplier.FinishToolCalls)
	called.ToolCalls = []supplier.ToolCall{{Name: "now", Arguments: "{}"}}
	called.State = json.RawMessage(`[` + thought + `,` + searched + `,` + found + `]`)
	r := request(`{"prompt":"Hi"}`, `{"tools":[{"name":"now"}],"web_search":true}`)
	r.Model = "claude-sonnet-5"
	for _, tt := range []struct {
		name   string
		answer http.Handler
		stream bool
		want   supplier.Result
	}{
		{"alone", whole("end_turn", ""), false, result("stop")},
		{"alone, streamed", streamed("end_turn"), true, result("stop")},
		{"without end", whole("pause_turn", `,`+searched), false, result("length")},
		{"with a call", whole("tool_use", `,`+call), false, called},
		{"with a call, streamed", streamed("tool_use", begin("4", call), add("4", `"type":"input_json_delta","partial_json":"{}"`)), true, called},
	} {
		got, err := suppliertest.Send(t, suppliertest.Answered(t, anthropic.Kind(), tt.answer), r, tt.stream)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got.State != nil {
			got.State = compacted(t, got.State)
		}
		want := tt.want
		if want.State != nil {
			want.State = compacted(t, want.State)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// compacted returns JSON in one form, whatever its order.
func compacted(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(parse(t, string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
