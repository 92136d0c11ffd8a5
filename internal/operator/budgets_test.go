package operator_test

import (
	"errors"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/operator"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestSpentIsTheRule: the amount that is shown against a budget, reserved amounts included, leaves exactly the rest that a
// task may still reserve.
func TestSpentIsTheRule(t *testing.T) {
	o := newTestOperator(t)
	c := t.Context()
	shop := fixture.Must(o.CreateAccount(c, api.AccountCreate{Name: "shop", Limits: api.Limits{Budget: "2", BudgetPeriod: "month"}}))(t)
	key := fixture.Must(o.CreateKey(c, api.KeyCreate{Name: "till", Mode: task.Live, Account: "shop", Limits: api.Limits{Budget: "1", BudgetPeriod: "day"}}))(t)
	o.advance(time.Second) // keys are listed by age
	fixture.Must(o.CreateKey(c, api.KeyCreate{Name: "free", Mode: task.Live, Account: "shop"}))(t)
	o.advance(time.Second)
	fixture.Must(o.CreateKey(c, api.KeyCreate{Name: "new", Mode: task.Live, Account: "shop", Limits: api.Limits{Budget: "1", BudgetPeriod: "month"}}))(t)
	reserve := func(amount task.Money) error {
		id := task.NewID(task.PrefixTask, o.now())
		_, err := o.db.CreateTask(c, store.NewTask{
			ID: id, Scope: task.Scope{Account: shop.ID, Mode: task.Live}, KeyID: key.ID, Capability: "image.generate", IdempotencyHash: account.HashSecret(id),
			Deadline: time.Hour, Reserved: amount, Holds: o.gate.Holds(o.callerOf(shop.ID, key.ID), amount, 0),
		})
		return err
	}
	o.run(shop.ID, key.ID, task.Usage{Images: 3})
	if err := reserve(task.USD / 2); err != nil {
		t.Fatal(err)
	}
	keys := fixture.Must(o.ListKeys(c))(t)
	tomorrow, december := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	wantSpending(t, "the key", keys[0].Spending, "0.8", tomorrow)
	if keys[1].Spending != (api.Spending{}) {
		t.Errorf("a key without a budget: %+v", keys[1].Spending)
	}
	wantSpending(t, "a key that wasn't used", keys[2].Spending, "0", december)
	wantSpending(t, "the account", fixture.Must(o.GetAccount(c, "shop"))(t).Spending, "0.8", december)
	wantSpending(t, "the account in the list", fixture.Must(o.ListAccounts(c))(t)[0].Spending, "0.8", december)
	member := o.Member(operator.Visitor{Account: o.callerOf(shop.ID, key.ID).Account})
	wantSpending(t, "a member's account", fixture.Must(member.Budget(c))(t).Spending, "0.8", december)
	own := fixture.Must(member.Keys(c))(t)
	if own[0].Spending != (api.Spending{}) {
		t.Errorf("a member's key before its counter is read: %+v", own[0].Spending)
	}
	if err := o.AddSpending(c, own[:1]); err != nil {
		t.Fatal(err)
	}
	wantSpending(t, "a member's key", own[0].Spending, "0.8", tomorrow)
	if own[2].Spending != (api.Spending{}) {
		t.Errorf("another key: %+v", own[2].Spending)
	}

	refused := reserve(task.USD/5 + 1)
	if _, ok := errors.AsType[*store.HoldError](refused); !ok {
		t.Errorf("more than the rest: %v", refused)
	}
	if err := reserve(task.USD / 5); err != nil {
		t.Errorf("the rest: %v", err)
	}
	o.advance(24 * time.Hour)
	wantSpending(t, "the key's next day", fixture.Must(o.ListKeys(c))(t)[0].Spending, "0", tomorrow.AddDate(0, 0, 1))
	wantSpending(t, "the account's month", fixture.Must(o.GetAccount(c, "shop"))(t).Spending, "1", december)
}

func wantSpending(t *testing.T, name string, got api.Spending, spent string, ends time.Time) {
	t.Helper()
	if got.Spent != spent || got.BudgetEndsAt == nil || !got.BudgetEndsAt.Equal(ends) {
		t.Errorf("%s: %q until %v, want %q until %v", name, got.Spent, got.BudgetEndsAt, spent, ends)
	}
}

// TestCountBudgets counts what is nearly spent and what is spent, of accounts and of open keys.
func TestCountBudgets(t *testing.T) {
	o := newTestOperator(t)
	c := t.Context()
	shop := fixture.Must(o.CreateAccount(c, api.AccountCreate{Name: "shop", Limits: api.Limits{Budget: "1", BudgetPeriod: "month"}}))(t)
	var closed api.Key
	for _, budget := range []string{"0.3", "0.4", "0.5"} {
		k := fixture.Must(o.CreateKey(c, api.KeyCreate{Name: budget, Mode: task.Live, Account: "shop", Limits: api.Limits{Budget: budget, BudgetPeriod: "day"}}))(t)
		o.run(shop.ID, k.ID, task.Usage{Images: 3})
		closed = k
	}
	if got, want := o.counts(), [2]operator.BudgetCount{{Near: 1}, {Spent: 1}}; got != want { // 0.9 of 1; 0.3 of 0.3, 75 % and 60 %
		t.Errorf("%+v, want %+v", got, want)
	}
	o.run(shop.ID, closed.ID, task.Usage{Images: 1})
	if got, want := o.counts(), [2]operator.BudgetCount{{Spent: 1}, {Near: 1, Spent: 1}}; got != want {
		t.Errorf("once more is spent: %+v, want %+v", got, want)
	}
	fixture.Must(o.RevokeKey(c, closed.ID))(t)
	if got, want := o.counts(), [2]operator.BudgetCount{{Spent: 1}, {Spent: 1}}; got != want {
		t.Errorf("without a closed key: %+v, want %+v", got, want)
	}
}
