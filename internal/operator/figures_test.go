package operator_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/hours"
	"unitask/internal/operator"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// end counts a task that ended with an attempt at a supplier.
func (o *testOperator) end(capability string, mode task.Mode, state task.State, took time.Duration, cost task.Money, at string, charge task.Money) {
	now := o.now()
	t := &task.Task{
		Scope: task.Scope{Mode: mode}, Capability: capability, State: state, CreatedAt: now.Add(-took), FinishedAt: &now, Cost: cost,
	}
	outcome := map[task.State]task.AttemptState{task.Succeeded: task.OK, task.Failed: task.FailedAttempt, task.Canceled: task.Rejected}[state]
	t.Attempts = []task.Attempt{{Supplier: at, State: outcome, StartedAt: now.Add(-took), ClosedAt: &now, Cost: charge}}
	o.Hours.AttemptEnded(t, &t.Attempts[0])
	o.Hours.TaskEnded(t)
}

// money is the numbers of a report that must be exact.
type money struct {
	Name                 string
	Tasks, Attempts      int64
	Charged, Cost, Gains task.Money
}

func moneyOf(name string, f *operator.Figures) money {
	return money{name, f.Tasks.Ended(), f.Attempts.Attempts(), f.Tasks.Cost, f.Attempts.Cost, f.Margin()}
}

func groupsOf(all []operator.Group) (out []money) {
	for _, g := range all {
		out = append(out, moneyOf(g.Name, &g.Total))
	}
	return out
}

// TestByHour adds up a known script: errors, times, and money to the nano-dollar.
func TestByHour(t *testing.T) {
	o := newTestOperator(t)
	if _, err := o.ByHour(24, ""); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error("without a server:", err)
	}
	o.Hours = hours.New(o.now)
	for i := range 100 {
		o.end("text.chat", task.Live, task.Succeeded, time.Duration(i+1)*10*time.Millisecond, 1_000_000_001, "groq", 400_000_003)
	}
	o.end("text.chat", task.Live, task.Canceled, time.Hour, 0, "groq", 0)
	o.advance(time.Hour)
	for range 25 {
		o.end("image.generate", task.Live, task.Failed, time.Hour, 0, "fal", 7)
	}
	o.end("image.generate", task.Test, task.Succeeded, time.Second, 5, "sandbox", 9)

	r := fixture.Must(o.ByHour(3, task.Live))(t)
	total := money{"", 126, 126, 100_000_000_100, 40_000_000_475, 59_999_999_625}
	if diff := cmp.Diff(total, moneyOf("", &r.Total)); diff != "" {
		t.Error("the total (-want +got):", diff)
	}
	if part, ok := r.Total.ErrorRate(); !ok || part != 0.2 { // 25 of 125: the canceled one counts neither way
		t.Errorf("the error rate is %v, want 0.2", part)
	}
	if part, ok := r.Total.AttemptErrorRate(); !ok || part != 26.0/126 { // the canceled task's was rejected
		t.Errorf("the attempts' error rate is %v, want 26 of 126", part)
	}
	for p, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.95: 950 * time.Millisecond, 0.99: 990 * time.Millisecond} {
		got, ok := r.Total.Tasks.Times.Quantile(p)
		if !ok || math.Abs(float64(got-want)) > float64(want)/8 {
			t.Errorf("p%v is %s, want %s", p*100, got, want)
		}
	}
	if diff := cmp.Diff([]money{
		{"text.chat", 101, 101, 100 * 1_000_000_001, 100 * 400_000_003, 100 * 599_999_998}, {"image.generate", 25, 25, 0, 175, -175},
	}, groupsOf(r.Capabilities)); diff != "" {
		t.Error("by capability (-want +got):", diff)
	}
	if diff := cmp.Diff([]money{
		{"groq", 0, 101, 0, 100 * 400_000_003, -100 * 400_000_003}, {"fal", 0, 25, 0, 175, -175},
	}, groupsOf(r.Suppliers)); diff != "" {
		t.Error("by supplier (-want +got):", diff)
	}
	if r.Slots[0].Counted || !r.Slots[1].Counted || r.Slots[2].Tasks.Failed != 25 || r.Capabilities[1].Slots[2].Tasks.Failed != 25 {
		t.Errorf("the hours: %v %v, %d failed", r.Slots[0].Counted, r.Slots[1].Counted, r.Slots[2].Tasks.Failed)
	}
	both := fixture.Must(o.ByHour(3, ""))(t)
	if both.Total.Tasks.Ended() != 127 || both.Total.Margin() != total.Gains {
		t.Errorf("in both modes: %d tasks, margin %s", both.Total.Tasks.Ended(), both.Total.Margin())
	}
}

// TestByDay takes the store's sums, which outlive a restart.
func TestByDay(t *testing.T) {
	o := newTestOperator(t)
	owner := fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop"}))(t).ID
	o.run(owner, "key_a", task.Usage{Images: 2})
	o.advance(24 * time.Hour)
	o.run(owner, "key_a", task.Usage{Images: 1})
	r := fixture.Must(o.ByDay(t.Context(), 14, task.Live))(t)
	if diff := cmp.Diff(money{"", 2, 2, 3 * task.USD / 10, 14, 3*task.USD/10 - 14}, moneyOf("", &r.Total)); diff != "" {
		t.Error("the total (-want +got):", diff)
	}
	last := r.Slots[13]
	if diff := cmp.Diff(money{"2026-11-22", 1, 1, task.USD / 10, 7, task.USD/10 - 7}, moneyOf(last.Start.Format(time.DateOnly), &last.Figures)); diff != "" {
		t.Error("the last day (-want +got):", diff)
	}
	if got := fixture.Must(o.ByDay(t.Context(), 14, task.Test))(t); got.Total.Tasks.Ended() != 0 || len(got.Capabilities) != 0 {
		t.Errorf("of tests: %+v", got.Capabilities)
	}
}

// gauges is a store that stands as the test says.
type gauges struct {
	store.Store
	stands store.Gauges
	open   map[string]int
}

func (g gauges) Gauges(ctx context.Context) (store.Gauges, error)     { return g.stands, ctx.Err() }
func (g gauges) InFlight(ctx context.Context) (map[string]int, error) { return g.open, ctx.Err() }

// TestConcerns brings about each concern on its own, and their end.
func TestConcerns(t *testing.T) {
	route := routing.State{Capability: "text.chat", Supplier: "groq", Model: "m", Mode: task.Live, Approved: true}
	tripped, refused, full, retired, capped, some := route, route, route, route, route, route
	some.Reason, some.Accounts = "tripped: failing", 2
	tripped.Reason, refused.Refused, full.Reason = "tripped: failing", "the supplier refuses the key (401)", "full: requests a minute"
	retired.Approved, retired.Reason, capped.SupplierCap = false, "tripped: failing", 4
	other := route
	other.Model = "other"
	for name, tt := range map[string]struct {
		routes []routing.State
		stands store.Gauges
		ready  error
		want   []operator.Concern
	}{
		"well":        {routes: []routing.State{route}},
		"tripped":     {routes: []routing.State{tripped, other}, want: []operator.Concern{{Kind: operator.ConcernTripped, Name: "groq", About: "1 of 2 routes left alone: tripped: failing (text.chat, m)"}}},
		"all tripped": {routes: []routing.State{tripped}, want: []operator.Concern{{Kind: operator.ConcernTripped, Name: "groq", About: "1 of 1 routes left alone: tripped: failing (text.chat, m)", Grave: true}}},
		"refused":     {routes: []routing.State{refused}, want: []operator.Concern{{Kind: operator.ConcernRefused, Name: "groq", About: "the supplier refuses the key (401)", Grave: true}}},
		"full":        {routes: []routing.State{full}, want: []operator.Concern{{Kind: operator.ConcernFull, Name: "groq", About: "full: requests a minute (m)"}}},
		"retired":     {routes: []routing.State{route, retired}},
		"capped":      {routes: []routing.State{capped}, want: []operator.Concern{{Kind: operator.ConcernFull, Name: "groq", About: "4 of 4 attempts in flight"}}},
		"stopped":     {ready: store.ErrFull, want: []operator.Concern{{Kind: operator.ConcernService, About: "New tasks are refused: there is no room left on the disk or in the database's file", Grave: true}}},
		"queue": {ready: fault.New(fault.CapacityExhausted, "the queue is full"), stands: store.Gauges{Oldest: 6 * time.Minute}, want: []operator.Concern{
			{Kind: operator.ConcernService, About: "New tasks are refused: the queue is full", Grave: true},
			{Kind: operator.ConcernService, About: "A task has waited in the queue for 6m0s"},
		}},
		"rows": {stands: store.Gauges{Quarantined: 2, Lost: 3}, want: []operator.Concern{
			{Kind: operator.ConcernService, About: "3 acknowledged writes were gone when the database came back", Grave: true},
			{Kind: operator.ConcernService, About: "2 rows of the database can't be read and were set aside; unitask store check says which", Grave: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTestOperator(t)
			o.Tasks = gauges{o.db, tt.stands, map[string]int{"supplier:groq": 4}}
			o.RoutesFunc = func() []routing.State { return tt.routes }
			o.ReadyFunc = func(context.Context) error { return tt.ready }
			got := fixture.Must(o.Concerns(t.Context(), fixture.Must(o.Suppliers(t.Context()))(t)))(t)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error("(-want +got):", diff)
			}
		})
	}
}

// TestFailing: a supplier that fails is a concern while no breaker is open, until it does well in the hour under way.
func TestFailing(t *testing.T) {
	o := newTestOperator(t)
	o.Hours = hours.New(o.now)
	var routes []routing.State
	for name, mode := range map[string]task.Mode{"groq": task.Live, "fal": task.Live, "few": task.Live, "sandbox": task.Test} {
		routes = append(routes, routing.State{Capability: "text.chat", Supplier: name, Model: "m", Mode: mode, Approved: true})
	}
	o.RoutesFunc = func() []routing.State { return routes }
	o.Tasks = gauges{Store: o.db}
	end := func(at string, state task.State, n int) {
		for range n {
			o.end("text.chat", task.Live, state, time.Second, 0, at, 0)
		}
	}
	holds := func(why string, want ...operator.Concern) {
		t.Helper()
		got := fixture.Must(o.Concerns(t.Context(), fixture.Must(o.Suppliers(t.Context()))(t)))(t)
		slices.SortStableFunc(got, func(a, b operator.Concern) int { return strings.Compare(b.Name, a.Name) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", why, diff)
		}
	}
	failing := func(name, about string, grave bool) operator.Concern {
		return operator.Concern{Kind: operator.ConcernFailing, Name: name, About: about, Grave: grave}
	}
	end("groq", task.Failed, 9)
	end("groq", task.Canceled, 4) // couldn't be reached
	end("fal", task.Failed, 3)
	end("fal", task.Succeeded, 3)
	end("few", task.Failed, 4)
	end("sandbox", task.Failed, 20)
	all := failing("groq", "13 of 13 attempts failed since 08:00 UTC", true)
	holds("at once", all, failing("fal", "3 of 6 attempts failed since 08:00 UTC", false))
	end("fal", task.Succeeded, 1)
	holds("most did well", all)
	o.advance(time.Hour)
	end("groq", task.Succeeded, 4)
	holds("the next hour, with few attempts", failing("groq", "13 of 17 attempts failed since 08:00 UTC", false))
	end("groq", task.Succeeded, 1)
	holds("it does well again")
	end("groq", task.Failed, 5)
	holds("half of them", failing("groq", "5 of 10 attempts failed since 09:00 UTC", false))
	routes[slices.IndexFunc(routes, func(r routing.State) bool { return r.Supplier == "groq" })].Refused = "the supplier refuses the key (401)"
	holds("its cause is known", operator.Concern{Kind: operator.ConcernRefused, Name: "groq", About: "the supplier refuses the key (401)", Grave: true})
}

// TestBudgetConcerns: from 80 % on a budget is told of, a rotated key's with the spending of the key before it.
func TestBudgetConcerns(t *testing.T) {
	o := newTestOperator(t)
	c := t.Context()
	shop := fixture.Must(o.CreateAccount(c, api.AccountCreate{Name: "shop", Limits: api.Limits{Budget: "1", BudgetPeriod: "month"}}))(t)
	key := fixture.Must(o.CreateKey(c, api.KeyCreate{Name: "till", Mode: task.Live, Account: "shop", Limits: api.Limits{Budget: "0.5", BudgetPeriod: "day"}}))(t)
	concerns := func() []operator.Concern {
		t.Helper()
		o.advance(time.Minute) // they are kept for a moment
		return fixture.Must(o.Concerns(c, nil))(t)
	}
	o.run(shop.ID, key.ID, task.Usage{Images: 3})
	if got := concerns(); len(got) != 0 {
		t.Errorf("at 60 and 30 %%: %+v", got)
	}
	next := fixture.Must(o.RotateKey(c, key.ID, api.KeyRotate{}))(t)
	o.run(shop.ID, next.ID, task.Usage{Images: 1})
	atKey := operator.Concern{Kind: operator.ConcernKey, Name: "till", ID: next.ID, About: "$0.4 of $0.5 this day, 80 %"}
	if diff := cmp.Diff([]operator.Concern{atKey}, concerns()); diff != "" {
		t.Error("at 80 % (-want +got):", diff)
	}
	o.advance(24 * time.Hour)
	if got := concerns(); len(got) != 0 {
		t.Errorf("the next day: %+v", got)
	}
	o.run(shop.ID, "key_other", task.Usage{Images: 6})
	atAccount := operator.Concern{Kind: operator.ConcernAccount, Name: "shop", ID: shop.ID, About: "$1 of $1 this month, 100 %", Grave: true}
	if diff := cmp.Diff([]operator.Concern{atAccount}, concerns()); diff != "" {
		t.Error("a spent budget (-want +got):", diff)
	}
	o.advance(10 * 24 * time.Hour)
	if got := concerns(); len(got) != 0 {
		t.Errorf("the next month: %+v", got)
	}
}

// TestFiguresAreKept: the first page's sums are read once in 20 seconds for each of its views, however often it refreshes
// itself.
func TestFiguresAreKept(t *testing.T) {
	o := newTestOperator(t)
	shop := fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop"}))(t).ID
	other := fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "other"}))(t).ID
	ended := func(mode task.Mode) (tasks int64, spenders string) {
		t.Helper()
		r := fixture.Must(o.ByDay(t.Context(), 14, mode))(t)
		for _, row := range fixture.Must(o.Spenders(t.Context(), 14, mode))(t) {
			spenders += row.Name + " " + row.Cost + ";"
		}
		return r.Total.Tasks.Ended(), spenders
	}
	want := func(when string, mode task.Mode, tasks int64, spenders string) {
		t.Helper()
		if n, by := ended(mode); n != tasks || by != spenders {
			t.Errorf("%s: %d tasks, %q, want %d, %q", when, n, by, tasks, spenders)
		}
	}
	o.run(shop, "key_a", task.Usage{Images: 1})
	want("at first", "", 1, "shop 0.1;")
	o.run(other, "key_b", task.Usage{Images: 3})
	o.advance(19 * time.Second)
	want("19 s later", "", 1, "shop 0.1;")
	want("another view", task.Live, 2, "other 0.3;shop 0.1;")
	want("a view of tests", task.Test, 0, "")
	o.advance(time.Second)
	want("20 s later", "", 2, "other 0.3;shop 0.1;")
}
