package routing_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// turn is one thing that happens to the route "a", and who the next request goes to.
type turn struct {
	what string
	do   func(h *routing.Health, now *time.Time)
	want string // the first choice; the dearer "b" takes all that "a" doesn't
}

func after(d time.Duration, want string) turn {
	return turn{"after " + d.String(), func(_ *routing.Health, now *time.Time) { *now = now.Add(d) }, want}
}

func cools(h *routing.Health, _ *time.Time) {
	h.Pause("a/m", time.Minute, fault.CapacityExhausted, "cooling down")
}
func failed(h *routing.Health, _ *time.Time)   { h.Failed("a/m", "acct_1") }
func worked(h *routing.Health, _ *time.Time)   { h.Worked("a/m", "acct_1") }
func accepted(h *routing.Health, _ *time.Time) { h.Accepted("a/m") }

// TestBreaker asks for a route after each turn and keeps whatever it is given: a probe is never told
// how it ended unless a turn says so.
func TestBreaker(t *testing.T) {
	trips := []turn{{"1", failed, "a"}, {"2", failed, "a"}, {"3", failed, "a"}, {"4", failed, "a"}, {"5", failed, "b"}}
	for name, turns := range map[string][]turn{
		"a result between": {{"1", failed, "a"}, {"2", failed, "a"}, {"3", failed, "a"}, {"4", failed, "a"}, {"result", worked, "a"}, {"1 again", failed, "a"}},
		"tripped, and back by the probe": append(trips[:5:5], after(9*time.Second, "b"), after(time.Second, "a"),
			after(time.Second, "b"), turn{"the probe worked", worked, "a"}, after(0, "a"), turn{"one failure", failed, "a"}),
		"tripped, and the probe fails": append(trips[:5:5], after(10*time.Second, "a"), turn{"the probe failed", failed, "b"},
			after(9*time.Second, "b"), after(time.Second, "a"), after(0, "b")),
		"a probe whose end nobody tells": append(trips[:5:5], after(10*time.Second, "a"), after(59*time.Second, "b"),
			after(time.Second, "a"), after(0, "b")),
		"a job accepted doesn't end a trip": append(trips[:5:5], after(10*time.Second, "a"), turn{"accepted", accepted, "b"}),
		"a result from before doesn't end a pause": {
			{"cools", cools, "b"}, {"late result", worked, "b"}, after(time.Minute, "a"), after(0, "b"), {"the probe worked", worked, "a"}, after(0, "a"),
		},
		"a job accepted ends a cool-down": {{"cools", cools, "b"}, after(time.Minute, "a"), after(0, "b"), {"accepted", accepted, "a"}, after(0, "a")},
		"a cool-down again":               {{"cools", cools, "b"}, after(time.Minute, "a"), {"cools", cools, "b"}, after(59*time.Second, "b"), after(time.Second, "a")},
		"a failure while it cools":        {{"cools", cools, "b"}, {"late failure", failed, "b"}, after(time.Minute, "a")},
		"the probe of a cool-down fails":  {{"cools", cools, "b"}, after(time.Minute, "a"), {"failed", failed, "b"}, after(10*time.Second, "a")},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			health := routing.NewHealth(func() time.Time { return now })
			table := mustTable(t, tokens("a", 1, 1), tokens("b", 2, 2))
			for i, turn := range turns {
				turn.do(health, &now)
				if got := chosen(table, health)[0]; got != turn.want {
					t.Fatalf("turn %d, %s: %s", i, turn.what, got)
				}
			}
		})
	}
}

// TestOneAccountsFailuresAreItsOwn has accounts fail in turn and asks who still gets the route "a": failures of
// one account keep away that account alone, for as long as no second one fails too.
func TestOneAccountsFailuresAreItsOwn(t *testing.T) {
	type step struct {
		who  string // fails, or "+" and the account that has a result; "" for no event
		wait time.Duration
		open string // the accounts that get the route then: h is hostile, v its victim, o another
	}
	five := []step{{"h", 0, "hvo"}, {"h", 0, "hvo"}, {"h", 0, "hvo"}, {"h", 0, "hvo"}, {"h", 0, "vo"}}
	for name, steps := range map[string][]step{
		"one account, for ever": append(five[:5:5], step{"h", 0, "vo"}, step{"", 10 * time.Second, "hvo"}, step{"h", 0, "vo"},
			step{"h", 0, "vo"}, step{"", 10 * time.Second, "hvo"}, step{"+h", 0, "hvo"}, step{"h", 0, "hvo"}),
		"a second one fails once":       append(five[:5:5], step{"v", 0, "vo"}, step{"", 10 * time.Second, "hvo"}),
		"a second one fails twice":      append(five[:5:5], step{"v", 0, "vo"}, step{"v", 0, ""}, step{"", 10 * time.Second, "hvo"}),
		"results between":               append(five[:5:5], step{"v", 0, "vo"}, step{"+o", 0, "vo"}, step{"v", 0, "vo"}, step{"v", 0, "vo"}),
		"each fails, five in all":       {{"h", 0, "hvo"}, {"v", 0, "hvo"}, {"o", 0, "hvo"}, {"h", 0, "hvo"}, {"v", 0, ""}},
		"another's result ends no trip": append(five[:5:5], step{"+v", 0, "vo"}, step{"", 9 * time.Second, "vo"}, step{"", time.Second, "hvo"}),
		"tripped for all, and one's probe fails": append(five[:5:5], step{"v", 0, "vo"}, step{"v", 0, ""}, step{"", 10 * time.Second, "hvo"},
			step{"h", 0, "vo"}, step{"h", 0, "vo"}, step{"+v", 0, "vo"}),
		"tripped for all, and two probes fail": append(five[:5:5], step{"v", 0, "vo"}, step{"v", 0, ""}, step{"", 10 * time.Second, "hvo"},
			step{"h", 0, "vo"}, step{"o", 0, ""}, step{"", 10 * time.Second, "hvo"}),
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			health := routing.NewHealth(func() time.Time { return now })
			table := mustTable(t, tokens("a", 1, 1))
			for i, s := range steps {
				now = now.Add(s.wait)
				if who, worked := strings.CutPrefix(s.who, "+"); worked {
					health.Worked("a/m", who)
				} else if who != "" {
					health.Failed("a/m", who)
				}
				open := ""
				for _, who := range []string{"h", "v", "o"} {
					w := want(task.Usage{})
					w.Account = who
					choices, _ := table.Choose(w, health)
					if health.Keep(choices, "", ""); len(choices) > 0 { // a probe is given back
						open += who
					}
				}
				if open != s.open {
					t.Fatalf("step %d: open to %q, want %q", i, open, s.open)
				}
			}
		})
	}
}

// TestAccountsAreBounded has more accounts fail than are remembered: the oldest failure is forgotten.
func TestAccountsAreBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	health := routing.NewHealth(func() time.Time { return now })
	table := mustTable(t, tokens("a", 1, 1))
	for i := range 1000 {
		for range 5 {
			health.Failed("a/m", strconv.Itoa(i))
			health.Worked("a/m", "well") // never all of them
		}
	}
	if got := table.States(health)[0]; got.Accounts != 256 || got.Reason != "tripped: failing" {
		t.Errorf("%d accounts are kept away, for %q", got.Accounts, got.Reason)
	}
	now = now.Add(10 * time.Second)
	for i := range 1000 {
		health.Worked("a/m", strconv.Itoa(i))
	}
	want := routing.State{Capability: "text.chat", Supplier: "a", Model: "m", Mode: task.Live, Approved: true}
	if diff := cmp.Diff(want, table.States(health)[0]); diff != "" {
		t.Errorf("what works again (-want +got):\n%s", diff)
	}
}

// TestProbeIsRecorded reads the ledger of a probe and of a task that meets it.
func TestProbeIsRecorded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	health := routing.NewHealth(func() time.Time { return now })
	table := mustTable(t, tokens("a", 1, 1))
	health.Pause("a/m", time.Second, fault.CapacityExhausted, "cooling down")
	now = now.Add(time.Second)
	choices, _ := table.Choose(want(task.Usage{}), health)
	if diff := cmp.Diff("estimated 0 USD; the probe after cooling down", choices[0].Reason); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, passed := table.Choose(want(task.Usage{}), health)
	if diff := cmp.Diff([]task.Passed{{Supplier: "a", Model: "m", Reason: routing.Probing, Code: fault.CapacityExhausted}}, passed); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if places, open := table.Places(task.Live, "text.chat", health); open || places != nil {
		t.Errorf("while it is probed work is claimed: %v %v", places, open)
	}
	health.Keep(choices, "", "") // the store had no room: another may probe
	if got := chosen(table, health); len(got) != 1 {
		t.Errorf("a probe that wasn't started isn't given back: %v", got)
	}
}

// TestRates counts requests and tokens, of a route and of its supplier.
func TestRates(t *testing.T) {
	const full, fullTokens = "full: requests a minute", "full: tokens a minute"
	for name, tt := range map[string]struct {
		route, supplier routing.Rate
		sizes           []int64 // tokens of one request a second
		want            []string
	}{
		"requests":             {routing.Rate{Requests: 2}, routing.Rate{}, []int64{1, 1, 1}, []string{"", "", full}},
		"tokens":               {routing.Rate{Tokens: 100}, routing.Rate{}, []int64{60, 60, 40, 1}, []string{"", fullTokens, "", fullTokens}},
		"of the supplier":      {routing.Rate{Requests: 9}, routing.Rate{Requests: 1, Tokens: 50}, []int64{50, 1}, []string{"", full}},
		"larger than a minute": {routing.Rate{Tokens: 100}, routing.Rate{}, []int64{500, 1}, []string{"", fullTokens}},
		"none":                 {routing.Rate{}, routing.Rate{}, []int64{1 << 40, 1 << 40}, []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			health := routing.NewHealth(func() time.Time { return now })
			r := tokens("a", 1, 1)
			r.Rate, r.SupplierRate = tt.route, tt.supplier
			table := mustTable(t, r)
			var got []string
			for _, n := range tt.sizes {
				_, passed := table.Choose(want(task.Usage{OutputTokens: n}), health)
				reason := ""
				for _, p := range passed {
					reason = p.Reason
				}
				got = append(got, reason)
				now = now.Add(time.Second)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRateOfASupplierIsShared has two routes of one supplier, one of which has the minute's requests.
func TestRateOfASupplierIsShared(t *testing.T) {
	one, two := tokens("a", 1, 1), tokens("a", 1, 1)
	two.Model = "n"
	one.SupplierRate, two.SupplierRate = routing.Rate{Requests: 1}, routing.Rate{Requests: 1}
	one.Kind.Refuses = func(r supplier.Request) string { return string(r.Input) }
	table, health := mustTable(t, one, two), routing.NewHealth(nil)
	if got := chosen(table, health); len(got) != 1 {
		t.Fatal(got)
	}
	if _, open := table.Places(task.Live, "text.chat", health); open {
		t.Error("work is claimed that no route has a minute for")
	}
	if got := chosen(table, health); got != nil {
		t.Errorf("the other route has a minute of its own: %v", got)
	}
}

// TestNoMinuteExceedsItsRate sends at random times, with random estimates of which a random part is
// spent, and looks at every window of 60 seconds.
func TestNoMinuteExceedsItsRate(t *testing.T) {
	const requests, tokensPerMinute = 20, 1000
	type sent struct {
		at    time.Time
		spent int64
	}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		now := time.Unix(1_800_000_000, 0)
		health := routing.NewHealth(func() time.Time { return now })
		r := tokens("a", 1, 1)
		r.Rate = routing.Rate{Requests: requests, Tokens: tokensPerMinute}
		table := mustTable(t, r)
		var all []sent
		for range 400 {
			now = now.Add(time.Duration(rng.ExpFloat64() * float64(700*time.Millisecond)))
			estimate := rng.Int64N(200) + 1
			choices, _ := table.Choose(want(task.Usage{OutputTokens: estimate}), health)
			if len(choices) == 0 {
				continue
			}
			if rng.IntN(4) == 0 {
				health.Keep(choices, "", "") // not started
				continue
			}
			spent := rng.Int64N(estimate + 1)
			health.Spent(health.Keep(choices, "a", "m"), spent)
			all = append(all, sent{now, spent})
		}
		most := 0
		for i := range all {
			n, spent := 0, int64(0)
			for j := i; j < len(all) && all[j].at.Sub(all[i].at) <= time.Minute; j++ {
				n, spent = n+1, spent+all[j].spent
			}
			if n > requests || spent > tokensPerMinute {
				t.Fatalf("seed %d: %d requests and %d tokens within a minute", seed, n, spent)
			}
			most = max(most, n)
		}
		if most < requests {
			t.Fatalf("seed %d: at most %d requests a minute: what wasn't started still counts", seed, most)
		}
	}
}

// TestPlanNamesSoMany has more routes passed over than a ledger should name.
func TestPlanNamesSoMany(t *testing.T) {
	passed := make([]task.Passed, 40)
	for i := range passed {
		passed[i] = task.Passed{Supplier: strconv.Itoa(i)}
	}
	got := routing.Choice{Route: new(tokens("a", 1, 1))}.Plan(passed).Passed
	want := append(append([]task.Passed{}, passed[:32]...), task.Passed{Reason: "8 more routes were passed over"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
