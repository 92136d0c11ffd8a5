package routing_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/supplier"
	"unitask/internal/supplier/all"
	"unitask/internal/supplier/suppliertest"
	"unitask/internal/task"
)

// ledger is a usage report as a supplier documents it, with the amounts that follow from it. They are computed by hand, in
// nano-dollars: a token at 2 dollars a million costs 2,000.
type ledger struct {
	supplier, source string
	kind             string
	options          map[string]string
	models           string // a recipe's map, for the kind http
	request          supplier.Request
	answer           string // whose usage is the documented one
	used             supplier.Usage
	own, list        task.Price
	owed, charged    task.Money // to the supplier, and by the caller
}

// documented are the examples that come with their request.
var documented = slices.Concat(openaiLedgers, mediaLedgers, otherLedgers)

func chat(model string) supplier.Request {
	return supplier.Request{Capability: "text.chat", Model: model, Input: json.RawMessage(`{"prompt":"Hi"}`), Parameters: json.RawMessage(`{}`), SubmitKey: "task_1/1"}
}

func other(capability, model, input string) supplier.Request {
	return asks(capability, model, input, `{}`)
}

// asks is a documented request in neutral form; media are pairs of a pointer and a content type.
func asks(capability, model, input, parameters string, media ...string) supplier.Request {
	r := chat(model)
	r.Capability, r.Input, r.Parameters, r.Media = capability, json.RawMessage(input), json.RawMessage(parameters), map[string]supplier.Media{}
	for pair := range slices.Chunk(media, 2) {
		r.Media[pair[0]] = supplier.Media{ContentType: pair[1], Bytes: 3, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("abc")), nil
		}}
	}
	return r
}

// completed is an answer in OpenAI's format.
func completed(usage string) string {
	return `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}],"usage":` + usage + `}`
}

// price reads amounts in USD, as the settings have them: "mtok 0.25 2 cached_input=0.025".
func price(text string) task.Price {
	words := strings.Fields(text)
	amount := func(s string) task.Money {
		m, err := task.ParseMoney(s)
		if err != nil {
			panic(err)
		}
		return m
	}
	p := task.Price{Unit: task.Unit(words[0]), Input: amount(words[1]), Output: amount(words[2])}
	rates := map[string]task.Money{}
	for _, w := range words[3:] {
		name, value, _ := strings.Cut(w, "=")
		rates[name] = amount(value)
	}
	if len(rates) > 0 {
		raw, err := json.Marshal(rates)
		if err != nil {
			panic(err)
		}
		if err := json.Unmarshal(raw, &p.Rates); err != nil {
			panic(err)
		}
	}
	return p
}

// plain is a list price for the suppliers whose own price isn't the subject: 1,000,000 tokens at 3 and 12 dollars.
var plain = price("mtok 3 12")

// responded is an answer in the format of OpenAI's Responses API.
func responded(usage string) string {
	return `{"object":"response","status":"completed","error":null,"output":[{"type":"message","status":"completed","role":"assistant",` +
		`"content":[{"type":"output_text","text":"The classic tongue twister...","annotations":[]}]}],"usage":` + usage + `}`
}

// message is an answer in Anthropic's format.
func message(content, usage string) string {
	return `{"type":"message","role":"assistant","content":[` + content + `],"stop_reason":"end_turn","usage":` + usage + `}`
}

// generated is an answer in Gemini's format.
func generated(usage string) string {
	return `{"candidates":[{"content":{"parts":[{"text":"Hi."}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":` + usage + `}`
}

// TestLedger: of each supplier's documented usage the gateway's record is that of the table, and the supplier's and the
// caller's amounts are exact to the nano-dollar.
func TestLedger(t *testing.T) {
	kinds := all.Kinds()
	for _, tt := range slices.Concat(documented, reports) {
		t.Run(tt.supplier+", "+tt.source, func(t *testing.T) {
			k := kinds[slices.IndexFunc(kinds, func(k supplier.Kind) bool { return k.Name == tt.kind })]
			srv := httptest.NewServer(suppliertest.JSON(http.StatusOK, tt.answer))
			defer srv.Close()
			a, err := k.New(supplier.Config{BaseURL: srv.URL + suppliertest.Base(k), Options: tt.options, Models: tt.maps()})
			if err != nil {
				t.Fatal(err)
			}
			out, err := a.Submit(t.Context(), tt.request)
			for err == nil && out.Job != nil {
				out, err = a.(supplier.Poller).Poll(t.Context(), *out.Job)
			}
			if err != nil || out.Result == nil {
				t.Fatalf("%+v, %v", out, err)
			}
			if diff := cmp.Diff(tt.used, out.Result.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			used := task.Usage(out.Result.Usage)
			owed := tt.own.Cost(used)
			if out.Result.Charged != nil {
				owed = task.Money(*out.Result.Charged)
			}
			if owed != tt.owed {
				t.Errorf("the supplier is owed %s, want %s", owed, tt.owed)
			}
			if charged := tt.list.Cost(used); charged != tt.charged {
				t.Errorf("the caller pays %s, want %s", charged, tt.charged)
			}
		})
	}
}

const recipes = "../../docs/recipes/"

func (l ledger) maps() []string {
	if l.models == "" {
		return nil
	}
	return []string{recipes + l.models}
}
