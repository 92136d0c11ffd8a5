package gateway_test

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/gateway"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
)

// summed is a store with sums by pairs in March.
type summed struct {
	*memstore.DB

	pairs []string
}

func (s *summed) EachUsage(_ context.Context, q store.UsageQuery, visit func(store.UsageKey, store.Usage) bool) error {
	for _, pair := range s.pairs {
		k := store.UsageKey{Account: q.Owner, Day: account.DateOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)), Pair: pair}
		if q.Holds(k.Account, k.Day) && q.HoldsPair(pair) && !visit(k, store.Usage{}) {
			break
		}
	}
	return nil
}

// TestUsageByManyTexts: usage is summed by the first texts of a name in a month, of each account, also after a restart,
// and by one sum for all further ones.
func TestUsageByManyTexts(t *testing.T) {
	march := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var later atomic.Int64
	w := newWorldAt(t, nil, func() time.Time { return march.Add(time.Duration(later.Load())) })
	w.engine = &summed{w.store, []string{"team=early", "team" + task.OtherTexts}}
	w.limits.UsageBy = []string{"team", "user"}
	owner := w.caller.Account.ID
	by := func(g *gateway.Gateway, owner, team string) []string {
		return gateway.UsageBy(t.Context(), g, owner, task.Metadata{"team": team, "job": "7"})
	}
	apart, together := []string{"team"}, []string{"team" + task.OtherTexts}
	w.start()
	defer w.stop()
	for i := range gateway.MostTexts - 1 {
		if got := by(w.g, owner, strconv.Itoa(i)); !slices.Equal(got, apart) {
			t.Fatalf("text %d: %q, want %q", i, got, apart)
		}
	}
	for team, want := range map[string][]string{"early": apart, "0": apart, "one more": together, "": together} {
		if got := by(w.g, owner, team); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", team, got, want)
		}
	}
	if got := by(w.g, "acct_other", "one more"); !slices.Equal(got, apart) {
		t.Errorf("another account: %q, want %q", got, apart)
	}
	later.Store(int64(31 * 24 * time.Hour))
	if got := by(w.g, owner, "one more"); !slices.Equal(got, apart) {
		t.Errorf("a month later: %q, want %q", got, apart)
	}
}
