package operator_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/operator"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// counts returns how the budgets of accounts and keys stand a minute later, for they are kept for a moment.
func (o *testOperator) counts() [2]operator.BudgetCount {
	o.t.Helper()
	o.advance(time.Minute)
	accounts, keys, err := o.CountBudgets(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	return [2]operator.BudgetCount{accounts, keys}
}

// spentKey makes a key whose budget of a day is spent.
func (o *testOperator) spentKey(owner api.Account, life int64) api.Key {
	o.t.Helper()
	o.advance(time.Second) // keys are listed by age
	k := fixture.Must(o.CreateKey(o.t.Context(), api.KeyCreate{
		Name: "till", Mode: task.Live, Account: owner.Name, ExpiresInSeconds: life, Limits: api.Limits{Budget: "0.3", BudgetPeriod: "day"},
	}))(o.t)
	o.run(owner.ID, k.ID, task.Usage{Images: 3})
	return k
}

// TestBudgetsOfAccountsThatRest: the budgets of a suspended or closed account and of its keys are passed over.
func TestBudgetsOfAccountsThatRest(t *testing.T) {
	o := newTestOperator(t)
	shop := fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop", Limits: api.Limits{Budget: "0.3", BudgetPeriod: "month"}}))(t)
	o.spentKey(shop, 0)
	both := [2]operator.BudgetCount{{Spent: 1}, {Spent: 1}}
	for name, of := range map[string]func(*account.Account) **time.Time{
		"suspended": func(a *account.Account) **time.Time { return &a.SuspendedAt },
		"closed":    func(a *account.Account) **time.Time { return &a.ClosedAt },
	} {
		set := func(at *time.Time) {
			t.Helper()
			fixture.Must(o.db.UpdateAccount(t.Context(), shop.ID, func(a *account.Account) error { *of(a) = at; return nil }))(t)
		}
		set(new(o.now()))
		if got := o.counts(); got != [2]operator.BudgetCount{} {
			t.Errorf("%s: %+v", name, got)
		}
		if all := fixture.Must(o.Concerns(t.Context(), nil))(t); len(all) != 0 {
			t.Errorf("%s: %+v", name, all)
		}
		if all := fixture.Must(o.NearBudgets(t.Context()))(t); len(all) != 0 {
			t.Errorf("%s: %+v", name, all)
		}
		if set(nil); o.counts() != both {
			t.Errorf("no longer %s: %+v", name, o.counts())
		}
	}
}

// TestBudgetOfRotation: within the overlap of a rotation the budget that both keys share is one, of the newer key. Webhooks
// that were told of it by the old key aren't told again.
func TestBudgetOfRotation(t *testing.T) {
	o := newTestOperator(t)
	shop := fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop"}))(t)
	other := o.spentKey(shop, 0)
	old := o.spentKey(shop, 0)
	o.advance(time.Second)
	marks := map[string]string{} // of the last look, by key
	want := func(name string, ids ...string) {
		t.Helper()
		clear(marks)
		o.advance(time.Minute)
		var got []string
		for _, b := range fixture.Must(o.NearBudgets(t.Context()))(t) {
			got = append(got, b.Key)
			marks[b.Key] = b.Mark()
		}
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	want("before", other.ID, old.ID)
	mark := marks[old.ID]
	next := fixture.Must(o.RotateKey(t.Context(), old.ID, api.KeyRotate{OverlapSeconds: 4 * 3600}))(t)
	update := func(l api.LimitsUpdate) {
		t.Helper()
		fixture.Must(o.UpdateKey(t.Context(), next.ID, api.KeyUpdate{Limits: &l}))(t)
	}
	want("the overlap", other.ID, next.ID)
	if marks[next.ID] != mark || marks[other.ID] == mark {
		t.Errorf("webhooks are told by %q, and by %q before the rotation", marks, mark)
	}
	update(api.LimitsUpdate{Budget: new("0.35")})
	want("another amount", other.ID, old.ID, next.ID)
	update(api.LimitsUpdate{Budget: new("0.3"), BudgetPeriod: new("month")})
	want("another period", other.ID, old.ID)
	update(api.LimitsUpdate{BudgetPeriod: new("day")})
	want("as before", other.ID, next.ID)
	fixture.Must(o.RevokeKey(t.Context(), next.ID))(t)
	want("the newer key is revoked", other.ID, old.ID)
	o.advance(4 * time.Hour)
	want("the overlap is over", other.ID)
}

// listed is a store that counts how often all keys or accounts are read, and calls a function after the next read of keys.
type listed struct {
	store.Registry
	lists int
	then  func()
}

func (l *listed) ListAccounts(ctx context.Context) ([]account.Account, error) {
	l.lists++
	return l.Registry.ListAccounts(ctx)
}

func (l *listed) ListKeys(ctx context.Context) ([]account.Key, error) {
	l.lists++
	keys, err := l.Registry.ListKeys(ctx)
	if then := l.then; then != nil {
		l.then = nil
		then()
	}
	return keys, err
}

// TestBudgetHoldersAreKept: the keys and accounts are read anew after a change of one alone, also if it came while they
// were read; the figures always are, and so is whether a key has expired. Test keys don't count.
func TestBudgetHoldersAreKept(t *testing.T) {
	o := newTestOperator(t)
	s := &listed{Registry: o.db}
	o.Store = s
	shop := fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop"}))(t)
	o.spentKey(shop, 3600)
	test := fixture.Must(o.CreateKey(t.Context(), api.KeyCreate{
		Name: "test", Mode: task.Test, Account: "shop", Limits: api.Limits{Budget: "0.3", BudgetPeriod: "day"},
	}))(t)
	o.run(shop.ID, test.ID, task.Usage{Images: 3})
	late := fixture.Must(o.CreateKey(t.Context(), api.KeyCreate{
		Name: "late", Mode: task.Live, Account: "shop", Limits: api.Limits{Budget: "0.3", BudgetPeriod: "day"},
	}))(t)
	s.lists = 0
	want := func(name string, lists, keys int) {
		t.Helper()
		got := o.counts()
		if got != [2]operator.BudgetCount{{}, {Spent: keys}} || s.lists != lists {
			t.Errorf("%s: %+v after %d lists, want %d keys and %d lists", name, got, s.lists, keys, lists)
		}
		s.lists = 0
	}
	want("at first", 2, 1)
	o.run(shop.ID, late.ID, task.Usage{Images: 3})
	want("more is spent", 0, 2)
	o.advance(time.Hour)
	want("a key has expired", 0, 1)
	fixture.Must(o.RevokeKey(t.Context(), late.ID))(t)
	s.lists = 0
	s.then = func() { o.spentKey(shop, 0) }
	want("a key is revoked, and one made while they are read", 2, 0)
	want("the new key", 2, 1)
	want("no change", 0, 1)
}

// heldCounts is a store that counts how often counters are read.
type heldCounts struct {
	store.Registry
	reads int
}

func (h *heldCounts) Held(ctx context.Context, counters []store.Counter) ([]int64, error) {
	h.reads++
	return h.Registry.Held(ctx, counters)
}

// TestAccountNamesReadNoBudgets: names alone cost no look at the accounts' counters.
func TestAccountNamesReadNoBudgets(t *testing.T) {
	o := newTestOperator(t)
	shop := fixture.Must(o.CreateAccount(t.Context(), api.AccountCreate{Name: "shop", Limits: api.Limits{Budget: "1", BudgetPeriod: "day"}}))(t)
	s := &heldCounts{Registry: o.db}
	o.Store = s
	if got := fixture.Must(o.AccountNames(t.Context()))(t); len(got) != 1 || got[0].ID != shop.ID || got[0].Name != "shop" || s.reads != 0 {
		t.Errorf("%+v after %d reads of counters", got, s.reads)
	}
	if fixture.Must(o.ListAccounts(t.Context()))(t); s.reads != 1 {
		t.Errorf("the list with budgets took %d reads of counters", s.reads)
	}
}
