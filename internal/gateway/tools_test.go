package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

const offers = `{"capability":"text.chat","input":{"prompt":"x"},"parameters":{"tools":[{"name":"now"},` +
	`{"name":"add","parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}},` +
	`{"name":"put","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}]}}`

// calling is a result with tool calls.
func calling(said string, calls ...supplier.ToolCall) supplier.Result {
	return supplier.Result{Text: &said, FinishReason: supplier.FinishToolCalls, ToolCalls: calls}
}

// TestToolCalls has models call tools: the calls have ids of ours, one that doesn't fit is marked and left as it is, and
// a call that can't be read is the supplier's failure.
func TestToolCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		result supplier.Result
		want   string // with the ids as 0 and 1; "" if it is a failure
	}{
		"fit": {
			calling("Let me see.", supplier.ToolCall{Name: "now"}, supplier.ToolCall{Name: "add", Arguments: `{ "a": 1 }`}),
			`{"text":"Let me see.","tool_calls":[{"id":"0","name":"now","arguments":{}},{"id":"1","name":"add","arguments":{"a":1}}],"finish_reason":"tool_calls"}`,
		},
		"another type": {
			calling("", supplier.ToolCall{Name: "add", Arguments: `{"a":"1"}`}),
			`{"text":"","tool_calls":[{"id":"0","name":"add","arguments":{"a":"1"},"invalid":true}],"finish_reason":"tool_calls"}`,
		},
		"another tool": {
			calling("", supplier.ToolCall{Name: "sub", Arguments: `{}`}),
			`{"text":"","tool_calls":[{"id":"0","name":"sub","arguments":{},"invalid":true}],"finish_reason":"tool_calls"}`,
		},
		"cut": {
			supplier.Result{Text: new(""), FinishReason: "length", ToolCalls: []supplier.ToolCall{{Name: "add", Arguments: `{"a":`}}},
			`{"text":"","tool_calls":[{"id":"0","name":"add","arguments":"{\"a\":","invalid":true}],"finish_reason":"length"}`,
		},
		"a strict tool's":         {calling("", supplier.ToolCall{Name: "put", Arguments: `{"a":1}`}), `{"text":"","tool_calls":[{"id":"0","name":"put","arguments":{"a":1}}],"finish_reason":"tool_calls"}`},
		"unfit for a strict tool": {calling("", supplier.ToolCall{Name: "now"}, supplier.ToolCall{Name: "put", Arguments: `{"a":"1"}`}), ""},
		"cut in a strict tool's": {
			supplier.Result{Text: new(""), FinishReason: "length", ToolCalls: []supplier.ToolCall{{Name: "put", Arguments: `{"a":`}}},
			`{"text":"","tool_calls":[{"id":"0","name":"put","arguments":"{\"a\":","invalid":true}],"finish_reason":"length"}`,
		},
		"thoughts and pages": {
			supplier.Result{Text: new("a"), FinishReason: "stop", Reasoning: "Hm.", Citations: []supplier.Citation{{URL: "https://a.example", Title: "A"}}},
			`{"text":"a","citations":[{"url":"https://a.example","title":"A"}],"reasoning":"Hm.","finish_reason":"stop"}`,
		},
		"without a call": {calling(""), ""},
		"without a name": {calling("", supplier.ToolCall{Arguments: "{}"}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := results(tt.result), results(supplier.Result{Text: new("b"), FinishReason: "stop"})
			inWorld(t, routesOf(first, second), func(w *world) {
				got := w.end(w.create("tool-calls", offers, time.Minute).Task.ID)
				if tt.want == "" {
					w.expect(got, outcome{task.Succeeded, "", got.Cost, []attemptOutcome{
						{"a", task.FailedAttempt, fault.ProviderUnavailable, 0, false}, {"b", task.OK, "", 0, false},
					}})
					return
				}
				if got.Output == nil {
					t.Fatalf("%+v", got.Failure)
				}
				said := string(got.Output.JSON)
				for i := range tt.result.ToolCalls {
					said = strings.Replace(said, callID(got, i), fmt.Sprint(i), 1)
				}
				if diff := cmp.Diff(tt.want, said); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// callID is the id of a tool call of a task's first attempt.
func callID(t task.Task, i int) string { return task.DeriveID("call_", t.ID, fmt.Sprintf("1/%d", i)) }

// TestAnswerSchemaWithTools: an answer that calls tools has no data yet.
func TestAnswerSchemaWithTools(t *testing.T) {
	asks := strings.Replace(offers, `"tools"`, `"output_schema":{"type":"object","properties":{},"additionalProperties":false},"tools"`, 1)
	inWorld(t, routesOf(results(calling("not JSON", supplier.ToolCall{Name: "now"}))), func(w *world) {
		got := w.end(w.create("tools-and-schema", asks, time.Minute).Task.ID)
		if got.Output == nil || strings.Contains(string(got.Output.JSON), `"data"`) {
			t.Errorf("%+v %+v", got.Output, got.Failure)
		}
	})
}

// thinker streams pieces, a second between two.
type thinker struct {
	*script
	pieces []supplier.Delta
	result supplier.Result
}

func (s thinker) Stream(_ context.Context, _ supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	for _, piece := range s.pieces {
		time.Sleep(time.Second)
		delta(piece)
	}
	return supplier.Outcome{Result: &s.result}, nil
}

// TestToolStream tells thoughts, text and tool calls in their order, to each that follows; of a supplier that doesn't
// stream each is told in one piece.
func TestToolStream(t *testing.T) {
	call := func(i int, arguments string) supplier.Delta {
		return supplier.Delta{Calls: []supplier.CallPiece{{Index: i, Name: "now", Arguments: arguments}}}
	}
	result := calling("ab", supplier.ToolCall{Name: "now", Arguments: "{}"}, supplier.ToolCall{Name: "now"})
	result.Reasoning = "Hm. Hm."
	s := thinker{&script{}, []supplier.Delta{
		{Reasoning: "Hm. "}, {Reasoning: "Hm."}, {Text: "a"}, {Text: "b"}, call(0, ""), call(0, "{"), call(0, "}"), call(1, ""),
	}, result}
	inWorld(t, routesOf(s), func(w *world) {
		a := w.open("tool-stream", offers)
		piece := func(i int, arguments string) string {
			return fmt.Sprintf("%d %s now %s", i, callID(a.Task, i), arguments)
		}
		late := make(chan []string)
		go func() {
			time.Sleep(3500 * time.Millisecond)
			late <- pieces(w.t, w.follow(a.Task.ID))
		}()
		first := pieces(w.t, a.Stream)
		want := []string{"?Hm. ", "?Hm.", "a", "b", piece(0, ""), piece(0, "{"), piece(0, "}"), piece(1, "")}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Errorf("first (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(strings.Join(want, ""), strings.Join(<-late, "")); diff != "" {
			t.Errorf("late (-want +got):\n%s", diff)
		}
	})
	slow := results(result)
	slow.takes = time.Second
	inWorld(t, routesOf(slow), func(w *world) {
		a := w.open("tools-at-once", offers)
		want := []string{"?Hm. Hm.", "ab", "0 " + callID(a.Task, 0) + " now {}", "1 " + callID(a.Task, 1) + " now {}"}
		if diff := cmp.Diff(want, pieces(w.t, a.Stream)); diff != "" {
			t.Errorf("of a supplier that doesn't stream (-want +got):\n%s", diff)
		}
	})
}

// pieces reads a stream to its end and returns its pieces in words.
func pieces(t *testing.T, s *gateway.Stream) (told []string) {
	defer s.Close()
	for {
		e, err := s.Next(t.Context(), time.Hour)
		switch c := e.Piece.ToolCall; {
		case err != nil:
			return told
		case c != nil:
			told = append(told, fmt.Sprintf("%d %s %s %s", c.Index, c.ID, c.Name, c.Arguments))
		case e.Piece.Reasoning != "":
			told = append(told, "?"+e.Piece.Reasoning)
		case e.Piece != api.Delta{}:
			told = append(told, e.Piece.Text)
		}
	}
}

// TestAgrees: pieces are of an output only if its thoughts and its text begin with theirs, and it has their tool calls.
func TestAgrees(t *testing.T) {
	o, err := task.Parts{
		Text: new("ab"), Reasoning: "Hm.", FinishReason: "tool_calls",
		ToolCalls: []task.ToolCall{{ID: "call_1", Name: "now", Arguments: json.RawMessage("{}")}},
	}.Output()
	if err != nil {
		t.Fatal(err)
	}
	call := func(id string, index int) api.Delta {
		return api.Delta{ToolCall: &api.CallPiece{ID: id, Index: index, Name: "now"}}
	}
	for _, tt := range []struct {
		told []api.Delta
		want bool
	}{
		{nil, true},
		{[]api.Delta{{Reasoning: "H"}, {Reasoning: "m."}, {Text: "a"}, call("call_1", 0)}, true},
		{[]api.Delta{{Reasoning: "Well"}}, false},
		{[]api.Delta{{Text: "b"}}, false},
		{[]api.Delta{{Text: "abc"}}, false},
		{[]api.Delta{call("call_2", 0)}, false},
		{[]api.Delta{call("call_1", 1)}, false},
	} {
		if got := gateway.Agrees(&o, tt.told...); got != tt.want {
			t.Errorf("%+v: %t", tt.told, got)
		}
	}
}

// remembering gives a state and keeps the states that it gets.
type remembering struct {
	*script
	state json.RawMessage
	got   *map[int]json.RawMessage
}

func (r remembering) Submit(_ context.Context, req supplier.Request) (supplier.Outcome, error) {
	*r.got = req.States
	return supplier.Outcome{Result: &supplier.Result{Text: new("a"), FinishReason: "stop", State: r.state}}, nil
}

// TestState: what a route kept of its answer comes back to it, and to it alone: not to another route, not for another
// account, and not once it was changed.
func TestState(t *testing.T) {
	var got map[int]json.RawMessage
	a := remembering{&script{}, json.RawMessage(`{"signature":"secret"}`), &got}
	inWorld(t, routesOf(a), func(w *world) {
		made := w.end(w.create("first-turn", chat, time.Minute).Task.ID)
		var out struct{ State string }
		if err := json.Unmarshal(made.Output.JSON, &out); err != nil || out.State == "" || strings.Contains(string(made.Output.JSON), "secret") {
			t.Fatalf("%s %v", made.Output.JSON, err)
		}
		ask := func(key, state string, c gate.Caller) map[int]json.RawMessage {
			got = nil
			body := `{"capability":"text.chat","input":{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","state":"` + state + `"},{"role":"user","content":"c"}]}}`
			if _, err := w.g.Create(w.t.Context(), c, gateway.Submission{IdempotencyKey: key, Body: []byte(body), Wait: new(time.Minute)}); err != nil {
				t.Fatal(err)
			}
			return got
		}
		if states := ask("same-route", out.State, w.caller); string(states[1]) != string(a.state) || len(states) != 1 {
			t.Errorf("the same route gets %v", states)
		}
		another := map[bool]string{true: "B", false: "A"}[out.State[0] == 'A']
		if states := ask("changed-state", another+out.State[1:], w.caller); len(states) > 0 {
			t.Errorf("a changed state opens: %v", states)
		}
		other := w.caller
		other.Account.ID, other.Account.Name = "acct_other", "other"
		if err := w.store.PutAccount(w.t.Context(), other.Account); err != nil {
			t.Fatal(err)
		}
		if states := ask("another-account", out.State, other); len(states) > 0 {
			t.Errorf("another account's state opens: %v", states)
		}
		w.apply(gateway.Limits{}, route("text.chat", "b", task.USD, a))
		if states := ask("another-route", out.State, w.caller); len(states) > 0 {
			t.Errorf("another route gets %v", states)
		}
	})
	a.state = json.RawMessage(`"` + strings.Repeat("a", 256<<10) + `"`)
	inWorld(t, routesOf(a), func(w *world) {
		made := w.end(w.create("large-state", chat, time.Minute).Task.ID)
		if made.State != task.Succeeded || strings.Contains(string(made.Output.JSON), "state") {
			t.Errorf("%s of a large state", made.State)
		}
	})
}

// routesOf are routes of text.chat by these adapters, cheapest first.
func routesOf(adapters ...supplier.Adapter) []routing.Route {
	var all []routing.Route
	for i, a := range adapters {
		all = append(all, route("text.chat", string(rune('a'+i)), task.Money(i+1)*task.USD, a))
	}
	return all
}
