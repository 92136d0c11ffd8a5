package pgstore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// toldEngine tells its one endpoint of a budget.
type toldEngine struct {
	*testing.T
	storetest.Engine

	now time.Time
	ids int // of events that were made
}

// tell tells of both parts of an amount, as each look of a node does.
func (e *toldEngine) tell(amount task.Money) {
	e.Helper()
	for _, part := range webhook.BudgetParts() {
		e.ids++
		b := webhook.Budget{Account: "acct_a", Amount: amount, Spent: amount, Percent: 100, Part: part, Period: "day", Ends: e.now.Add(time.Hour)}
		id := task.NewID(webhook.PrefixBudget, e.now.Add(time.Duration(e.ids)*time.Second)) + ".0"
		mustDo(e.T, e.Registry.Tell(e.Context(), store.Notice{Endpoint: "whe_a", Mark: b.Mark(), Lasts: time.Hour, Event: webhook.Event{ID: id, Budget: &b}}))
	}
}

// wantDue delivers at most so many events that are due, and compares their parts.
func (e *toldEngine) wantDue(name string, most int, want ...int) {
	e.Helper()
	claimed, err := e.Registry.ClaimDeliveries(e.Context(), store.DeliveryClaim{Node: "n", Lease: time.Minute, Limit: most, Each: most})
	mustDo(e.T, err)
	var got []int
	for _, c := range claimed {
		got = append(got, c.Delivery.Event.Budget.Part)
		mustDo(e.T, e.Registry.EndDelivery(e.Context(), c.Ref, store.DeliveryOutcome{State: webhook.Delivered}))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestCopyTold: a warning of a budget is sent once, by the store that was copied or by the copy, whether it was delivered
// before or waited. One of another amount is another.
func TestCopyTold(t *testing.T) {
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		e := &toldEngine{T: t, Engine: mustEngine(t, from), now: clock.Now().UTC()}
		mustDo(t, e.Registry.PutAccount(t.Context(), account.Account{ID: "acct_a", Name: "shop", CreatedAt: e.now}))
		mustDo(t, e.Registry.PutEndpoint(t.Context(), webhook.Endpoint{
			ID: "whe_a", Scope: task.Scope{Account: "acct_a", Mode: task.Live}, URL: "https://example.com/", Budgets: true, Generation: 1, CreatedAt: e.now,
		}))
		e.tell(5)
		e.wantDue("before the copy", 1, 80)
		mustDo(t, e.Store.Close())
		mustCopy(t, from, to)
		e.Engine = mustEngine(t, to)
		e.tell(5)
		e.wantDue("in the copy", 9, 100)
		e.tell(6)
		e.wantDue("another amount", 9, 80, 100)
	})
}
