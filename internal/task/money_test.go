package task_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"unitask/internal/task"
)

func TestParseMoney(t *testing.T) {
	tests := []struct {
		text string
		want task.Money
	}{
		{"0", 0},
		{"0.05", 50_000_000},
		{"1", task.USD},
		{"1.0", task.USD},
		{"007.50", 7_500_000_000},
		{"0.000000001", 1},
		{"999999999.999999999", 999_999_999_999_999_999},
		{"9223372036.854775807", task.MaxMoney},
	}
	for _, tt := range tests {
		if got, err := task.ParseMoney(tt.text); err != nil || got != tt.want {
			t.Errorf("ParseMoney(%q) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
	for _, text := range []string{
		"", ".", "1.", ".5", "-1", "+1", "-0", "1e3", "0x1", " 1", "1 ", "1,5", "1.2.3", "1_000", "NaN", "Inf",
		"٣", "1.٣", "0.0000000001", "9223372036.854775808", "9999999999.999999999", "10000000000", "1\x00", "\xff",
	} {
		if got, err := task.ParseMoney(text); !errors.Is(err, task.ErrMoney) || got != 0 {
			t.Errorf("ParseMoney(%q) = %d, %v, want ErrMoney", text, got, err)
		}
	}
}

func TestMoneyString(t *testing.T) {
	for m, want := range map[task.Money]string{
		0: "0", 1: "0.000000001", 10: "0.00000001", task.USD: "1", 10 * task.USD: "10",
		task.USD + task.USD/2: "1.5", 13_000: "0.000013", -1: "-0.000000001", -task.USD: "-1",
		task.MaxMoney: "9223372036.854775807", math.MinInt64: "-9223372036.854775808",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d nano-USD reads %q, want %q", int64(m), got, want)
		}
	}
}

// FuzzParseMoney: a parsed text is exactly the rational number that it names, and its String parses to the same
// amount.
func FuzzParseMoney(f *testing.F) {
	for _, s := range []string{"0", "0.05", "1.", "007.50", "9223372036.854775807", "9223372036.854775808", "-1", "1e3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := task.ParseMoney(text)
		if err != nil {
			if !errors.Is(err, task.ErrMoney) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if got := big.NewRat(int64(m), int64(task.USD)); !ok || got.Cmp(want) != 0 {
			t.Errorf("%q parses as %s", text, got)
		}
		if again, err := task.ParseMoney(m.String()); err != nil || again != m || m < 0 {
			t.Errorf("%q is %d, written %q, read again %d, %v", text, m, m, again, err)
		}
	})
}

func TestMoneyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := task.Money(rapid.Int64Min(0).Draw(t, "amount"))
		if got, err := task.ParseMoney(m.String()); err != nil || got != m {
			t.Fatalf("%d, written %q, is read as %d, %v", int64(m), m, int64(got), err)
		}
	})
}

// saturated is the exact value, or MaxMoney if it is more.
func saturated(exact *big.Int) task.Money {
	if !exact.IsInt64() {
		return task.MaxMoney
	}
	return task.Money(exact.Int64())
}

func TestAddAgainstExactSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Min(0).Draw(t, "a"), rapid.Int64Min(0).Draw(t, "b")
		want := saturated(new(big.Int).Add(big.NewInt(a), big.NewInt(b)))
		if got := task.Money(a).Add(task.Money(b)); got != want {
			t.Fatalf("%d + %d = %d, want %d", a, b, got, want)
		}
	})
	if got := task.MaxMoney.Add(1); got != task.MaxMoney {
		t.Errorf("above the largest amount: %d", got)
	}
}

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

func exactCost(p task.Price, u task.Usage) task.Money {
	both := big.NewInt(int64(saturated(new(big.Int).Add(big.NewInt(int64(p.Input)), big.NewInt(int64(p.Output))))))
	switch p.Unit {
	case task.PerMillionTokens:
		in := exactTerm(u.InputTokens, big.NewInt(int64(p.Input)), 1e6)
		out := exactTerm(u.OutputTokens, big.NewInt(int64(p.Output)), 1e6)
		return saturated(in.Add(in, out))
	case task.PerImage:
		return saturated(exactTerm(u.Images, both, 1))
	case task.PerSecond:
		return saturated(exactTerm(u.Milliseconds, both, 1e3))
	case task.PerMillionCharacters:
		return saturated(exactTerm(u.Characters, both, 1e6))
	default:
		return 0
	}
}

var units = []task.Unit{"", task.PerMillionTokens, task.PerImage, task.PerSecond, task.PerMillionCharacters, "hour"}

func TestCostAgainstExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.OneOf(rapid.Int64Range(-2, 1000), rapid.Int64())
		amount := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, int64(1000*task.USD)), rapid.Int64Min(0))
		p := task.Price{
			Unit:  rapid.SampledFrom(units).Draw(t, "unit"),
			Input: task.Money(amount.Draw(t, "input")), Output: task.Money(amount.Draw(t, "output")),
		}
		u := task.Usage{
			InputTokens: count.Draw(t, "in"), OutputTokens: count.Draw(t, "out"), Images: count.Draw(t, "images"),
			Milliseconds: count.Draw(t, "ms"), Characters: count.Draw(t, "characters"),
		}
		if got, want := p.Cost(u), exactCost(p, u); got != want {
			t.Fatalf("%+v of %+v costs %d, want %d", u, p, got, want)
		}
	})
}

func TestCost(t *testing.T) {
	chat := task.Price{Unit: task.PerMillionTokens, Input: 50_000_000, Output: 80_000_000}
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
		"mtok": true, "image": true, "second": true, "mchar": true, "": false, "hour": false, "MTOK": false,
	}
	for u, valid := range want {
		if u.Valid() != valid {
			t.Errorf("%q valid: %v, want %v", u, u.Valid(), valid)
		}
	}
}
