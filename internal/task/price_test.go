package task_test

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"unitask/internal/task"
)

// exactTerm is ceil(count × price ÷ scale) by math/big; negative counts and prices are free.
func exactTerm(count int64, price *big.Int, scale int64) *big.Int {
	if count <= 0 || price.Sign() <= 0 {
		return new(big.Int)
	}
	product := new(big.Int).Mul(big.NewInt(count), price)
	quotient, rest := new(big.Int).QuoRem(product, big.NewInt(scale), new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return big.NewInt(int64(saturated(quotient)))
}

// exactPieces is the cost of what is priced beside the unit.
func exactPieces(r *task.Rates, u task.Usage) *big.Int {
	sum := new(big.Int)
	if r == nil {
		return sum
	}
	for _, one := range []struct {
		n    int64
		rate *task.Money
	}{{u.Pages, r.Page}, {u.Requests, r.Request}, {u.Searches, r.Search}} {
		if one.rate != nil {
			sum.Add(sum, exactTerm(one.n, big.NewInt(int64(*one.rate)), 1))
		}
	}
	return sum
}

// exactTokens is the cost of one direction: each token at the rate of its kind, rounded up once.
func exactTokens(whole int64, rest task.Money, counts []int64, rates []*task.Money) *big.Int {
	sum, left := new(big.Int), max(whole, 0)
	for i, rate := range rates {
		if rate != nil {
			n := max(min(counts[i], left), 0)
			left -= n
			sum.Add(sum, new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(*rate))))
		}
	}
	sum.Add(sum, new(big.Int).Mul(big.NewInt(left), big.NewInt(int64(rest))))
	return exactTerm(1, sum, 1e6)
}

func exactCost(p task.Price, u task.Usage) task.Money {
	both := big.NewInt(int64(saturated(new(big.Int).Add(big.NewInt(int64(p.Input)), big.NewInt(int64(p.Output))))))
	sum := exactPieces(p.Rates, u)
	r := task.Rates{}
	if p.Rates != nil {
		r = *p.Rates
	}
	switch p.Unit {
	case task.PerMillionTokens:
		sum.Add(sum, exactTokens(u.InputTokens, p.Input,
			[]int64{u.CacheWriteTokens, u.CachedInputTokens, u.AudioInputTokens, u.ImageInputTokens},
			[]*task.Money{r.CacheWrite, r.CachedInput, r.AudioInput, r.ImageInput}))
		sum.Add(sum, exactTokens(u.OutputTokens, p.Output,
			[]int64{u.AudioOutputTokens, u.ImageOutputTokens, u.ReasoningTokens},
			[]*task.Money{r.AudioOutput, r.ImageOutput, r.Reasoning}))
	case task.PerImage:
		sum.Add(sum, exactTerm(u.Images, both, 1))
	case task.PerSecond:
		sum.Add(sum, exactTerm(u.Milliseconds, both, 1e3))
	case task.PerMillionCharacters:
		sum.Add(sum, exactTerm(u.Characters, both, 1e6))
	case task.PerPage:
		sum.Add(sum, exactTerm(u.Pages, both, 1))
	case task.PerRequest:
		sum.Add(sum, exactTerm(u.Requests, both, 1))
	case task.PerSearch:
		sum.Add(sum, exactTerm(u.Searches, both, 1))
	}
	return saturated(sum)
}

var units = []task.Unit{
	"", task.PerMillionTokens, task.PerImage, task.PerSecond, task.PerMillionCharacters, task.PerPage, task.PerRequest, task.PerSearch, "hour",
}

func drawPrice(t *rapid.T) task.Price {
	amount := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, int64(1000*task.USD)), rapid.Int64Min(0))
	p := task.Price{
		Unit:  rapid.SampledFrom(units).Draw(t, "unit"),
		Input: task.Money(amount.Draw(t, "input")), Output: task.Money(amount.Draw(t, "output")),
	}
	if !rapid.Bool().Draw(t, "rates") {
		return p
	}
	p.Rates = new(task.Rates)
	for i, v := 0, reflect.ValueOf(p.Rates).Elem(); i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; rapid.Bool().Draw(t, "a rate of "+name) {
			v.Field(i).Set(reflect.ValueOf(new(task.Money(amount.Draw(t, name)))))
		}
	}
	return p
}

func drawUsage(t *rapid.T, count *rapid.Generator[int64]) task.Usage {
	var u task.Usage
	for i, v := 0, reflect.ValueOf(&u).Elem(); i < v.NumField(); i++ {
		v.Field(i).SetInt(count.Draw(t, v.Type().Field(i).Name))
	}
	return u
}

func TestCostAgainstExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, u := drawPrice(t), drawUsage(t, rapid.OneOf(rapid.Int64Range(-2, 1000), rapid.Int64()))
		if got, want := p.Cost(u), exactCost(p, u); got != want {
			t.Fatalf("%+v of %+v costs %d, want %d", u, p, got, want)
		}
	})
}

// TestMostIsABound: work that stays within a size, its tokens of whatever kinds, costs at most what that size may cost.
func TestMostIsABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, u := drawPrice(t), drawUsage(t, rapid.OneOf(rapid.Int64Range(-2, 10), rapid.Int64Range(0, 1e6), rapid.Int64Min(0)))
		size := task.Usage{
			InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, Images: u.Images, Milliseconds: u.Milliseconds, Characters: u.Characters,
			Pages: u.Pages, Requests: u.Requests, Searches: u.Searches,
		}
		if cost, most := p.Cost(u), p.Most(size); cost > most {
			t.Fatalf("%+v of %+v costs %d, at most %d", u, p, cost, most)
		}
	})
}

// TestMostOfOneKind: if all tokens are of the dearest kind, whichever that is, work costs as much as its size may cost.
func TestMostOfOneKind(t *testing.T) {
	for _, kind := range []string{"CachedInput", "CacheWrite", "ImageInput", "AudioInput", "Reasoning", "ImageOutput", "AudioOutput"} {
		size := task.Usage{InputTokens: 7, OutputTokens: 9}
		used, rates := size, &task.Rates{}
		n := reflect.ValueOf(&used).Elem().FieldByName(kind + "Tokens")
		if n.SetInt(size.OutputTokens); strings.Contains(kind, "Input") || kind == "CacheWrite" {
			n.SetInt(size.InputTokens)
		}
		reflect.ValueOf(rates).Elem().FieldByName(kind).Set(reflect.ValueOf(new(5 * task.USD)))
		p := task.Price{Unit: task.PerMillionTokens, Input: task.USD, Output: 2 * task.USD, Rates: rates}
		if cost, most := p.Cost(used), p.Most(size); cost != most || cost <= p.Cost(size) {
			t.Errorf("all of %s: it costs %s, at most %s, and %s otherwise", kind, cost, most, p.Cost(size))
		}
	}
}

// TestOldPrice: a record from before there were rates has none, and a price without any is written as it was.
func TestOldPrice(t *testing.T) {
	const old = `{"unit":"mtok","input":50000000,"output":80000000}`
	var got task.Price
	if err := json.Unmarshal([]byte(old), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(task.Price{Unit: task.PerMillionTokens, Input: 50_000_000, Output: 80_000_000}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, err := json.Marshal(got); err != nil || string(again) != old {
		t.Errorf("written again as %s, %v", again, err)
	}
}

func TestCost(t *testing.T) {
	chat := task.Price{Unit: task.PerMillionTokens, Input: 50_000_000, Output: 80_000_000}
	kinds := task.Price{Unit: task.PerMillionTokens, Input: 2 * task.USD, Output: 10 * task.USD, Rates: &task.Rates{
		CachedInput: new(task.USD / 5), CacheWrite: new(5 * task.USD / 2), Reasoning: new(15 * task.USD), Search: new(task.USD / 100),
	}}
	tests := []struct {
		name  string
		price task.Price
		usage task.Usage
		want  string
	}{
		{"tokens", chat, task.Usage{InputTokens: 100, OutputTokens: 100}, "0.000013"},
		{"a part of a nano is a whole one", task.Price{Unit: task.PerMillionTokens, Input: 1}, task.Usage{InputTokens: 1}, "0.000000001"},
		{"images", task.Price{Unit: task.PerImage, Output: 40_000_000}, task.Usage{Images: 3}, "0.12"},
		{"half a second", task.Price{Unit: task.PerSecond, Output: task.USD}, task.Usage{Milliseconds: 500}, "0.5"},
		{"characters", task.Price{Unit: task.PerMillionCharacters, Input: 15 * task.USD}, task.Usage{Characters: 200}, "0.003"},
		{"pages", task.Price{Unit: task.PerPage, Input: 1_500_000}, task.Usage{Pages: 7}, "0.0105"},
		{"requests", task.Price{Unit: task.PerRequest, Output: 8_000_000}, task.Usage{Requests: 1, InputTokens: 9}, "0.008"},
		{"searches", task.Price{Unit: task.PerSearch, Output: 5_000_000}, task.Usage{Searches: 3}, "0.015"},
		{"kinds of tokens", kinds, task.Usage{
			InputTokens: 1000, CachedInputTokens: 600, CacheWriteTokens: 100, OutputTokens: 50, ReasoningTokens: 20,
		}, "0.00157"}, // 300 × 2 + 600 × 0.2 + 100 × 2.5 + 30 × 10 + 20 × 15 = 1570 millionths
		{"a kind without a rate", kinds, task.Usage{InputTokens: 10, ImageInputTokens: 10}, "0.00002"},
		{"a kind above its whole", kinds, task.Usage{InputTokens: 10, CachedInputTokens: 50}, "0.000002"},
		{"a free kind", task.Price{Unit: task.PerMillionTokens, Input: task.USD, Rates: &task.Rates{CachedInput: new(task.Money)}}, task.Usage{
			InputTokens: 10, CachedInputTokens: 4,
		}, "0.000006"},
		{"one nano for both kinds", task.Price{Unit: task.PerMillionTokens, Input: 1, Rates: &task.Rates{CachedInput: new(task.Money(1))}}, task.Usage{
			InputTokens: 2, CachedInputTokens: 1,
		}, "0.000000001"},
		{"searches beside tokens", kinds, task.Usage{InputTokens: 10, Searches: 2, Pages: 9}, "0.02002"},
		{"a request beside images", task.Price{Unit: task.PerImage, Output: 40_000_000, Rates: &task.Rates{Request: new(task.Money(1_000_000))}}, task.Usage{
			Images: 2, Requests: 1,
		}, "0.081"},
		{"other members don't count", task.Price{Unit: task.PerImage, Output: task.USD}, task.Usage{InputTokens: 9}, "0"},
		{"no price", task.Price{}, task.Usage{InputTokens: 9, Images: 9}, "0"},
		{"negative counts", chat, task.Usage{InputTokens: -9}, "0"},
		{"one above the largest", task.Price{Unit: task.PerImage, Input: 1 << 62}, task.Usage{Images: 2}, "9223372036.854775807"},
		{"one word above", task.Price{Unit: task.PerImage, Input: 1 << 62}, task.Usage{Images: 4}, "9223372036.854775807"},
		{
			"too much to count",
			task.Price{Unit: task.PerImage, Input: task.MaxMoney, Output: task.MaxMoney},
			task.Usage{Images: math.MaxInt64},
			"9223372036.854775807",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.price.Cost(tt.usage).String(); got != tt.want {
				t.Errorf("cost %s, want %s", got, tt.want)
			}
		})
	}
}

func TestUnitValid(t *testing.T) {
	want := map[task.Unit]bool{
		"mtok": true, "image": true, "second": true, "mchar": true, "page": true, "request": true, "search": true, "": false, "hour": false, "MTOK": false,
	}
	for u, valid := range want {
		if u.Valid() != valid {
			t.Errorf("%q valid: %v, want %v", u, u.Valid(), valid)
		}
	}
}
