package store

import (
	"context"
	"math"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/task"
)

// UsageLog reads the sums of usage. Its sums are kept in the commits that end tasks and attempts, so that reading
// them is no scan of tasks, and they are as durable as these.
type UsageLog interface {
	// EachUsage calls visit with the sums of callers' usage, until it returns false, in no order.
	EachUsage(ctx context.Context, q UsageQuery, visit func(UsageKey, Usage) bool) error
	// EachSpend does the same with the sums of suppliers; q.Owner is a supplier's name.
	EachSpend(ctx context.Context, q UsageQuery, visit func(SpendKey, Spend) bool) error
}

// UsageQuery selects days, the first and the last included.
type UsageQuery struct {
	Owner       string // an account's id, or a supplier's name; "" for all
	First, Last account.Date
	Metadata    []string // of callers' usage, names of metadata: the sums by their pairs, "" being those by key; nil: by key alone
}

// Holds reports whether sums of the owner and the day are asked for.
func (q UsageQuery) Holds(owner string, day account.Date) bool {
	return (q.Owner == "" || q.Owner == owner) && q.First <= day && day <= q.Last
}

// HoldsPair reports whether sums by this pair are asked for, "" being those by key.
func (q UsageQuery) HoldsPair(pair string) bool {
	if pair == "" {
		return q.ByKey()
	}
	name, _, ok := strings.Cut(pair, "=")
	return ok && slices.Contains(q.Metadata, name)
}

// ByKey reports whether sums by key are asked for.
func (q UsageQuery) ByKey() bool { return len(q.Metadata) == 0 || slices.Contains(q.Metadata, "") }

// ByPair reports whether sums by pairs of metadata are asked for.
func (q UsageQuery) ByPair() bool {
	return slices.ContainsFunc(q.Metadata, func(name string) bool { return name != "" })
}

// UsageKey identifies the sums of a caller's usage: those by key, and those by a pair of metadata. The day is that of a
// task's end. A task counts once by its key, and once by each pair that Task.UsageBy names.
type UsageKey struct {
	Account    string
	Day        account.Date
	Mode       task.Mode
	Capability string
	KeyID      string // "" in a sum by a pair
	Pair       string // such as "team=search"; "" in a sum by key
}

// Usage is the sums of ended tasks. A task that was reopened counts by its last end alone.
type Usage struct {
	Succeeded, Failed, Canceled int64
	task.Usage
	Cost task.Money
}

// SpendKey identifies the sums of a supplier's attempts. The day is that of an attempt's end.
type SpendKey struct {
	Supplier   string
	Day        account.Date
	Mode       task.Mode
	Capability string
	Model      string
}

// Spend is the sums of ended attempts.
type Spend struct {
	OK, Failed, Rejected, Unknown int64
	Cost                          task.Money // the supplier's charges, as far as they are known
	CostUnknown                   int64      // attempts that may have been charged for
	Milliseconds                  int64      // from intent to end, of those that ended well
	Saved                         int64      // tasks that failed here and succeeded elsewhere
	SavedCost                     task.Money // their callers' payments
}

// UsageChange is the change of a sum.
type UsageChange struct {
	UsageKey
	By Usage
}

// SpendChange is the change of a supplier's sum.
type SpendChange struct {
	SpendKey
	By Spend
}

// UsageChanges calls change with the changes of the sums of usage when before becomes after; before is the zero Task
// at a creation.
func UsageChanges(before, after *task.Task, change func(UsageChange)) {
	if before.State == after.State {
		return
	}
	if before.State.Terminal() && before.FinishedAt != nil {
		usageChanges(before, usageOf(before).negative(), change)
	}
	if after.State.Terminal() && after.FinishedAt != nil {
		usageChanges(after, usageOf(after), change)
	}
}

func usageChanges(t *task.Task, by Usage, change func(UsageChange)) {
	k := UsageKey{Account: t.Scope.Account, Day: account.DateOf(*t.FinishedAt), Mode: t.Scope.Mode, Capability: t.Capability}
	for _, name := range t.UsageBy {
		if k.Pair = name; !strings.HasSuffix(name, task.OtherTexts) {
			k.Pair = name + "=" + t.Metadata[name]
		}
		change(UsageChange{k, by})
	}
	k.Pair, k.KeyID = "", t.KeyID
	change(UsageChange{k, by})
}

func usageOf(t *task.Task) Usage {
	u := Usage{Cost: t.Cost}
	switch t.State {
	case task.Succeeded:
		u.Succeeded = 1
	case task.Failed:
		u.Failed = 1
	default:
		u.Canceled = 1
	}
	if t.Usage != nil {
		u.Usage = *t.Usage
	}
	return u
}

// negative returns what takes u out of a sum.
func (u Usage) negative() Usage {
	n := u.Numbers()
	for i := range n {
		n[i] = -n[i]
	}
	return UsageOf(n)
}

// SpendChanges calls change with the changes of the suppliers' sums when before becomes after.
func SpendChanges(before, after *task.Task, change func(SpendChange)) {
	ended := func(a *task.Attempt, sign int64) {
		if a.State.Ended() && a.ClosedAt != nil {
			change(SpendChange{spendKey(after, a), spendOf(a, sign)})
		}
	}
	for i := range after.Attempts {
		a := &after.Attempts[i]
		if i >= len(before.Attempts) {
			ended(a, 1)
		} else if old := &before.Attempts[i]; old.State != a.State {
			ended(old, -1)
			ended(a, 1)
		}
	}
	if after.State == task.Succeeded && before.State != task.Succeeded {
		saved(after, change)
	}
}

func spendKey(t *task.Task, a *task.Attempt) SpendKey {
	return SpendKey{Supplier: a.Supplier, Day: account.DateOf(*a.ClosedAt), Mode: t.Scope.Mode, Capability: t.Capability, Model: a.Model}
}

func spendOf(a *task.Attempt, sign int64) Spend {
	s := Spend{Cost: task.Money(sign) * a.Cost}
	switch a.State {
	case task.OK:
		s.OK, s.Milliseconds = sign, sign*a.ClosedAt.Sub(a.StartedAt).Milliseconds()
	case task.FailedAttempt:
		s.Failed = sign
	case task.Rejected:
		s.Rejected = sign
	default:
		s.Unknown = sign
	}
	if a.CostUnknown {
		s.CostUnknown = sign
	}
	return s
}

// saved counts the task once for each supplier at which it failed before another did the work.
func saved(t *task.Task, change func(SpendChange)) {
	last := len(t.Attempts) - 1
	for i := t.Round; i < last; i++ {
		a := &t.Attempts[i]
		again := slices.ContainsFunc(t.Attempts[i+1:], func(b task.Attempt) bool { return b.Supplier == a.Supplier && !b.Moderation })
		if a.ClosedAt != nil && !again && !a.Moderation {
			change(SpendChange{spendKey(t, a), Spend{Saved: 1, SavedCost: t.Cost}})
		}
	}
}

// The sums as numbers in a fixed order, for engines to keep. A new one comes last.

// UsageNumbers is how many numbers a Usage has, SpendNumbers a Spend.
const (
	UsageNumbers = 19
	SpendNumbers = 9
)

// Numbers returns the sums.
func (u Usage) Numbers() [UsageNumbers]int64 {
	return [...]int64{
		u.Succeeded, u.Failed, u.Canceled, u.InputTokens, u.OutputTokens, u.Images, u.Milliseconds, u.Characters, int64(u.Cost),
		u.Pages, u.Requests, u.Searches, u.CachedInputTokens, u.CacheWriteTokens, u.ImageInputTokens, u.AudioInputTokens,
		u.ReasoningTokens, u.ImageOutputTokens, u.AudioOutputTokens,
	}
}

// UsageOf is the inverse of Numbers.
func UsageOf(n [UsageNumbers]int64) Usage {
	return Usage{
		Succeeded: n[0], Failed: n[1], Canceled: n[2], Cost: task.Money(n[8]),
		Usage: task.Usage{
			InputTokens: n[3], OutputTokens: n[4], Images: n[5], Milliseconds: n[6], Characters: n[7],
			Pages: n[9], Requests: n[10], Searches: n[11], CachedInputTokens: n[12], CacheWriteTokens: n[13],
			ImageInputTokens: n[14], AudioInputTokens: n[15], ReasoningTokens: n[16], ImageOutputTokens: n[17], AudioOutputTokens: n[18],
		},
	}
}

// Numbers returns the sums.
func (s Spend) Numbers() [SpendNumbers]int64 {
	return [...]int64{
		s.OK, s.Failed, s.Rejected, s.Unknown, int64(s.Cost), s.CostUnknown, s.Milliseconds, s.Saved, int64(s.SavedCost),
	}
}

// SpendOf is the inverse of Numbers.
func SpendOf(n [SpendNumbers]int64) Spend {
	return Spend{
		OK: n[0], Failed: n[1], Rejected: n[2], Unknown: n[3], Cost: task.Money(n[4]), CostUnknown: n[5],
		Milliseconds: n[6], Saved: n[7], SavedCost: task.Money(n[8]),
	}
}

// AddSums adds each number to its sum, which stays from 0 to the largest.
func AddSums(sums, by []int64) {
	for i, n := range by {
		switch {
		case n > 0 && sums[i] > math.MaxInt64-n:
			sums[i] = math.MaxInt64
		default:
			sums[i] = max(sums[i]+n, 0)
		}
	}
}
