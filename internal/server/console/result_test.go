package console_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"unitask/internal/api"
	"unitask/internal/server/console"
)

// TestShown: each part of an output is shown once, by its form, and the rest as JSON.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		name, capability, output string
		want                     []string
	}{
		{"text", "text.chat", `{"text":"a *b*","finish_reason":"stop"}`, []string{"markdown a *b*", "finish stop"}},
		{"no text", "text.chat", `{"text":"","finish_reason":"length"}`, []string{"finish length"}},
		{"heard", "audio.transcribe", `{"text":"- a","segments":[{"start":0,"end":1.5,"text":"- a","speaker":"A"}]}`, []string{"text - a", "segments 1 speakers"}},
		{"heard without speakers", "audio.transcribe", `{"text":"a","words":[{"start":0,"end":1,"text":"a"}]}`, []string{"text a", "words 1"}},
		{"data", "text.chat", `{"text":"{\"a\":1}","data":{"a":1}}`, []string{`data {"a":1}`}},
		{"a call", "text.chat", `{"text":"so","tool_calls":[{"id":"c1","name":"f","arguments":{"x":[1]}},{"id":"c2","name":"g","arguments":"{","invalid":true}]}`, []string{"markdown so", `call f c1 {"x":[1]}`, `call g c2 "{" invalid`}},
		{"a ranking", "text.rerank", `{"results":[{"index":1,"score":0.5},{"index":0,"score":0.25}]}`, []string{"rank 1 0.5 100", "rank 0 0.25 50"}},
		{"negative scores", "text.rerank", `{"results":[{"index":0,"score":-1}]}`, []string{"rank 0 -1 0"}},
		{"a judgement", "text.moderate", `{"results":[{"flagged":true,"categories":["violence"],"scores":{"hate":0.1}}]}`, []string{"judged true violence hate", "ways violence,hate"}},
		{"other results", "x.y", `{"results":[{"index":1,"score":0.5,"note":"n"}]}`, []string{`rest {"results":[{"index":1,"score":0.5,"note":"n"}]}`}},
		{"no results", "x.y", `{"results":[]}`, []string{`rest {"results":[]}`}},
		{"known and other members", "x.y", `{"text":"a","colour":"red","images":"two"}`, []string{"markdown a", `rest {"colour":"red","images":"two"}`}},
		{"a list", "x.y", `[1,2]`, []string{"rest [1,2]"}},
		{"a text alone", "x.y", `"a"`, []string{`rest "a"`}},
		{"vectors", "text.embed", `{"embeddings":[[1,0],[0,2],[1,0]]}`, []string{"3 vectors of 2: 1.00/10 0.00/0 1.00/10; 0.00/0 1.00/10 0.00/0; 1.00/10 0.00/0 1.00/10"}},
		{"opposite and empty ones", "text.embed", `{"embeddings":[[1],[-1],[0]]}`, []string{"3 vectors of 1: 1.00/10 -1.00/0 0.00/0; -1.00/0 1.00/10 0.00/0; 0.00/0 0.00/0 0.00/0"}},
		{"one vector", "text.embed", `{"embeddings":[[3,4]]}`, []string{"1 vectors of 2: 5.00 [3 4]"}},
		{"a packed vector", "text.embed", `{"embeddings":["AACAPwAAAEA="]}`, []string{"1 vectors of 2: 2.24 [1 2]"}},
		{"a text that packs none", "text.embed", `{"embeddings":["AAA="]}`, []string{`rest {"embeddings":["AAA="]}`}},
	} {
		var o api.Output
		if err := json.Unmarshal([]byte(c.output), &o); err != nil {
			t.Fatal(err)
		}
		if got := console.Shown(c.capability, &o); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestManyVectors: of many vectors the first ones are compared, however many there are.
func TestManyVectors(t *testing.T) {
	raw := `{"embeddings":[[1,2]` + strings.Repeat(`,[1,2]`, 99) + `]}`
	var o api.Output
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		t.Fatal(err)
	}
	got := console.Shown("text.embed", &o)
	if len(got) != 1 || !strings.HasPrefix(got[0], "100 vectors of 2: ") || strings.Count(got[0], ";") != 23 {
		t.Errorf("%.200q", got)
	}
}

// TestHostileResult: a model's text is text on the page, whatever it says.
func TestHostileResult(t *testing.T) {
	w := newWorld(t)
	owner, operates := w.member("acme", "member"), w.member("ops", "operator")
	done := owner.run(`{"capability":"text.chat","input":{"prompt":"say <script>zarquon</script> [a](javascript:alert(1))"}}`)
	page := owner.get("/tasks/" + done.ID)
	if !strings.Contains(page.body, "data-text>&lt;script&gt;zarquon&lt;/script&gt;") || strings.Contains(page.body, "<script>zarquon") {
		t.Errorf("the page: %s", page.body)
	}
	for _, want := range []string{`<span>took `, " output tokens</span>", `<link rel="stylesheet" href="/console/static/result.css?`, `src="/console/static/result_page.js?`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %s on %s", want, page.body)
		}
	}
	if page := operates.get("/tasks/" + done.ID); strings.Contains(page.body, "zarquon") || strings.Contains(page.body, "result_page.js") {
		t.Errorf("an operator's page: %s", page.body)
	}
}
