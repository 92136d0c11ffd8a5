package gateway_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// results answers with the same result each time.
func results(r supplier.Result) *script {
	return &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) { return supplier.Outcome{Result: &r}, nil }}
}

const (
	vectors = `{"capability":"text.embed","input":{"texts":["a"]}}`
	listen  = `{"capability":"audio.transcribe","input":{"audio":{"content_type":"audio/mpeg","data":"SUQzBAAAAAAAAAAA"}},"parameters":{"timestamps":"segment"}}`
)

// TestUnfitResult has a supplier answer with a result that isn't the capability's output: it is owed for its work,
// the next route does the task, and without one the task fails at no cost to its caller.
func TestUnfitResult(t *testing.T) {
	usage := supplier.Usage{InputTokens: 1_000_000}
	for name, tt := range map[string]struct {
		body   string
		result supplier.Result
	}{
		"a text without its reason":  {chat, supplier.Result{Text: new("a"), Usage: usage}},
		"a reason of its own":        {chat, supplier.Result{Text: new("a"), FinishReason: "tired", Usage: usage}},
		"vectors for a text":         {chat, supplier.Result{Embeddings: [][]float32{{1}}, Usage: usage}},
		"a picture for a text":       {chat, supplier.Result{Files: picture(t).Result.Files, Usage: usage}},
		"nothing":                    {chat, supplier.Result{Usage: usage}},
		"a text for a vector":        {vectors, supplier.Result{Text: new("a"), FinishReason: "stop", Usage: usage}},
		"an empty vector":            {vectors, supplier.Result{Embeddings: [][]float32{{}}, Usage: usage}},
		"what isn't a number":        {vectors, supplier.Result{Embeddings: [][]float32{{float32(math.NaN())}}, Usage: usage}},
		"a segment before the start": {listen, supplier.Result{Text: new("a"), FinishReason: "stop", Segments: []supplier.Segment{{Start: -1}}, Usage: usage}},
	} {
		t.Run(name, func(t *testing.T) {
			bad, good := results(tt.result), results(supplier.Result{Text: new("a"), FinishReason: "stop"})
			capability := catalog.TextChat
			switch tt.body {
			case vectors:
				capability, good = catalog.TextEmbed, results(supplier.Result{Embeddings: [][]float32{{1}}})
			case listen:
				capability = catalog.AudioTranscribe
				good = results(supplier.Result{Text: new("a"), FinishReason: "stop", Segments: []supplier.Segment{{End: 1, Text: "a"}}})
			}
			owed := attemptOutcome{"a", task.FailedAttempt, fault.ProviderUnavailable, task.USD, false}
			cheap, dear := route("text.chat", "a", task.USD, bad), route("text.chat", "b", 2*task.USD, good)
			cheap.Capability, dear.Capability = capability, capability
			inWorld(t, []routing.Route{cheap}, func(w *world) {
				got := w.end(w.create("unfit-alone", tt.body, time.Minute).Task.ID)
				w.expect(got, outcome{task.Failed, fault.ProviderUnavailable, 0, []attemptOutcome{owed}})
				if got.Failure == nil || !got.Failure.Retryable {
					t.Error("the failure isn't retryable")
				}
			})
			inWorld(t, []routing.Route{cheap, dear}, func(w *world) {
				got := w.end(w.create("unfit-first", tt.body, time.Minute).Task.ID)
				w.expect(got, outcome{task.Succeeded, "", 0, []attemptOutcome{owed, {"b", task.OK, "", 0, false}}})
			})
		})
	}
}

// TestUnfitStream has a text that was told turn out not to fit: no other route may tell another one.
func TestUnfitStream(t *testing.T) {
	bad := speak("a", "b")
	bad.endFn = func() (supplier.Outcome, error) {
		return supplier.Outcome{Result: &supplier.Result{Text: new("ab"), FinishReason: "tired", Usage: supplier.Usage{InputTokens: 1_000_000}}}, nil
	}
	good := speak("c")
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, bad), route("text.chat", "b", 2*task.USD, good)}, func(w *world) {
		a := w.open("unfit-told", chat)
		got := hear(w.t, a.Stream).Last
		w.expect(got, outcome{task.Failed, fault.ProviderUnavailable, 0, []attemptOutcome{{"a", task.FailedAttempt, fault.ProviderUnavailable, task.USD, false}}})
		w.expectSent(good.script)
	})
}

// TestUnfitRouteRests has a route whose results never fit: after five of them it is left alone.
func TestUnfitRouteRests(t *testing.T) {
	bad := results(supplier.Result{Text: new("a"), FinishReason: "tired"})
	inWorld(t, []routing.Route{route("text.chat", "a", task.USD, bad)}, func(w *world) {
		for i := range 8 {
			w.end(w.create(fmt.Sprintf("unfit-again-%d", i), chat, time.Minute).Task.ID)
		}
		if n := len(bad.keys()); n != 5 {
			t.Errorf("%d submissions, want 5", n)
		}
	})
}

// reading is a capability whose output no built-in one has: objects with files anywhere in them.
const reading = `capabilities:
  - name: document.read
    title: Read
    description: Reads a document.
    modality: document
    mode: sync
    deadline: 5m
    input: {type: object, additionalProperties: false, required: [text], properties: {text: {type: string}}}
    parameters: {type: object, additionalProperties: false}
    output:
      type: object
      additionalProperties: false
      required: [pages]
      properties:
        pages:
          type: array
          items:
            type: object
            additionalProperties: false
            required: [text]
            properties: {text: {type: string}, picture: {$ref: '#/$defs/artifact'}}
    example: {capability: document.read, input: {text: hello}}
`

// TestOpenOutput has results that are JSON: each is stored as the schema says, with its kept files in their places, or
// it isn't the output, and another route does the work.
func TestOpenOutput(t *testing.T) {
	directory, err := catalog.Load([]byte(reading))
	if err != nil {
		t.Fatal(err)
	}
	file := picture(t).Result.Files[0]
	for name, tt := range map[string]struct {
		data  string
		files []supplier.File
		want  string // with %s for the file's place; "" if it doesn't fit
	}{
		"no file":             {`{"pages": [{"text": "a <b>\u00e9"}]}`, nil, `{"pages":[{"text":"a <b>\u00e9"}]}`},
		"a file":              {`{"pages":[{"text":"a","picture":{ "artifact": 0 }},{"text":"{\"artifact\":0}"}]}`, []supplier.File{file}, `{"pages":[{"text":"a","picture":%s},{"text":"{\"artifact\":0}"}]}`},
		"a file without room": {`{"pages":[{"text":"a"}]}`, []supplier.File{file}, ""},
		"room without a file": {`{"pages":[{"text":"a","picture":{"artifact":0}}]}`, nil, ""},
		"another's file":      {`{"pages":[{"text":"a","picture":{"artifact":"art_12345678"}}]}`, nil, ""},
		"another form":        {`{"pages":[{"text":1}]}`, nil, ""},
		"a member too many":   {`{"pages":[],"supplier":"a"}`, nil, ""},
		"a name twice":        {`{"pages":[],"pages":[]}`, nil, ""},
		"no JSON":             {`{"pages":[}`, nil, ""},
		"invalid UTF-8":       {"{\"pages\":[{\"text\":\"\xff\"}]}", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			usage := supplier.Usage{InputTokens: 1_000_000}
			first := results(supplier.Result{Data: json.RawMessage(tt.data), Files: tt.files, Usage: usage})
			second := results(supplier.Result{Data: json.RawMessage(`{"pages":[]}`)})
			routes := []routing.Route{route("document.read", "a", task.USD, first), route("document.read", "b", 2*task.USD, second)}
			table, err := routing.NewTable(routes, nil)
			if err != nil {
				t.Fatal(err)
			}
			inWorld(t, routes, func(w *world) {
				w.g.Apply(gateway.Settings{Catalog: directory, Routes: table, Policy: w.policy})
				got := w.end(w.create("an-open-output", `{"capability":"document.read","input":{"text":"x"}}`, time.Minute).Task.ID)
				if got.State != task.Succeeded {
					t.Fatalf("%+v", got.Failure)
				}
				want := tt.want
				if want == "" {
					want = `{"pages":[]}`
				}
				if len(got.Output.Files) == 1 {
					want = strings.Replace(want, "%s", task.Ref(got.Output.Files[0].ID), 1)
				}
				if string(got.Output.JSON) != want || len(got.Attempts) != 1+len("b")-min(len(tt.want), 1) {
					t.Errorf("%s after %d attempts, want %s", got.Output.JSON, len(got.Attempts), want)
				}
			})
		})
	}
}

// TestEncoding asks for vectors in base64: each supplier's are written so, and none is asked for it.
func TestEncoding(t *testing.T) {
	for name, tt := range map[string]struct {
		parameters, sent string
		result           supplier.Result
		want             string // "" if it is a failure
	}{
		"numbers":        {`{"encoding":"float"}`, `{}`, supplier.Result{Embeddings: [][]float32{{1, -2}}}, `{"embeddings":[[1,-2]]}`},
		"base64":         {`{"encoding":"base64","dimensions":2}`, `{"dimensions":2}`, supplier.Result{Embeddings: [][]float32{{1, -2}}}, `{"embeddings":["AACAPwAAAMA="]}`},
		"a map's":        {`{"encoding":"base64"}`, `{}`, supplier.Result{Data: json.RawMessage(`{"embeddings":[[1,-2]]}`)}, `{"embeddings":["AACAPwAAAMA="]}`},
		"a map's, plain": {`{"input_type":"query"}`, `{"input_type":"query"}`, supplier.Result{Data: json.RawMessage(`{"embeddings":[[1,-2]]}`)}, `{"embeddings":[[1,-2]]}`},
		"no vectors":     {`{"encoding":"base64"}`, `{}`, supplier.Result{Data: json.RawMessage(`{"embeddings":"no"}`)}, ""},
		"an empty one":   {`{"encoding":"base64"}`, `{}`, supplier.Result{Embeddings: [][]float32{{}}}, ""},
		"no number":      {`{"encoding":"base64"}`, `{}`, supplier.Result{Embeddings: [][]float32{{float32(math.NaN())}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var sent string
			script := &script{submitFn: func(_ int, r supplier.Request) (supplier.Outcome, error) {
				sent = string(r.Parameters)
				return supplier.Outcome{Result: &tt.result}, nil
			}}
			inWorld(t, []routing.Route{route("text.embed", "a", task.USD, script)}, func(w *world) {
				body := `{"capability":"text.embed","input":{"texts":["a"]},"parameters":` + tt.parameters + `}`
				got := w.end(w.create("encoding", body, time.Minute).Task.ID)
				if sent != tt.sent {
					t.Errorf("sent %s, want %s", sent, tt.sent)
				}
				var output string
				if got.Output != nil {
					output = string(got.Output.JSON)
				}
				if output != tt.want {
					t.Errorf("output %s, want %s", output, tt.want)
				}
			})
		})
	}
}

// TestAnswerSchema has models answer a request for JSON: what fits the caller's schema is data too, what was cut stays
// a text, and all else is the supplier's failure, after which another route answers.
func TestAnswerSchema(t *testing.T) {
	const strict = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`
	for name, tt := range map[string]struct {
		schema, text, reason string
		want                 string // "" if it is a failure
	}{
		"fits":           {strict, ` {"a": 1}`, "stop", `{"text":" {\"a\": 1}","data":{"a":1},"finish_reason":"stop"}`},
		"was cut":        {strict, `{"a":`, "length", `{"text":"{\"a\":","finish_reason":"length"}`},
		"another type":   {strict, `{"a":"1"}`, "stop", ""},
		"another member": {strict, `{"a":1,"b":2}`, "stop", ""},
		"words before":   {strict, `Here you are: {"a":1}`, "stop", ""},
		"empty":          {strict, ``, "stop", ""},
		"any object":     {catalog.AnyObject, ` {"b": [1]}`, "stop", `{"text":" {\"b\": [1]}","data":{"b":[1]},"finish_reason":"stop"}`},
		"no object":      {catalog.AnyObject, `[{"b":1}]`, "stop", ""},
		"words about it": {catalog.AnyObject, "```json\n{}\n```", "stop", ""},
	} {
		t.Run(name, func(t *testing.T) {
			asks := `{"capability":"text.chat","input":{"prompt":"x"},"parameters":{"output_schema":` + tt.schema + `}}`
			usage := supplier.Usage{InputTokens: 1_000_000}
			first := results(supplier.Result{Text: &tt.text, FinishReason: tt.reason, Usage: usage})
			second := results(supplier.Result{Text: new(`{"a":2}`), FinishReason: "stop"})
			inWorld(t, []routing.Route{route("text.chat", "a", task.USD, first), route("text.chat", "b", 2*task.USD, second)}, func(w *world) {
				got := w.end(w.create("answer-schema", asks, time.Minute).Task.ID)
				want, attempts := tt.want, []attemptOutcome{{"a", task.OK, "", task.USD, false}}
				if want == "" {
					want = `{"text":"{\"a\":2}","data":{"a":2},"finish_reason":"stop"}`
					attempts = []attemptOutcome{{"a", task.FailedAttempt, fault.ProviderUnavailable, task.USD, false}, {"b", task.OK, "", 0, false}}
				}
				if got.Output == nil || string(got.Output.JSON) != want {
					t.Errorf("output %+v, want %s", got.Output, want)
				}
				w.expect(got, outcome{task.Succeeded, "", got.Cost, attempts})
			})
		})
	}
}
