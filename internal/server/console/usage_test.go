package console_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// TestUsageOfManyAccounts: the page of usage, also that of 90 days of 2,000 accounts, walks through the sums once.
func TestUsageOfManyAccounts(t *testing.T) {
	w := newWorld(t)
	w.used(2000, 90)
	operator := w.member("home", "operator")
	for _, path := range []string{"/usage?account=*&days=90", "/usage?account=account+7&days=90", "/usage", "/usage?account=*&days=90"} {
		before, start := w.reads.walks.Load(), time.Now()
		page := operator.get(path)
		if walks := w.reads.walks.Load() - before; page.StatusCode != http.StatusOK || walks != 1 {
			t.Errorf("%s: %d after %d walks", path, page.StatusCode, walks)
		}
		t.Logf("%s: %v, %d bytes", path, time.Since(start), len(page.body))
	}
}

// used gives accounts usage of one key a day, which is summed by team too.
func (w *world) used(accounts, days int) {
	w.t.Helper()
	w.reads.more = map[store.UsageKey]store.Usage{}
	today := account.DateOf(w.now())
	for i := range accounts {
		a := account.Account{ID: task.NewID(task.PrefixAccount, w.now()), Name: fmt.Sprintf("account %d", i), CreatedAt: w.now()}
		if err := w.store.PutAccount(w.t.Context(), a); err != nil {
			w.t.Fatal(err)
		}
		key := account.Key{ID: task.NewID(task.PrefixKey, w.now()), Account: a.ID, Name: "till", Mode: task.Live, CreatedAt: w.now()}
		key.Hash[0], key.Hash[1] = byte(i), byte(i>>8)
		if err := w.store.PutKey(w.t.Context(), key); err != nil {
			w.t.Fatal(err)
		}
		for day := range account.Date(days) {
			k := store.UsageKey{Account: a.ID, Day: today - day, Mode: task.Live, Capability: "text.chat", KeyID: key.ID}
			u := store.Usage{Succeeded: int64(i + 1), Failed: 1, Cost: task.Money(i+1) * task.USD / 100}
			w.reads.more[k] = u
			k.KeyID, k.Pair = "", fmt.Sprintf("team=%d", i%30)
			w.reads.more[k] = u
		}
	}
}
