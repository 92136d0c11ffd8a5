package gateway

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// mostTexts bounds the texts of one name of metadata by which the usage of an account's month is summed: each of them is
// a row a day. Further ones are summed together. Each node counts for itself, so that all of them
// together may have some more.
const mostTexts = 1000

// usageTexts are the texts by which usage is summed in this month, as hashes. It is safe for concurrent use.
type usageTexts struct {
	seed maphash.Seed

	mu    sync.Mutex
	month account.Date // its first day
	by    map[textsOf]*texts
}

type textsOf struct{ account, name string }

type texts struct {
	mu    sync.Mutex
	known map[uint64]struct{} // nil: they have to be read
}

func newUsageTexts() *usageTexts { return &usageTexts{seed: maphash.MakeSeed()} }

// of returns an account's texts of a name in the month of now.
func (u *usageTexts) of(owner, name string, now time.Time) (*texts, account.Date) {
	first := account.DateOf(now.UTC().AddDate(0, 0, 1-now.UTC().Day()))
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.month != first {
		u.month, u.by = first, map[textsOf]*texts{}
	}
	at := textsOf{owner, name}
	if u.by[at] == nil {
		u.by[at] = &texts{}
	}
	return u.by[at], first
}

// usageBy returns the UsageBy of a new task.
func (g *Gateway) usageBy(ctx context.Context, owner string, m task.Metadata) (by []string) {
	for _, name := range g.limits.Load().UsageBy {
		text, ok := m[name]
		switch {
		case !ok:
		case g.counts(ctx, owner, name, text):
			by = append(by, name)
		default:
			by = append(by, name+task.OtherTexts)
		}
	}
	return by
}

// counts reports whether a text is among the first mostTexts of its name. One that can't be looked up is.
func (g *Gateway) counts(ctx context.Context, owner, name, text string) bool {
	t, first := g.summed.of(owner, name, g.now())
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		known, err := g.textsSince(ctx, first, owner, name)
		if err != nil {
			return true
		}
		t.known = known
	}
	hash := maphash.String(g.summed.seed, text)
	_, ok := t.known[hash]
	if !ok && len(t.known) < mostTexts {
		t.known[hash], ok = struct{}{}, true
	}
	return ok
}

// textsSince reads the texts that an account's usage is summed by since a day.
func (g *Gateway) textsSince(ctx context.Context, first account.Date, owner, name string) (map[uint64]struct{}, error) {
	known := map[uint64]struct{}{}
	sums, ok := g.store.(store.UsageLog)
	if !ok {
		return known, nil
	}
	q := store.UsageQuery{Owner: owner, First: first, Last: account.DateOf(g.now()) + 1, Metadata: []string{name}}
	err := sums.EachUsage(ctx, q, func(k store.UsageKey, _ store.Usage) bool {
		if k.Pair != name+task.OtherTexts {
			known[maphash.String(g.summed.seed, strings.TrimPrefix(k.Pair, name+"="))] = struct{}{}
		}
		return len(known) < mostTexts
	})
	return known, err
}
