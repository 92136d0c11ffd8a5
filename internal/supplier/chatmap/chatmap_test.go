package chatmap_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/supplier"
	"unitask/internal/supplier/chatmap"
)

const recipe = "../../../docs/recipes/text.extract/"

// chat is an adapter that notes the chats that it gets, and answers.
type chat struct {
	got    []supplier.Request
	answer supplier.Outcome
	err    error
}

func (c *chat) Submit(_ context.Context, r supplier.Request) (supplier.Outcome, error) {
	c.got = append(c.got, r)
	return c.answer, c.err
}

func (c *chat) Stream(ctx context.Context, r supplier.Request, delta func(supplier.Delta)) (supplier.Outcome, error) {
	delta(supplier.Delta{Text: "streamed"})
	return c.Submit(ctx, r)
}

func (c *chat) Probe(context.Context) (bool, error) { return true, os.ErrInvalid }

// kind chats, and refuses a temperature.
var kind = supplier.Kind{Name: "chats", Capabilities: []string{"text.chat"}, Chats: true, Refuses: func(r supplier.Request) string {
	if strings.Contains(string(r.Parameters), "temperature") {
		return "parameter temperature has no counterpart in this format"
	}
	return ""
}}

// wrap returns the recipe's map around an adapter, and the recipe's capability.
func wrap(t *testing.T, inner supplier.Adapter, files ...string) (supplier.Kind, supplier.Adapter, catalog.Capability) {
	t.Helper()
	if files == nil {
		files = []string{recipe + "chats.yaml"}
	}
	k, a, err := chatmap.Wrap(kind, inner, files)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := os.ReadFile(recipe + "capability.yaml")
	if err != nil {
		t.Fatal(err)
	}
	directory, err := catalog.Load(overlay)
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := directory.Get("text.extract")
	return k, a, entry
}

func request(c catalog.Capability, input, parameters string) supplier.Request {
	r := supplier.NewRequest(c, json.RawMessage(input), json.RawMessage(parameters))
	r.Model, r.SubmitKey = "model-1", "task_1/1"
	return r
}

// TestMapped has the recipe's requests become chats that ask for JSON of its output schema, and answers its output.
func TestMapped(t *testing.T) {
	answer := supplier.Outcome{Result: &supplier.Result{Text: new(`{"a":1}`), FinishReason: "stop", Usage: supplier.Usage{InputTokens: 3}}}
	for name, tt := range map[string]struct{ input, parameters, chat, limit string }{
		"plain": {
			`{"text":"Ada sold it."}`, `{}`,
			`{"prompt":"Ada sold it.","system":"You extract facts from a text. Use the words of the text alone, and leave out what it doesn't say."}`, "1024",
		},
		"all": {
			`{"about":"money","text":"Ada sold it."}`, `{"max_output_tokens":300}`,
			`{"prompt":"Ada sold it.","system":"You extract facts from a text. Use the words of the text alone, and leave out what it doesn't say. What matters most: money"}`, "300",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inner := &chat{answer: answer}
			k, a, entry := wrap(t, inner)
			r := request(entry, tt.input, tt.parameters)
			if why := supplier.Refuses(k, a, r); why != "" || !a.(supplier.Modeler).Knows("text.extract", "any") {
				t.Fatalf("refused: %q", why)
			}
			out, err := a.(supplier.Streamer).Stream(t.Context(), r, func(supplier.Delta) { t.Error("an answer that is no text was streamed") })
			if err != nil {
				t.Fatal(err)
			}
			want := &supplier.Result{Data: json.RawMessage(`{"a":1}`), Usage: supplier.Usage{InputTokens: 3}}
			if diff := cmp.Diff(want, out.Result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			got := inner.got[0]
			var sent struct {
				Limit  json.RawMessage `json:"max_output_tokens"`
				Schema json.RawMessage `json:"output_schema"`
			}
			if err := json.Unmarshal(got.Parameters, &sent); err != nil {
				t.Fatal(err)
			}
			if got.Capability != "text.chat" || got.Model != "model-1" || got.SubmitKey != "task_1/1" || string(got.Input) != tt.chat || string(sent.Limit) != tt.limit {
				t.Errorf("chat %+v, input %s, limit %s", got, got.Input, sent.Limit)
			}
			if !alike(t, sent.Schema, entry.OutputSchema) {
				t.Errorf("schema %s", sent.Schema)
			}
		})
	}
}

func alike(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var left, right any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		t.Fatal("no JSON")
	}
	return cmp.Equal(left, right)
}

// TestOwn passes the kind's own capabilities through as they are.
func TestOwn(t *testing.T) {
	inner := &chat{answer: supplier.Outcome{Result: &supplier.Result{Text: new("hi"), FinishReason: "stop"}}}
	k, a, _ := wrap(t, inner)
	r := supplier.Request{Capability: "text.chat", Model: "model-1", Input: json.RawMessage(`{"prompt":"x"}`), Parameters: json.RawMessage(`{}`)}
	told := ""
	out, err := a.(supplier.Streamer).Stream(t.Context(), r, func(d supplier.Delta) { told += d.Text })
	if err != nil || told != "streamed" || *out.Result.Text != "hi" || out.Result.FinishReason != "stop" {
		t.Errorf("%+v, %v, told %q", out.Result, err, told)
	}
	if diff := cmp.Diff([]supplier.Request{r}, inner.got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Parameters = json.RawMessage(`{"temperature":1}`)
	if why := supplier.Refuses(k, a, r); !strings.Contains(why, "temperature") {
		t.Errorf("refused: %q", why)
	}
	if keyed, err := a.(supplier.Prober).Probe(t.Context()); !keyed || !errors.Is(err, os.ErrInvalid) {
		t.Errorf("probe: %v", err)
	}
	if _, is := a.(supplier.Poller); is {
		t.Error("it polls")
	}
	if own, mapped := a.(supplier.Templater).Template("text.chat", "m"), a.(supplier.Templater).Template("text.extract", "m"); own != 0 || mapped < 200 {
		t.Errorf("templates of %d and %d bytes", own, mapped)
	}
}

// TestUnmappable names what a map can't honour, and sends nothing.
func TestUnmappable(t *testing.T) {
	bare := write(t, `models:
  - {model: model-1, capability: text.extract, as: text.chat, honours: [input.text], input: '{prompt: .input.text}', parameters: '{temperature: 0.5}'}
  - {model: model-2, capability: text.extract, as: text.chat, honours: [input.text], input: '{prompt: .input.text, messages: []}'}
  - {model: model-3, capability: text.extract, as: text.chat, honours: [input.text], input: '.input.text'}
  - {model: model-4, capability: text.extract, as: text.chat, honours: [input.text], input: '{prompt: (.input.text | tonumber)}'}
`)
	for name, tt := range map[string]struct{ model, input, parameters, want string }{
		"a member without a counterpart": {"model-1", `{"about":"money","text":"a"}`, `{}`, "input about has no counterpart"},
		"a parameter without one":        {"model-1", `{"text":"a"}`, `{"max_output_tokens":99}`, "parameter max_output_tokens has no counterpart"},
		"a chat that the kind refuses":   {"model-1", `{"text":"a"}`, `{}`, "parameter temperature has no counterpart"},
		"a chat that is none":            {"model-2", `{"text":"a"}`, `{}`, "the map makes no valid chat"},
		"a text in its place":            {"model-3", `{"text":"a"}`, `{}`, "the map's program gives no object"},
		"a program that fails":           {"model-4", `{"text":"secret"}`, `{}`, "the program failed"},
		"a model without a map":          {"model-5", `{"text":"a"}`, `{}`, "the model has no map for the capability"},
	} {
		t.Run(name, func(t *testing.T) {
			inner := &chat{}
			k, a, entry := wrap(t, inner, bare)
			r := request(entry, tt.input, tt.parameters)
			r.Model = tt.model
			why := supplier.Refuses(k, a, r)
			if !strings.Contains(why, tt.want) || strings.Contains(why, "secret") {
				t.Errorf("refused: %q, want %q", why, tt.want)
			}
			if name == "a chat that the kind refuses" {
				return // which is asked before
			}
			if _, err := a.Submit(t.Context(), r); supplier.AsError(err).Sent != supplier.NotSent || len(inner.got) > 0 {
				t.Errorf("%v after %d chats", err, len(inner.got))
			}
		})
	}
}

// TestAnswerWithoutText has answers that are no JSON, or no answer: the gateway gets them as they are, or a failure.
func TestAnswerWithoutText(t *testing.T) {
	cut := &chat{answer: supplier.Outcome{Result: &supplier.Result{Text: new(`{"a":`), FinishReason: "length"}}}
	_, a, entry := wrap(t, cut)
	r := request(entry, `{"text":"a"}`, `{}`)
	if out, err := a.Submit(t.Context(), r); err != nil || string(out.Result.Data) != `{"a":` {
		t.Errorf("%+v, %v", out.Result, err)
	}
	calls := &chat{answer: supplier.Outcome{Result: &supplier.Result{Text: new(""), FinishReason: supplier.FinishToolCalls}}}
	if _, a, _ = wrap(t, calls); a == nil {
		t.Fatal()
	}
	if out, err := a.Submit(t.Context(), r); err != nil || out.Result.FinishReason != supplier.FinishToolCalls {
		t.Errorf("%+v, %v", out.Result, err)
	}
	_, a, _ = wrap(t, &chat{answer: supplier.Outcome{Result: &supplier.Result{}}})
	if _, err := a.Submit(t.Context(), r); supplier.AsError(err).Sent != supplier.Unknown || fault.CodeOf(err) != fault.ProviderUnavailable {
		t.Errorf("%v", err)
	}
}

// TestBadMaps names the file, the model and the member of a map that is wrong.
func TestBadMaps(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"models: [", "is no YAML"},
		{"models: [{model: m, capability: a.b, as: text.chat, input: '{}', output: .x}]", "is no list of maps that make chats"},
		{"models: [{model: m}]", "model and capability are required"},
		{"models: [{model: m, capability: a.b, input: '{}'}]", "m of a.b: as: must be text.chat"},
		{"models: [{model: m, capability: a.b, as: text.chat}]", "m of a.b: input: a program"},
		{"models: [{model: m, capability: a.b, as: text.chat, input: '{'}]", "m of a.b: input: is no jq program"},
		{"models: [{model: m, capability: a.b, as: text.chat, input: env}]", "m of a.b: input: "},
		{"models: [{model: m, capability: a.b, as: text.chat, input: '{}', parameters: '['}]", "m of a.b: parameters: is no jq program"},
		{"models: [{model: m, capability: a.b, as: text.chat, input: '{}', honours: [text]}]", "honours text: must be input.NAME or parameters.NAME"},
		{"models: [{model: m, capability: a.b, as: text.chat, input: '{}', honours: [input.text]}]", "honours input.text: no program uses it"},
	} {
		name := write(t, tt.text)
		_, _, err := chatmap.Wrap(kind, &chat{}, []string{name})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, _, err := chatmap.Wrap(supplier.Kind{Name: "silent"}, &chat{}, nil); err == nil {
		t.Error("a kind that doesn't chat was wrapped")
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "maps.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTokens bounds an answer by the request's tokens, or the directory's default, from which its reservation is made; a
// map may ask for fewer.
func TestTokens(t *testing.T) {
	file := write(t, `models:
  - model: '*'
    capability: text.extract
    as: text.chat
    honours: [input.text, input.about, parameters.max_output_tokens]
    input: '{prompt: .input.text}'
    parameters: '{max_output_tokens: (.input.about // "100000" | tonumber)}'
`)
	for _, tt := range []struct {
		input, parameters string
		want              int
	}{
		{`{"text":"a"}`, `{}`, 1024},
		{`{"text":"a"}`, `{"max_output_tokens":300}`, 300},
		{`{"about":"200","text":"a"}`, `{"max_output_tokens":300}`, 200},
		{`{"about":"0","text":"a"}`, `{"max_output_tokens":300}`, 300},
	} {
		inner := &chat{answer: supplier.Outcome{Result: &supplier.Result{Text: new("{}"), FinishReason: "stop"}}}
		_, a, entry := wrap(t, inner, file)
		if _, err := a.Submit(t.Context(), request(entry, tt.input, tt.parameters)); err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Limit int `json:"max_output_tokens"`
		}
		if err := json.Unmarshal(inner.got[0].Parameters, &sent); err != nil || sent.Limit != tt.want {
			t.Errorf("%s %s: %d tokens, %v, want %d", tt.input, tt.parameters, sent.Limit, err, tt.want)
		}
	}
}
