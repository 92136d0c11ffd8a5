package task

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Money is an exact amount in nano-USD (10⁻⁹ US dollars).
type Money int64

// USD is one US dollar.
const USD Money = 1_000_000_000

// MaxMoney is the largest amount; sums and products saturate at it.
const MaxMoney Money = math.MaxInt64

// ErrMoney reports a text that isn't an exact decimal amount between 0 and MaxMoney.
var ErrMoney = errors.New("not a decimal amount in USD with at most nine decimals, up to 9223372036.854775807")

// ParseMoney reads a decimal amount in USD such as "0.05"; negative amounts are refused. It takes
// every text that String writes for an amount that isn't negative.
func ParseMoney(s string) (Money, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" || len(whole) > 10 || len(frac) > 9 || strings.HasSuffix(s, ".") {
		return 0, fmt.Errorf("%q: %w", s, ErrMoney)
	}
	var n uint64 // 19 digits fit
	for _, digit := range whole + frac + strings.Repeat("0", 9-len(frac)) {
		if digit < '0' || digit > '9' {
			return 0, fmt.Errorf("%q: %w", s, ErrMoney)
		}
		n = n*10 + uint64(digit-'0')
	}
	if n > uint64(MaxMoney) {
		return 0, fmt.Errorf("%q: %w", s, ErrMoney)
	}
	return Money(n), nil
}

// String returns the exact decimal amount in USD without trailing zeros.
func (m Money) String() string {
	var buf [24]byte
	b, n := buf[:0], uint64(m)
	if m < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendUint(b, n/uint64(USD), 10)
	if frac := n % uint64(USD); frac != 0 {
		at := len(b)
		b = strconv.AppendUint(b, frac+uint64(USD), 10) // ten digits, the first a 1
		b[at] = '.'
		b = bytes.TrimRight(b, "0")
	}
	return string(b)
}

// Add returns the sum, saturating at MaxMoney; both must not be negative.
func (m Money) Add(o Money) Money {
	if m > MaxMoney-o {
		return MaxMoney
	}
	return m + o
}

// Percent returns which part of another amount m is, in whole percent rounded down; 0 unless both are above 0, and
// math.MaxInt32 at most.
func (m Money) Percent(of Money) int {
	if m <= 0 || of <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(m), 100)
	if high >= uint64(of) {
		return math.MaxInt32
	}
	percent, _ := bits.Div64(high, low, uint64(of))
	return int(min(percent, math.MaxInt32))
}

// Usage is measured work; members that don't apply are 0.
type Usage struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	Images       int64 `json:"images,omitempty"`
	Milliseconds int64 `json:"ms,omitempty"` // of video or audio
	Characters   int64 `json:"characters,omitempty"`
	Pages        int64 `json:"pages,omitempty"` // of documents
	Requests     int64 `json:"requests,omitempty"`
	Searches     int64 `json:"searches,omitempty"`

	// Parts of InputTokens. A token is in one of them at most.
	CachedInputTokens int64 `json:"cached_input_tokens,omitempty"` // read from a cache
	CacheWriteTokens  int64 `json:"cache_write_tokens,omitempty"`
	ImageInputTokens  int64 `json:"image_input_tokens,omitempty"`
	AudioInputTokens  int64 `json:"audio_input_tokens,omitempty"`

	// Parts of OutputTokens. A token is in one of them at most.
	ReasoningTokens   int64 `json:"reasoning_tokens,omitempty"`
	ImageOutputTokens int64 `json:"image_output_tokens,omitempty"`
	AudioOutputTokens int64 `json:"audio_output_tokens,omitempty"`
}

// HoldKind is the resource of a hold.
type HoldKind string

// The kinds of hold.
const (
	HoldBudget HoldKind = "budget" // nano-USD; settled to the cost at the end
	HoldSpend  HoldKind = "spend"  // nano-USD; settled at the end to the suppliers' charges, see Task.Spent
	HoldOpen   HoldKind = "open"   // open tasks; given back at the end
	HoldQueue  HoldKind = "queue"  // room in the queue; given back when the task starts or ends
	HoldTold   HoldKind = "told"   // no task's: 1 once a webhook was told of a budget
)

// Stays reports whether a counter of the kind may have more than open tasks hold: what they were settled to at their end.
func (k HoldKind) Stays() bool { return k == HoldBudget || k == HoldSpend || k == HoldTold }

// Hold is an amount taken from a bounded counter in the commit that accepts a task, or not at all.
type Hold struct {
	Scope  string   `json:"scope"` // whose counter: "key:key_…", "account:acct_…", with the period for budgets
	Kind   HoldKind `json:"kind"`
	Amount int64    `json:"amount"`
	Limit  int64    `json:"-"` // 0: no limit, the counter is kept all the same
	// Lasts is how long from now the counter is of interest; 0: for ever. It isn't kept with the task.
	Lasts time.Duration `json:"-"`
}
