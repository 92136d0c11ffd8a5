package sandbox_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"unitask/internal/supplier"
	"unitask/internal/supplier/sandbox"
)

// artifact is a definition as the directory copies it into schemas.
const artifact = `"$defs":{"artifact":{"type":"object","properties":{"id":{"type":"string"},"url":{"type":"string"}},"required":["id","url"]}}`

func shapedRequest(capability, schema string) supplier.Request {
	return supplier.Request{
		Capability: capability, Model: sandbox.Cheap, SubmitKey: capability + "/1", OutputSchema: json.RawMessage(schema),
		Input:      json.RawMessage(`{"article":"all the words","kind":"note","scan":{"content_type":"image/png","data":"AAAA"}}`),
		Parameters: json.RawMessage(`{"level":3}`),
	}
}

// done submits and, if it is a job, polls once, as another process would.
func done(t *testing.T, r supplier.Request) supplier.Result {
	t.Helper()
	if why := sandbox.Kind().Refuses(r); why != "" {
		t.Fatalf("refused: %s", why)
	}
	out, err := mustNew(t, sandbox.Cheap, instant).Submit(t.Context(), r)
	if err == nil && out.Job != nil {
		stored := supplier.Job{ID: out.Job.ID, Model: out.Job.Model, State: bytes.Clone(out.Job.State)}
		out, err = mustNew(t, sandbox.Cheap, instant).(supplier.Poller).Poll(t.Context(), stored)
	}
	if err != nil || out.Result == nil {
		t.Fatalf("%s: %+v %v", r.Capability, out, err)
	}
	return *out.Result
}

// TestShaped: a result of the family's kind stays as it is if the schema takes it, else it is JSON of the schema.
func TestShaped(t *testing.T) {
	for _, tt := range []struct {
		capability, schema string
		data               string // "" for the family's own result
		files              int
	}{
		{"text.summarize", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`, "", 0},
		{"image.enhance", `{"type":"object","properties":{"images":{"type":"array"}},"required":["images"]}`, "", 1},
		{
			"text.extract", `{"type":"object","properties":{"title":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"open":{"const":true},"topic":{"type":"string"}}}`,
			`{"open":true,"tags":["all the words"],"title":"note","topic":"all the words 2"}`, 0,
		},
		{"text.rate", `{"type":"object","properties":{"text":{"enum":["good","bad"]}},"required":["text"],"additionalProperties":false}`, `{"text":"bad"}`, 0},
		{"image.describe", `{"type":"object","properties":{"caption":{"type":"string"}},"required":["caption"]}`, `{"caption":"all the words"}`, 0},
		{
			"image.layers", `{"type":"object","properties":{"layers":{"type":"array","items":{"$ref":"#/$defs/artifact"},"minItems":2}},"required":["layers"],` + artifact + `}`,
			`{"layers":[{"artifact":0},{"artifact":1}]}`, 2,
		},
		{
			"report.write", `{"type":"object","properties":{"cover":{"$ref":"#/$defs/artifact"},"text":{"type":"string"}},"required":["cover","text"],` + artifact + `}`,
			`{"cover":{"artifact":0},"text":"all the words"}`, 1,
		},
		{"report.show", `{"type":"object","properties":{"pages":{"type":"integer"}},"examples":[{"pages":3}]}`, `{"pages":3}`, 0},
	} {
		t.Run(tt.capability, func(t *testing.T) {
			got := done(t, shapedRequest(tt.capability, tt.schema))
			if string(got.Data) != tt.data || len(got.Files) != tt.files || tt.data != "" && got.Text != nil {
				t.Fatalf("got %s with %d files, want %s", got.Data, len(got.Files), tt.data)
			}
			for _, f := range got.Files {
				if _, err := png.Decode(bytes.NewReader(f.Data)); err != nil {
					t.Errorf("a file: %v", err)
				}
			}
			if again := done(t, shapedRequest(tt.capability, tt.schema)); !reflect.DeepEqual(got, again) {
				t.Error("the same request has another result")
			}
		})
	}
}

// TestShapedAtOnce: a result without files is no job, whatever its family.
func TestShapedAtOnce(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"caption":{"type":"string"}},"required":["caption"]}`:                            false,
		`{"type":"object","properties":{"cover":{"$ref":"#/$defs/artifact"}},"required":["cover"],` + artifact + `}`:     true,
		`{"type":"object","properties":{"images":{"type":"array"}},"required":["images"],"additionalProperties": false}`: true,
	} {
		out, err := mustNew(t, sandbox.Cheap, instant).Submit(t.Context(), shapedRequest("image.describe", schema))
		if err != nil || (out.Job != nil) != want {
			t.Errorf("%s: %+v, %v, want a job: %t", schema, out, err, want)
		}
	}
}

// TestShapedFails: magic inputs work as everywhere.
func TestShapedFails(t *testing.T) {
	r := shapedRequest("text.extract", `{"type":"object","required":["title"]}`)
	r.Input = json.RawMessage(`{"article":"@fail:PROVIDER_TIMEOUT"}`)
	if _, err := mustNew(t, sandbox.Cheap, instant).Submit(t.Context(), r); supplier.AsError(err) == nil || supplier.AsError(err).Fault.Code != "PROVIDER_TIMEOUT" {
		t.Errorf("got %v", err)
	}
}

// TestAnswerSchema: the answer to a prompt is JSON of the schema that its caller gives, if one can be made.
func TestAnswerSchema(t *testing.T) {
	answer := func(schema string) (supplier.Outcome, error) {
		return mustNew(t, sandbox.Cheap, instant).Submit(t.Context(), supplier.Request{
			Capability: "text.chat", Model: sandbox.Cheap, SubmitKey: "t/1", Input: json.RawMessage(`{"prompt":"who is it?"}`),
			Parameters: json.RawMessage(`{"output_schema":` + schema + `}`),
		})
	}
	const rest = `"required":["name"],"additionalProperties":false}`
	out, err := answer(`{"type":"object","properties":{"name":{"type":"string"}},` + rest)
	if err != nil || out.Result.Data != nil || *out.Result.Text != `{"name":"who is it?"}` || out.Result.FinishReason != "stop" {
		t.Errorf("got %+v, %v", out.Result, err)
	}
	_, err = answer(`{"type":"object","properties":{"name":{"type":"integer","minimum":2,"maximum":1}},` + rest)
	if e := supplier.AsError(err); e == nil || e.Sent != supplier.Refused || !strings.Contains(e.Fault.Message, "output_schema") {
		t.Errorf("got %v", err)
	}
}
