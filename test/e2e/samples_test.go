package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/task"
)

// openOutputs are capabilities of which no program knows, and whose outputs are none of the built-in forms.
const openOutputs = `capabilities:
  - name: invoice.read
    title: Read an invoice
    description: Lists what was bought.
    modality: document
    mode: sync
    deadline: 1m
    input: {type: object, properties: {text: {type: string, minLength: 1}}, required: [text], additionalProperties: false}
    parameters: {type: object, additionalProperties: false}
    output:
      type: object
      properties:
        total: {type: number, minimum: 0}
        lines: {type: array, items: {type: object, properties: {article: {type: string}, count: {type: integer, minimum: 1}}, required: [article, count], additionalProperties: false}, minItems: 2}
        scan: {$ref: '#/$defs/artifact'}
      required: [total, lines, scan]
      additionalProperties: false
    example: {capability: invoice.read, input: {text: Two apples}}
  - name: invoice.check
    title: Check an invoice
    description: Says whether it adds up.
    modality: document
    mode: async
    deadline: 1m
    input: {type: object, properties: {text: {type: string, minLength: 1}}, required: [text], additionalProperties: false}
    parameters: {type: object, additionalProperties: false}
    output: {type: object, properties: {code: {type: string, pattern: '^v\b.\d$'}}, required: [code], additionalProperties: false}
    sample: {code: v-7}
    example: {capability: invoice.check, input: {text: Two apples}}
`

// TestOpenOutputs has the sandbox answer capabilities that only the configuration knows, and a prompt with a schema.
func TestOpenOutputs(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("more.yaml", openOutputs)
	h.Config = "catalog: [more.yaml]\n"
	h.start()
	read := func(key string) (raw string, made api.Task) {
		t.Helper()
		var whole struct{ Output json.RawMessage }
		h.call(http.MethodPost, api.PathTasks, `{"capability":"invoice.read","input":{"text":"Two apples"}}`,
			map[string]string{api.HeaderIdempotencyKey: key}, &made)
		if made.State != task.Succeeded {
			t.Fatalf("read: %+v", made)
		}
		h.call(http.MethodGet, api.PathTasks+"/"+made.ID, "", nil, &whole)
		return string(whole.Output), made
	}
	raw, _ := read("sample-key-1")
	var got struct {
		Total float64
		Lines []struct {
			Article string
			Count   int
		}
		Scan api.Artifact
	}
	if err := json.Unmarshal([]byte(raw), &got); err != nil || len(got.Lines) != 2 || got.Lines[0].Article != "Two apples" || got.Lines[0].Count < 1 {
		t.Fatalf("%v: %s", err, raw)
	}
	if picture := h.download(got.Scan.URL, "", http.StatusOK); !strings.HasPrefix(string(picture), "\x89PNG") {
		t.Errorf("the scan: %.20q", picture)
	}
	again, _ := read("sample-key-2")
	before, _, _ := strings.Cut(raw, `"scan"`)
	if after, _, _ := strings.Cut(again, `"scan"`); after != before {
		t.Errorf("the same request again: %s, at first %s", after, before)
	}
	if checked := h.must("run", "invoice.check", "text=Two apples", "--json", "--jq", ".output.code"); checked != "v-7\n" {
		t.Errorf("checked: %q", checked)
	}
	schema := `{"type":"object","properties":{"greeting":{"type":"string"},"words":{"type":"integer","minimum":3,"maximum":3}},` +
		`"required":["greeting","words"],"additionalProperties":false}`
	answer := h.must("run", "text.chat", "Hello", "output_schema="+schema, "--json", "--jq", `.output.data | .words == 3 and .greeting == "Hello"`)
	if answer != "true\n" {
		t.Errorf("answered: %s", answer)
	}
	if !slices.Contains(h.offers(), "invoice.check") {
		t.Errorf("offered: %v", h.offers())
	}
}
