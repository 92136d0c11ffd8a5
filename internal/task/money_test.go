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
