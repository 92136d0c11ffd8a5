package suppliertest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/supplier"
)

// ToolCall is one form in which a chat's answer calls tools. Each way of asking must bring a result that says so, with
// the usage that was reported: 9 and 2 tokens.
type ToolCall struct {
	Name   string
	Answer http.Handler
	Stream http.Handler // nil: the form isn't streamed
	Text   string       // beside the calls
	Calls  []supplier.ToolCall
	Cut    bool            // at the limit of tokens
	State  json.RawMessage // nil: none is given
	// Reasoning is the thoughts that are told beside the calls.
	Reasoning string
}

// called is the usage in the answers that call tools.
var called = supplier.Usage{InputTokens: 9, OutputTokens: 2}

// testToolCalls has answers that call tools.
func testToolCalls(t *testing.T, h Harness) {
	chats := slices.Contains(h.Kind.Capabilities, string(catalog.TextChat))
	if chats != (len(h.ToolCalls) > 0 || h.Toolless) {
		t.Errorf("the kind chats: %t; the harness has %d answers that call tools", chats, len(h.ToolCalls))
	}
	for _, c := range h.ToolCalls {
		request := h.Cases[slices.IndexFunc(h.Cases, func(c Case) bool { return c.Request.Capability == string(catalog.TextChat) })].Request
		check := func(t *testing.T, way submitMode, answer http.Handler) {
			srv := serve(t, h, answer, false)
			a := newAdapter(t, h, srv.URL, fixedKey)
			out, err := way.send(t.Context(), a, filled(request))
			if err != nil {
				t.Fatal(err)
			}
			want := &supplier.Result{
				Text: &c.Text, FinishReason: supplier.FinishToolCalls, ToolCalls: c.Calls, Reasoning: c.Reasoning, State: c.State, Usage: called,
			}
			if c.Cut {
				want.FinishReason = "length"
			}
			if diff := cmp.Diff(want, finish(t, h, a, out)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		}
		t.Run(strings.TrimSpace(c.Name+" submit"), func(t *testing.T) { check(t, submitMode{"submit", submitOnce}, c.Answer) })
		if c.Stream != nil {
			t.Run(strings.TrimSpace(c.Name+" stream"), func(t *testing.T) { check(t, submitMode{"stream", streamOnce}, c.Stream) })
		}
	}
}
