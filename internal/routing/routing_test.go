package routing_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

type noSupplier struct{}

func (noSupplier) Submit(context.Context, supplier.Request) (supplier.Outcome, error) {
	return supplier.Outcome{}, nil
}

// tokens is a live, approved text.chat route priced in USD per million tokens.
func tokens(name string, in, out task.Money) routing.Route {
	return routing.Route{
		Capability: "text.chat", Supplier: name, Model: "m", Approved: true, Mode: task.Live, Adapter: noSupplier{},
		Price: task.Price{Unit: task.PerMillionTokens, Input: in * task.USD, Output: out * task.USD},
	}
}

// narrow makes the route one that may be full, so that others are asked for too.
func narrow(r routing.Route) routing.Route {
	r.Cap = 1
	return r
}

func mustTable(t *testing.T, routes ...routing.Route) *routing.Table {
	t.Helper()
	table, err := routing.NewTable(routes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func want(size task.Usage, tried ...string) routing.Want {
	return routing.Want{Mode: task.Live, Account: "acct_1", Capability: "text.chat", Request: supplier.Request{Capability: "text.chat"}, Size: size, Tried: tried}
}

func order(choices []routing.Choice) (ids []string) {
	for _, c := range choices {
		ids = append(ids, c.Route.Supplier)
	}
	return ids
}

func TestCheapestForThisRequest(t *testing.T) {
	table := mustTable(t, narrow(tokens("reads", 1, 10)), narrow(tokens("writes", 5, 2)), narrow(tokens("even", 3, 3)), narrow(tokens("also", 3, 3)))
	for _, tt := range []struct {
		size task.Usage
		want []string
	}{
		{task.Usage{InputTokens: 1000, OutputTokens: 10}, []string{"reads", "also", "even", "writes"}},
		{task.Usage{InputTokens: 10, OutputTokens: 1000}, []string{"writes", "also", "even", "reads"}},
		{task.Usage{}, []string{"also", "even", "reads", "writes"}},
	} {
		choices, passed := table.Choose(want(tt.size), nil)
		if diff := cmp.Diff(tt.want, order(choices)); diff != "" || passed != nil {
			t.Errorf("%+v (-want +got), passed %v:\n%s", tt.size, passed, diff)
		}
	}
}

// refuser is an adapter whose configuration leaves something out.
type refuser struct{ supplier.Adapter }

func (refuser) Refuses(r supplier.Request) string { return "not as " + r.Model + " is configured" }

func TestPassedOver(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	health := routing.NewHealth(func() time.Time { return now })
	health.Pause("limited/m", time.Minute, fault.CapacityExhausted, "cooling down")
	health.Pause("limited/m", time.Second, fault.ProviderUnavailable, "shorter")
	health.Pause("greedy/m", 1000*time.Hour, fault.CapacityExhausted, "cooling down")
	fussy, unapproved, sandbox := tokens("fussy", 1, 1), tokens("unapproved", 1, 1), tokens("sandbox", 1, 1)
	fussy.Kind.Refuses = func(r supplier.Request) string {
		if r.Model != "m" {
			t.Errorf("asked about model %q", r.Model)
		}
		return "no such parameter"
	}
	unapproved.Approved, sandbox.Mode = false, task.Test
	strict := tokens("strict", 1, 1)
	strict.Adapter = refuser{strict.Adapter}
	table := mustTable(t, tokens("fine", 9, 9), tokens("limited", 1, 1), tokens("greedy", 1, 1), tokens("tried", 1, 1), fussy, strict, unapproved, sandbox)
	choices, passed := table.Choose(want(thousand, "tried/m"), health)
	if diff := cmp.Diff([]string{"fine"}, order(choices)); diff != "" {
		t.Errorf("choices (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]task.Passed{
		{Supplier: "fussy", Model: "m", Reason: "can't honour the request: no such parameter", Code: fault.InvalidRequest},
		{Supplier: "greedy", Model: "m", Reason: "cooling down", Code: fault.CapacityExhausted},
		{Supplier: "limited", Model: "m", Reason: "cooling down", Code: fault.CapacityExhausted},
		{Supplier: "strict", Model: "m", Reason: "can't honour the request: not as m is configured", Code: fault.InvalidRequest},
		{Supplier: "tried", Model: "m", Reason: "tried"},
	}, passed); diff != "" {
		t.Errorf("passed (-want +got):\n%s", diff)
	}
	now = now.Add(time.Minute)
	if diff := cmp.Diff([]string{"limited"}, chosen(table, health, "tried/m")); diff != "" {
		t.Errorf("after the pause (-want +got):\n%s", diff)
	}
	now = now.Add(9 * time.Minute)
	if diff := cmp.Diff([]string{"greedy"}, chosen(table, health, "tried/m")); diff != "" {
		t.Errorf("after a supplier's advice of 1000 hours (-want +got):\n%s", diff)
	}
}

// thousand is the size of a request for which prices differ.
var thousand = task.Usage{InputTokens: 1000}

// chosen is the order of the choices.
func chosen(table *routing.Table, h *routing.Health, tried ...string) []string {
	choices, _ := table.Choose(want(thousand, tried...), h)
	return order(choices)
}

func TestListPrice(t *testing.T) {
	size := task.Usage{InputTokens: 1000, OutputTokens: 10}
	cheap, free := tokens("cheap", 1, 10), tokens("free", 7, 7)
	free.Mode = task.Test
	table := mustTable(t, tokens("dear", 5, 2), cheap, free)
	if got := table.ListPrice(task.Live, "text.chat", size); got != cheap.Price {
		t.Errorf("live: %+v", got)
	}
	if got, want := table.ListPrice(task.Test, "text.chat", size), (task.Price{Unit: task.PerMillionTokens}); got != want {
		t.Errorf("test: %+v", got)
	}
	set := task.Price{Unit: task.PerMillionTokens, Input: 42}
	fixed, err := routing.NewTable([]routing.Route{cheap}, map[catalog.Name]task.Price{"text.chat": set})
	if err != nil {
		t.Fatal(err)
	}
	if got := fixed.ListPrice(task.Live, "text.chat", size); got != set {
		t.Errorf("the operator's price: %+v", got)
	}
}

func TestTable(t *testing.T) {
	unapproved := tokens("a", 1, 1)
	unapproved.Approved = false
	table := mustTable(t, unapproved)
	if table.Serves(task.Live, "text.chat") {
		t.Error("an unapproved route serves")
	}
	if table.Find(task.Live, "text.chat", "a", "m") == nil {
		t.Error("work in flight on an unapproved route isn't found")
	}
	if table.Find(task.Test, "text.chat", "a", "m") != nil {
		t.Error("a live route is found for a test task")
	}
	if _, err := routing.NewTable([]routing.Route{tokens("a", 1, 1), tokens("a", 2, 2)}, nil); err == nil {
		t.Error("a route may stand twice")
	}
	if _, err := routing.NewTable([]routing.Route{{Capability: "text.chat", Mode: task.Live}}, nil); err == nil {
		t.Error("a route may lack its adapter")
	}
}

func TestCaps(t *testing.T) {
	r := tokens("a", 1, 1)
	r.SupplierCap = 8
	if diff := cmp.Diff([]task.Cap{{Key: "supplier:a", Limit: 8}}, r.Caps()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Cap = 2
	if diff := cmp.Diff([]task.Cap{{Key: "supplier:a", Limit: 8}, {Key: "route:text.chat:a/m", Limit: 2}}, r.Caps()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTemplates has a cheap route whose model's template is large: the reservation has the largest template, and a
// short request is cheaper elsewhere.
func TestTemplates(t *testing.T) {
	wordy, terse := tokens("wordy", 1, 1), tokens("terse", 2, 2)
	wordy.Template, terse.Template = 400, 31
	table := mustTable(t, wordy, terse)
	for size, want := range map[int64]string{10: "terse", 10_000: "wordy"} {
		choices, _ := table.Choose(routing.Want{
			Mode: task.Live, Capability: "text.chat", Request: supplier.Request{Capability: "text.chat"}, Size: task.Usage{InputTokens: size},
		}, nil)
		if got := choices[0].Route.Supplier; got != want {
			t.Errorf("%d tokens go to %s, want %s", size, got, want)
		}
		bound := table.Bound(task.Live, "text.chat", task.Usage{InputTokens: size, OutputTokens: 5})
		if diff := cmp.Diff(task.Usage{InputTokens: size + 400, OutputTokens: 5}, bound); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestEstimate(t *testing.T) {
	for _, tt := range []struct {
		name              catalog.Name
		media             int
		input, parameters string
		maxima            map[string]float64
		want              task.Usage
	}{
		{"text.chat", 0, `{"prompt":"hello"}`, `{}`, nil, task.Usage{InputTokens: 18, OutputTokens: 1024, Requests: 1, Searches: 32}},
		{"text.chat", 0, `{"prompt":"hello"}`, `{"max_output_tokens":7}`, nil, task.Usage{InputTokens: 18, OutputTokens: 7, Requests: 1, Searches: 32}},
		{
			"text.chat", 0, `{"prompt":"hello"}`, `{"max_output_tokens":7,"output_schema":{"type":"object"}}`, nil,
			task.Usage{InputTokens: 18 + 17, OutputTokens: 7, Requests: 1, Searches: 32},
		},
		{
			"text.chat", 0, `{"prompt":"hello"}`, `{"tools":[{"name":"now"}],"web_search":false}`, nil,
			task.Usage{InputTokens: 18 + 16 + 1024, OutputTokens: 1024, Requests: 1, Searches: 32},
		},
		{
			"text.chat", 0, `{"prompt":"hello"}`, `{"web_search":true}`, nil,
			task.Usage{InputTokens: 18 + 32*8192, OutputTokens: 1024, Requests: 1, Searches: 32},
		},
		{"text.embed", 0, `{"texts":["a"]}`, `{}`, nil, task.Usage{InputTokens: 15, Requests: 1}},
		{"text.rerank", 0, `{"documents":["a","b"],"query":"hello"}`, `{}`, nil, task.Usage{InputTokens: 39 + 2*7, OutputTokens: 1024, Requests: 1, Searches: 1}},
		{
			"text.rerank", 0, `{"documents":["a"` + strings.Repeat(`,"b"`, 249) + `],"query":"hello"}`, `{}`, nil,
			task.Usage{InputTokens: 1031 + 250*7, OutputTokens: 1024, Requests: 1, Searches: 3},
		},
		{"image.generate", 0, `{"prompt":""}`, `{"n":3}`, nil, task.Usage{InputTokens: 13, OutputTokens: 3 * 16384, Images: 3, Requests: 1}},
		{"image.generate", 0, `{"prompt":""}`, `{"n":2,"size":"2880x2880"}`, nil, task.Usage{InputTokens: 13, OutputTokens: 2 * 23719, Images: 2, Requests: 1}},
		{"image.generate", 0, `{"prompt":""}`, `{"size":"64x4096"}`, nil, task.Usage{InputTokens: 13, OutputTokens: 16384, Images: 1, Requests: 1}},
		{"image.generate", 0, `{"prompt":""}`, `{"size":"0x0"}`, nil, task.Usage{InputTokens: 13, OutputTokens: 16384, Images: 1, Requests: 1}},
		{"image.edit", 2, `{"prompt":""}`, `{}`, nil, task.Usage{InputTokens: 13 + 2*16384, OutputTokens: 16384, Images: 1, Requests: 1}},
		{"video.generate", 0, `{}`, `{"duration_seconds":6}`, nil, task.Usage{InputTokens: 2, OutputTokens: 1024, Milliseconds: 6000, Requests: 1}},
		{"audio.speech", 0, `{"text":"äöü"}`, `{"speed":0.5}`, nil, task.Usage{InputTokens: 17, OutputTokens: 1024, Milliseconds: 3500, Characters: 3, Requests: 1}},
		{"audio.speech", 0, `{"text":"` + strings.Repeat("a", 400) + `"}`, `{}`, nil, task.Usage{InputTokens: 411, OutputTokens: 5100, Milliseconds: 102_000, Characters: 400, Requests: 1}},
		{"audio.transcribe", 1, `{"audio":{"data":"AAAA"}}`, `{}`, nil, task.Usage{InputTokens: 25 + 1003, OutputTokens: 32768, Milliseconds: 1003, Requests: 1}},
		{"document.parse", 1, `{"file":{}}`, `{"max_pages":7,"n":2}`, map[string]float64{"max_pages": 50, "max_searches": 4}, task.Usage{
			InputTokens: 11 + 16384, OutputTokens: 32768, Images: 2, Milliseconds: 10_485_000, Characters: 11, Pages: 7, Requests: 1, Searches: 4,
		}},
		{"web.search", 0, `{"max_pages":2}`, `{"duration_seconds":1.5}`, map[string]float64{"max_output_tokens": 1e300}, task.Usage{
			InputTokens: 15, OutputTokens: 1 << 40, Images: 16, Milliseconds: 2000, Characters: 15, Pages: 2, Requests: 1, Searches: 32,
		}},
		{"web.search", 0, `{}`, `{}`, map[string]float64{"max_pages": -1}, task.Usage{
			InputTokens: 2, OutputTokens: 32768, Images: 16, Milliseconds: 10_485_000, Characters: 2, Pages: 1000, Requests: 1, Searches: 32,
		}},
	} {
		got := routing.Estimate(catalog.Capability{Name: tt.name, Maxima: tt.maxima}, tt.media, json.RawMessage(tt.input), json.RawMessage(tt.parameters))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.name, tt.parameters, diff)
		}
	}
}
