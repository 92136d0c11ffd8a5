package e2e_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/task"
)

const (
	factsSchema = `{"type":"object","properties":{"city":{"type":"string","minLength":2},"people":{"type":["integer","null"],"minimum":0}},` +
		`"required":["city","people"],"additionalProperties":false}`
	facts = `{"city":"Lund","people":null}`
	sale  = `{"summary":"Ada sold the mill.","facts":[{"kind":"person","text":"Ada","value":null}]}`
)

// answers are the fixtures of a foreign server that speaks three formats: texts of JSON, and one that is none.
var answers = `{"fixtures":[
	{"match":{"userMessage":"Which city"},"response":{"content":` + quoted(facts) + `}},
	{"match":{"userMessage":"Ada sold the mill"},"response":{"content":` + quoted(sale) + `}},
	{"match":{"userMessage":"What is this"},"response":{"content":"A red dot."}},
	{"match":{"userMessage":"Just talk"},"response":{"content":"Certainly! Here it is."}}]}`

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

// kinds are the formats in which the foreign server chats.
var kinds = []struct{ name, path string }{{"openai", "/v1"}, {"anthropic", ""}, {"gemini", ""}}

// answering starts a server that chats by the foreign server, in the formats in this order.
func answering(t *testing.T, order ...string) (h *host, base string) {
	t.Helper()
	h = newHost(t)
	h.write("answers.json", answers)
	base = service(t, "listening on ", npmTool(t, "llmock"), "--port", "0", "--fixtures", filepath.Join(h.Dir, "answers.json"), "--validate-on-load", "--strict")
	recipe, err := filepath.Abs("../../docs/recipes/text.extract")
	if err != nil {
		t.Fatal(err)
	}
	suppliers, routes := "", ""
	for _, k := range kinds {
		suppliers += `
  - {name: ` + k.name + `, kind: ` + k.name + `, base_url: "` + base + k.path + `", api_key: env:UPSTREAM_KEY, models: ["` + recipe + `/chats.yaml"]`
		if k.name == "openai" {
			suppliers += `, options: {features: json_schema json_object images documents}`
		}
		suppliers += `}`
	}
	for i, name := range order {
		routes += `
    - {supplier: ` + name + `, model: m, price: {unit: mtok, input: "` + string(rune('1'+i)) + `", output: "0"}}`
	}
	h.Env = []string{"UPSTREAM_KEY=upstream-key"}
	h.Config = "catalog: [" + recipe + "/capability.yaml]\nsuppliers:" + suppliers + "\nroutes:\n  text.chat:" + routes + "\n  text.extract:" + routes + "\n"
	h.write("schema.json", factsSchema)
	h.start()
	h.useLiveKey()
	return h, base
}

// TestStructured runs the same commands by suppliers of three formats: a chat answers with JSON of the caller's
// schema, and a capability that exists only in YAML with that of its own; and one about a picture.
func TestStructured(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			h, _ := answering(t, k.name)
			done := h.task("run", "text.chat", "Which city?", "output_schema=@schema.json", "--json")
			if done.Output.Text == nil || *done.Output.Text != facts || string(done.Output.Data) != facts || done.Output.FinishReason != "stop" {
				t.Errorf("text.chat: %s", done.Output.JSON)
			}
			if got := h.must("run", "text.chat", "Which city?", "output_schema="+factsSchema); got != facts+"\n" {
				t.Errorf("printed %q", got)
			}
			if got := h.must("run", "text.chat", "Which city?", `output_schema={"type":"object"}`); got != facts+"\n" {
				t.Errorf("as any object: %q", got)
			}
			h.must("run", "text.extract", "Ada sold the mill to Norrland.", "about=who", "-o", "facts.json")
			saved, err := os.ReadFile(filepath.Join(h.Dir, "facts.json"))
			if err != nil || strings.Join(strings.Fields(string(saved)), "") != strings.ReplaceAll(sale, " ", "") {
				t.Errorf("saved %s, %v", saved, err)
			}
			dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC")
			if err != nil {
				t.Fatal(err)
			}
			h.write("dot.png", string(dot))
			h.write("notes.md", "# Notes\n")
			if got := h.must("run", "text.chat", "What is this?", "@dot.png", "@notes.md"); got != "A red dot.\n" {
				t.Errorf("of a picture: %q", got)
			}
			if o := h.client("run", "text.chat", "Just talk", "output_schema=@schema.json"); o.code != 3 && o.code != 1 || !strings.Contains(o.stderr, "PROVIDER_UNAVAILABLE") {
				t.Errorf("a text in the place of JSON: exit %d\n%s%s", o.code, o.stdout, o.stderr)
			}
			h.write("loose.json", `{"type":"object","properties":{"city":{"type":"string"}}}`)
			o := h.client("run", "text.chat", "Which city?", "output_schema=@loose.json")
			if o.code == 0 || !strings.Contains(o.stderr, "parameters.output_schema.additionalProperties must be false") {
				t.Errorf("a schema that isn't strict: exit %d\n%s", o.code, o.stderr)
			}
		})
	}
}

// TestStructuredFailover has the first route break, and the second one, of another format, answer the same request.
func TestStructuredFailover(t *testing.T) {
	h, base := answering(t, "anthropic", "openai", "gemini")
	breakNext(t, base)
	done := h.task("run", "text.extract", "Ada sold the mill to Norrland.", "--json")
	if done.State != task.Succeeded || string(done.Output.JSON) != sale {
		t.Fatalf("%+v", done)
	}
	ledger, err := h.AdminTask(t.Context(), done.ID)
	var tried []string
	for _, a := range ledger.Attempts {
		tried = append(tried, a.Supplier)
	}
	if diff := cmp.Diff([]string{"anthropic", "openai"}, tried); diff != "" || err != nil {
		t.Errorf("suppliers, %v (-want +got):\n%s", err, diff)
	}
}
