package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/catalog"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// measured is a script whose every answer is a text of the usage.
func measured(u supplier.Usage) *script {
	return &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		hi := "hi"
		return supplier.Outcome{Result: &supplier.Result{Text: &hi, FinishReason: "stop", Usage: u}}, nil
	}}
}

// TestPriceOfKinds has a supplier report every kind of work that a text has: the caller pays by the list price and the
// ledger has the supplier's own, both exact to the nano-dollar. Work beyond its bound is paid up to the reservation, and
// owed to the supplier in full.
func TestPriceOfKinds(t *testing.T) {
	usd := func(s string) *task.Money {
		m, err := task.ParseMoney(s)
		if err != nil {
			t.Fatal(err)
		}
		return &m
	}
	list := task.Price{Unit: task.PerMillionTokens, Input: *usd("2"), Output: *usd("10"), Rates: &task.Rates{
		CachedInput: usd("0.2"), CacheWrite: usd("2.5"), Reasoning: usd("12"), Request: usd("0.001"), Search: usd("0.01"),
	}}
	own := task.Price{Unit: task.PerMillionTokens, Input: *usd("1"), Output: *usd("5"), Rates: &task.Rates{CachedInput: usd("0.1"), CacheWrite: usd("1.25")}}
	const body = `{"capability":"text.chat","input":{"prompt":"hi"},"parameters":{"max_output_tokens":100}}`
	reserved := "0.3224875" // (15 + 100 template) × 2.5 + 100 × 12 millionths, a request and 32 searches
	for name, tt := range map[string]struct {
		list, own     task.Price
		used          supplier.Usage
		charged, owed string
	}{
		"a plain text": {list, own, supplier.Usage{InputTokens: 10, OutputTokens: 20}, "0.00122", "0.00011"},
		"kinds": {list, own, supplier.Usage{
			InputTokens: 100, CachedInputTokens: 60, CacheWriteTokens: 30, OutputTokens: 50, ReasoningTokens: 40, Searches: 2,
		}, "0.021687", "0.0003035"}, // 10×2 + 60×0.2 + 30×2.5 + 10×10 + 40×12 = 687, and 10 + 60×0.1 + 30×1.25 + 50×5 = 303.5 millionths
		"too many searches": {list, own, supplier.Usage{InputTokens: 10, OutputTokens: 20, Searches: 100}, reserved, "0.00011"},
		"all at the dearest": {list, own, supplier.Usage{
			InputTokens: 115, CacheWriteTokens: 115, OutputTokens: 100, ReasoningTokens: 100, Searches: 32,
		}, reserved, "0.00064375"},
		"by the request": {
			task.Price{Unit: task.PerRequest, Output: *usd("0.004")}, own, supplier.Usage{InputTokens: 10, OutputTokens: 20}, "0.004", "0.00011",
		},
		"owed by the request": {
			own, task.Price{Unit: task.PerRequest, Input: *usd("0.003")}, supplier.Usage{InputTokens: 10, OutputTokens: 20}, "0.00011", "0.003",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := route("text.chat", "a", 0, measured(tt.used))
			r.Price, r.Template = tt.own, 100
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, []routing.Route{r})
				w.prices = map[catalog.Name]task.Price{"text.chat": tt.list}
				w.start()
				defer w.stop()
				end := w.create("kinds-0001", body, time.Minute).Task
				if got := end.Cost.String(); got != tt.charged {
					t.Errorf("the caller pays %s of %s reserved, want %s", got, end.Reserved, tt.charged)
				}
				if got := end.Attempts[0].Cost.String(); got != tt.owed {
					t.Errorf("the supplier is owed %s, want %s", got, tt.owed)
				}
			})
		})
	}
}

// TestCanceledRequestIsPaid cancels a text in the middle whose price counts requests: it pays for the request beside the
// text delivered.
func TestCanceledRequestIsPaid(t *testing.T) {
	r := route("text.chat", "a", task.USD, speak("eight by", "te words", " and one", " more..."))
	r.Price.Rates = &task.Rates{Request: new(task.USD / 1000)}
	inWorld(t, []routing.Route{r}, func(w *world) {
		a := w.open("canceled-1", chat)
		time.AfterFunc(2500*time.Millisecond, func() { w.cancel(w.g, a.Task.ID) })
		heard := hear(w.t, a.Stream)
		input := int64(len(`{"prompt":"hello"}`)+3) / 4
		want := task.Usage{InputTokens: input, OutputTokens: 6, Requests: 1}
		if diff := cmp.Diff(&want, heard.Last.Usage); diff != "" || heard.Last.Cost != task.Money(input+6)*task.USD/1_000_000+task.USD/1000 {
			t.Errorf("it costs %s (-want +got):\n%s", heard.Last.Cost, diff)
		}
	})
}

// TestStoppedRequestIsPaid has a supplier say what a stopped job measured: its request is priced beside that, but
// nothing of a job that did no work.
func TestStoppedRequestIsPaid(t *testing.T) {
	for name, tt := range map[string]struct {
		used supplier.Usage
		want task.Money
	}{
		"an image": {supplier.Usage{Images: 1}, task.USD + task.USD/1000},
		"no work":  {supplier.Usage{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := jobs{&script{submitFn: job("j"), pollFn: stoppedAs(&tt.used, nil)}}
			r := route("image.generate", "a", task.USD, s)
			r.Price.Rates = &task.Rates{Request: new(task.USD / 1000)}
			inWorld(t, []routing.Route{r}, func(w *world) {
				id := w.submit("stopped-01", paint, 0).Task.ID
				time.Sleep(time.Minute)
				if got := w.get(id).Spent(); got != tt.want {
					t.Errorf("the supplier is owed %s, want %s", got, tt.want)
				}
			})
		})
	}
}
