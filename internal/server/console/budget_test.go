package console_test

import (
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/gate"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// reserve has an open task of a key hold an amount of the key's and its account's budget.
func (w *world) reserve(k api.Key, amount task.Money) {
	w.t.Helper()
	var c gate.Caller
	for _, one := range fixture.Must(w.store.ListKeys(w.t.Context()))(w.t) {
		if one.ID == k.ID {
			c.Key = one
		}
	}
	c.Account = fixture.Must(w.store.GetAccount(w.t.Context(), c.Key.Account))(w.t)
	if err := w.store.Renew(w.t.Context(), "busy", time.Hour); err != nil { // a node that has the task and doesn't end it
		w.t.Fatal(err)
	}
	id := task.NewID(task.PrefixTask, w.now())
	fixture.Must(w.store.CreateTask(w.t.Context(), store.NewTask{
		ID: id, Scope: task.Scope{Account: c.Account.ID, Mode: c.Key.Mode}, KeyID: k.ID, Capability: "video.generate",
		IdempotencyHash: account.HashSecret(id), Deadline: time.Hour, Reserved: amount, Holds: w.operator.Gate.Holds(c, amount, 0),
		First: &store.First{Node: "busy"},
	}))(w.t)
}

// TestBudgetBars: a budget's page says in words from which part on it is nearly used up, and when it is; a member's first
// page has the account's, and the keys' from that part on.
func TestBudgetBars(t *testing.T) {
	w := newWorld(t)
	operates := w.member("default", "operator")
	shop := fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: "shop", Limits: api.Limits{Budget: "10", BudgetPeriod: "month"}}))(t)
	till := fixture.Must(w.operator.CreateKey(t.Context(), api.KeyCreate{Name: "till", Account: "shop", Mode: task.Live, Limits: api.Limits{Budget: "5", BudgetPeriod: "day"}}))(t)
	b := w.member("shop", "member")
	has := func(when string, b *browser, path string, want ...string) {
		t.Helper()
		page := b.get(path).body
		for _, text := range want {
			text, absent := strings.CutPrefix(text, "!")
			if strings.Contains(page, text) == absent {
				t.Errorf("%s, %s: %q there is %t, want %t", when, path, text, absent, !absent)
			}
		}
	}
	w.reserve(till, 4*task.USD-1)
	has("just below 80 %", b, "/keys/"+till.ID, "$3.999999999 of $5.00 today, 79 %", `aria-valuenow="79"`, "Open tasks count with their reserved amounts", "!nearly used up")
	has("just below 80 %", b, "/overview", "$3.999999999 of $10.00 this month, 39 %", "!of $5.00")
	w.reserve(till, 1)
	near := `$4.00 of $5.00 today, 80 % <strong>nearly used up</strong>`
	has("at 80 %", b, "/keys/"+till.ID, near, `class="budget near"`)
	has("at 80 %", b, "/keys", near)
	has("at 80 %", b, "/overview", near, "$4.00 of $10.00 this month, 40 %")
	has("at 80 %", operates, "/accounts", "$4.00 of $10.00 this month, 40 %")
	has("at 80 %", operates, "/accounts/"+shop.ID, "$4.00 of $10.00 this month, 40 %", "!nearly used up")
	w.reserve(till, task.USD)
	has("at the limit", b, "/keys/"+till.ID, "$5.00 of $5.00 today, 100 % <strong>used up</strong>", `class="budget over"`, `width="100"`)
}
