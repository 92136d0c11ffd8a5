package storetest

import (
	"maps"
	"math"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// ever selects the sums of all days.
var ever = store.UsageQuery{Last: math.MaxInt32 - 1}

func usageOf(log store.UsageLog, q store.UsageQuery) (map[store.UsageKey]store.Usage, error) {
	all := map[store.UsageKey]store.Usage{}
	err := log.EachUsage(background(), q, func(k store.UsageKey, u store.Usage) bool {
		if u != (store.Usage{}) { // a sum after a reopening equals a missing one
			all[k] = u
		}
		return true
	})
	return all, err
}

func spendOf(log store.UsageLog, q store.UsageQuery) (map[store.SpendKey]store.Spend, error) {
	all := map[store.SpendKey]store.Spend{}
	err := log.EachSpend(background(), q, func(k store.SpendKey, s store.Spend) bool {
		if s != (store.Spend{}) {
			all[k] = s
		}
		return true
	})
	return all, err
}

func (e *env) wantUsage(what string, q store.UsageQuery, want map[store.UsageKey]store.Usage) {
	e.Helper()
	got, err := usageOf(e.Registry, q)
	e.wantErr(what, err, nil)
	e.wantSame(what, got, want)
}

func (e *env) wantSpend(what string, q store.UsageQuery, want map[store.SpendKey]store.Spend) {
	e.Helper()
	got, err := spendOf(e.Registry, q)
	e.wantErr(what, err, nil)
	e.wantSame(what, got, want)
}

// priced is a request of a key for images at 10 nano-USD each.
func (e *env) priced(idempotency, key string) store.NewTask {
	n := e.request(idempotency)
	n.KeyID, n.Price, n.Reserved = key, task.Price{Unit: task.PerImage, Output: 10}, 1000
	return n
}

// end runs the one task that can be claimed at a supplier for a second.
func (e *env) end(supplier string, s store.Step) task.Task {
	e.Helper()
	lease := e.claimOne(chat)
	e.begin(lease, plan(supplier, 0))
	e.clock.Advance(time.Second)
	return e.advance(lease, s)
}

// measured is one of every kind of work.
var measured = task.Usage{
	InputTokens: 50, OutputTokens: 40, Images: 3, Milliseconds: 7000, Characters: 8, Pages: 11, Requests: 1, Searches: 2,
	CachedInputTokens: 20, CacheWriteTokens: 5, ImageInputTokens: 4, AudioInputTokens: 6,
	ReasoningTokens: 9, ImageOutputTokens: 10, AudioOutputTokens: 12,
}

func testUsage(e *env) {
	today := account.DateOf(e.clock.Now())
	one := store.UsageKey{Account: acme.Account, Day: today, Mode: task.Live, Capability: chat, KeyID: "key_1"}
	two := one
	two.KeyID = "key_2"
	e.create(e.priced("a", "key_1"))
	e.wantUsage("nothing has ended", ever, map[store.UsageKey]store.Usage{})
	e.end("s", succeeded(measured))
	e.create(e.priced("b", "key_1"))
	e.end("s", failed(task.Rejected))
	e.create(e.priced("c", "key_2"))
	if _, err := e.Store.RequestCancel(e.Context(), acme, e.letGo()); err != nil {
		e.Fatal(err)
	}
	want := map[store.UsageKey]store.Usage{
		one: {Succeeded: 1, Failed: 1, Cost: 30, Usage: measured},
		two: {Canceled: 1},
	}
	e.wantUsage("ended", ever, want)

	e.lapse(24 * time.Hour)
	e.wantSame("reopened", e.create(e.priced("b", "key_1")).Admit, store.AdmitReopened)
	u := want[one]
	u.Failed = 0
	want[one] = u
	e.wantUsage("a reopened task hasn't failed", ever, want)
	e.end("s", succeeded(task.Usage{Images: 1}))
	tomorrow := one
	tomorrow.Day++
	want[tomorrow] = store.Usage{Succeeded: 1, Cost: 10, Usage: task.Usage{Images: 1}}
	if e.Crash != nil {
		e.Engine = e.Crash(e.T)
	}
	e.wantUsage("two days", ever, want)
	e.wantUsage("of the account", store.UsageQuery{Owner: acme.Account, Last: today + 1}, want)
	e.wantUsage("of another account", store.UsageQuery{Owner: "acct_acm", Last: today + 1}, map[store.UsageKey]store.Usage{})
	delete(want, tomorrow)
	e.wantUsage("the first day", store.UsageQuery{Owner: acme.Account, First: today, Last: today}, want)
	e.wantUsage("before it", store.UsageQuery{Last: today - 1}, map[store.UsageKey]store.Usage{})
	seen := 0
	e.wantErr("EachUsage", e.Registry.EachUsage(e.Context(), ever, func(store.UsageKey, store.Usage) bool { seen++; return false }), nil)
	e.wantSame("visits of one who has enough", seen, 1)
}

// testUsageByMetadata: a task counts once by its key and once by each pair that it is summed by, through a reopening and
// a crash, whatever characters the pairs have.
func testUsageByMetadata(e *env) {
	today := account.DateOf(e.clock.Now())
	largest := strings.Repeat("🦊", 512)
	create := func(idempotency string, m task.Metadata, by ...string) store.Admit {
		n := e.priced(idempotency, "key_1")
		n.Metadata, n.UsageBy = m, by
		return e.create(n).Admit
	}
	create("a", task.Metadata{"team": "search", "user": "1"}, "team", "user")
	e.end("s", succeeded(measured))
	create("b", task.Metadata{"team": "search", "teams": "x"}, "team")
	e.end("s", failed(task.Rejected))
	create("c", task.Metadata{"team": largest}, "team")
	e.end("s", succeeded(task.Usage{Images: 1}))
	create("d", task.Metadata{"team": "a=b\x00"}) // of no sum by a pair
	e.end("s", succeeded(task.Usage{Images: 1}))
	key := func(pair string) store.UsageKey {
		k := store.UsageKey{Account: acme.Account, Day: today, Mode: task.Live, Capability: chat, Pair: pair}
		if pair == "" {
			k.KeyID = "key_1"
		}
		return k
	}
	image := store.Usage{Succeeded: 1, Cost: 10, Usage: task.Usage{Images: 1}}
	teams := map[store.UsageKey]store.Usage{
		key("team=search"):     {Succeeded: 1, Failed: 1, Cost: 30, Usage: measured},
		key("team=" + largest): image,
	}
	of := func(names ...string) store.UsageQuery {
		return store.UsageQuery{Owner: acme.Account, Last: today + 1, Metadata: names}
	}
	e.wantUsage("by team", of("team"), teams)
	e.wantUsage("by user", of("user"), map[store.UsageKey]store.Usage{key("user=1"): {Succeeded: 1, Cost: 30, Usage: measured}})
	e.wantUsage("by a part of a name", of("tea"), map[store.UsageKey]store.Usage{})
	all := measured
	all.Images += 2
	byKey := store.Usage{Succeeded: 3, Failed: 1, Cost: 50, Usage: all}
	e.wantUsage("by key", of(), map[store.UsageKey]store.Usage{key(""): byKey})
	every := maps.Clone(teams)
	every[key("user=1")] = store.Usage{Succeeded: 1, Cost: 30, Usage: measured}
	e.wantUsage("by two names", of("user", "team"), every)
	every[key("")] = byKey
	e.wantUsage("by key and two names", of("", "user", "team"), every)
	e.wantUsage("by all of these, of all accounts", store.UsageQuery{Last: today + 1, Metadata: []string{"", "user", "team"}}, every)
	seen := 0
	e.wantErr("EachUsage", e.Registry.EachUsage(e.Context(), of("", "team"), func(store.UsageKey, store.Usage) bool { seen++; return false }), nil)
	e.wantSame("rows before it was enough", seen, 1)

	e.lapse(24 * time.Hour)
	e.wantSame("reopened", create("b", nil), store.AdmitReopened)
	e.end("s", succeeded(task.Usage{Images: 1}))
	if e.Crash != nil {
		e.Engine = e.Crash(e.T)
	}
	teams[key("team=search")] = store.Usage{Succeeded: 1, Cost: 30, Usage: measured}
	tomorrow := key("team=search")
	tomorrow.Day++
	teams[tomorrow] = image
	e.wantUsage("a day later", of("team"), teams)
}

// testSpend fails at two suppliers, the second time with an unknown outcome that turns out well.
func testSpend(e *env) {
	key := func(supplier string) store.SpendKey {
		return store.SpendKey{Supplier: supplier, Day: account.DateOf(e.clock.Now()), Mode: task.Live, Capability: chat, Model: "m"}
	}
	e.create(e.priced("a", "key_1"))
	lease := e.claimOne(chat)
	e.begin(lease, plan("s", 0))
	e.clock.Advance(time.Second)
	e.advance(lease, store.Step{Close: &task.Closing{State: task.FailedAttempt, Cost: 4}})
	e.begin(lease, plan("t", 0))
	e.clock.Advance(time.Second)
	step := failed(task.UnknownOutcome)
	step.Close.CostUnknown = true
	e.show(e.advance(lease, step))
	want := map[store.SpendKey]store.Spend{key("s"): {Failed: 1, Cost: 4}, key("t"): {Unknown: 1, CostUnknown: 1}}
	e.wantSpend("failed", ever, want)

	e.create(e.priced("a", "key_1"))
	lease = e.claimOne(chat)
	e.advance(lease, store.Step{Readopt: true})
	e.wantSpend("asked after again", ever, map[store.SpendKey]store.Spend{key("s"): {Failed: 1, Cost: 4}})
	e.clock.Advance(time.Second)
	e.advance(lease, store.Step{Close: &task.Closing{State: task.Rejected}})
	e.begin(lease, plan("u", 0))
	e.clock.Advance(2 * time.Second)
	step = succeeded(task.Usage{Images: 2})
	step.Close.Cost = 7
	e.advance(lease, step)
	want = map[store.SpendKey]store.Spend{
		key("s"): {Failed: 1, Cost: 4},
		key("t"): {Rejected: 1},
		key("u"): {OK: 1, Cost: 7, Milliseconds: 2000},
	}
	e.wantSpend("what came before the reopening saved nothing", ever, want)

	e.create(e.priced("b", "key_1"))
	lease = e.claimOne(chat)
	question := plan("judge", 0)
	question.Moderation = true
	e.begin(lease, question)
	e.advance(lease, store.Step{Close: &task.Closing{State: task.OK, Cost: 2}})
	for _, supplier := range []string{"s", "t", "s"} {
		e.begin(lease, plan(supplier, 0))
		e.advance(lease, store.Step{Close: closing(task.Rejected)})
	}
	e.begin(lease, plan("u", 0))
	e.advance(lease, succeeded(task.Usage{Images: 1}))
	want = map[store.SpendKey]store.Spend{
		key("s"): {Failed: 1, Rejected: 2, Cost: 4, Saved: 1, SavedCost: 10},
		key("t"): {Rejected: 2, Saved: 1, SavedCost: 10},
		key("u"): {OK: 2, Cost: 7, Milliseconds: 2000},

		key("judge"): {OK: 1, Cost: 2}, // it was asked, and no change was saved
	}
	e.wantSpend("saved once at each supplier", ever, want)
	today := account.DateOf(e.clock.Now())
	e.wantSpend("of one supplier", store.UsageQuery{Owner: "t", Last: today}, map[store.SpendKey]store.Spend{key("t"): want[key("t")]})
}

func testUsageSweep(e *env) {
	today := account.DateOf(e.clock.Now())
	for i := range 3 {
		e.create(e.priced(string(rune('a'+i)), "key_1"))
		e.end("s", succeeded(task.Usage{Images: 1}))
		e.lapse(24 * time.Hour)
	}
	sweep := func(kept time.Duration) int {
		total := 0
		for range 10 { // one step may look at a part only
			s, err := e.Store.Sweep(e.Context(), store.SweepRequest{Usage: kept, Limit: 10})
			e.wantErr("Sweep", err, nil)
			total += s.Removed
		}
		return total
	}
	e.wantSame("kept for ever", sweep(0), 0)
	e.wantSame("a usage and a spend", sweep(2*24*time.Hour), 2)
	days := func(of map[store.UsageKey]store.Usage) (n int) {
		for k := range of {
			if k.Day > today {
				n++
			}
		}
		return n
	}
	got, err := usageOf(e.Registry, ever)
	e.wantErr("EachUsage", err, nil)
	e.wantSame("days that are left", []int{days(got), len(got)}, []int{2, 2})
}
