package pgstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// numbers is how many sums a row of usage has.
const numbers = max(store.UsageNumbers, store.SpendNumbers)

// The kinds of rows of usage.
const (
	kindUsage = "usage" // of an account's keys
	kindPairs = "pairs" // of an account, by a pair of metadata
	kindSpend = "spend" // at a supplier
)

// sumKey identifies a row of usage but for its shard.
type sumKey struct {
	kind, owner      string
	day              account.Date
	mode, capability string
	detail           string // key, pair or model
}

// countUsage brings the sums of usage along.
func (x *txn) countUsage(before, after *task.Task) {
	add := func(k sumKey, by []int64) {
		s := x.usage[k]
		if s == nil {
			s = &[numbers]int64{}
			x.usage[k] = s
		}
		for i, n := range by {
			s[i] += n
		}
	}
	store.UsageChanges(before, after, func(c store.UsageChange) {
		by := c.By.Numbers()
		kind, detail := usageDetail(c.UsageKey)
		add(sumKey{kind, c.Account, c.Day, string(c.Mode), c.Capability, detail}, by[:])
	})
	store.SpendChanges(before, after, func(c store.SpendChange) {
		by := c.By.Numbers()
		add(sumKey{kindSpend, c.Supplier, c.Day, string(c.Mode), c.Capability, c.Model}, by[:])
	})
}

// usageDetail returns the kind of a row of usage and what it is by.
func usageDetail(k store.UsageKey) (kind, detail string) {
	if k.Pair != "" {
		return kindPairs, k.Pair
	}
	return kindUsage, k.KeyID
}

// Parts of statements about the sums: their columns, how a change is added, how shards are folded, and how the sum of
// all shards is read, from 0 to the largest.
var (
	sumColumns = eachNumber("n%[1]d")
	sumAdded   = eachNumber("n%[1]d = u.n%[1]d + excluded.n%[1]d")
	sumFolded  = eachNumber("sum(n%[1]d)")
	sumRead    = eachNumber("greatest(0, least(sum(n%[1]d), 9223372036854775807))::bigint")
)

func eachNumber(format string) string {
	var all []string
	for i := range numbers {
		all = append(all, fmt.Sprintf(format, i+1))
	}
	return strings.Join(all, ", ")
}

// writeUsage adds the group's changes to its shard.
func (x *txn) writeUsage(b *pgx.Batch) {
	if len(x.usage) == 0 {
		return
	}
	var kinds, owners, modes, capabilities, details []string
	var days []int32
	var sums [numbers][]int64
	for k, by := range x.usage {
		kinds, owners, days = append(kinds, k.kind), append(owners, k.owner), append(days, int32(k.day))
		modes, capabilities, details = append(modes, k.mode), append(capabilities, k.capability), append(details, k.detail)
		for i, n := range by {
			sums[i] = append(sums[i], n)
		}
	}
	args := []any{x.shard, kinds, owners, days, modes, capabilities, details}
	var arrays []string
	for i := range sums {
		args = append(args, sums[i])
		arrays = append(arrays, fmt.Sprintf("$%d::bigint[]", len(args)))
	}
	b.Queue(x.db.q(`INSERT INTO {s}.usage AS u (shard, kind, owner, day, mode, capability, detail, `+sumColumns+`)
		SELECT $1, * FROM unnest($2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], `+strings.Join(arrays, ", ")+`)
		ORDER BY 2, 3, 4, 5, 6, 7
		ON CONFLICT (kind, owner, day, mode, capability, detail, shard) DO UPDATE SET `+sumAdded), args...)
}

// EachUsage implements store.UsageLog.
func (db *DB) EachUsage(ctx context.Context, q store.UsageQuery, visit func(store.UsageKey, store.Usage) bool) error {
	var kinds []string
	if q.ByKey() {
		kinds = append(kinds, kindUsage)
	}
	if q.ByPair() {
		kinds = append(kinds, kindPairs)
	}
	return db.eachSums(ctx, kinds, q, func(k sumKey, n [numbers]int64) bool {
		u := usageChange(k, n)
		return visit(u.UsageKey, u.By)
	})
}

// EachSpend implements store.UsageLog.
func (db *DB) EachSpend(ctx context.Context, q store.UsageQuery, visit func(store.SpendKey, store.Spend) bool) error {
	return db.eachSums(ctx, []string{kindSpend}, q, func(k sumKey, n [numbers]int64) bool {
		s := spendChange(k, n)
		return visit(s.SpendKey, s.By)
	})
}

func (db *DB) eachSums(ctx context.Context, kinds []string, q store.UsageQuery, visit func(sumKey, [numbers]int64) bool) error {
	type sum struct {
		key sumKey
		n   [numbers]int64
	}
	var all []sum
	err := db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(`SELECT kind, owner, day, mode, capability, detail, `+sumRead+` FROM {s}.usage
			WHERE kind = ANY($1) AND ($2 = '' OR owner = $2) AND day BETWEEN $3 AND $4
				AND (kind <> '`+kindPairs+`' OR split_part(detail, '=', 1) = ANY($5))
			GROUP BY 1, 2, 3, 4, 5, 6`),
			kinds, q.Owner, int32(q.First), int32(q.Last), q.Metadata)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s sum, err error) {
			return s, row.Scan(append([]any{&s.key.kind}, sumTargets(&s.key, &s.n)...)...)
		})
		return err
	})
	for _, s := range all {
		if !visit(s.key, s.n) {
			break
		}
	}
	return err
}

// sumTargets is where a row of sums is scanned to.
func sumTargets(k *sumKey, n *[numbers]int64) []any {
	into := []any{&k.owner, &k.day, &k.mode, &k.capability, &k.detail}
	for i := range n {
		into = append(into, &n[i])
	}
	return into
}

func usageChange(k sumKey, n [numbers]int64) store.UsageChange {
	key := store.UsageKey{Account: k.owner, Day: k.day, Mode: task.Mode(k.mode), Capability: k.capability}
	if k.kind == kindPairs {
		key.Pair = k.detail
	} else {
		key.KeyID = k.detail
	}
	return store.UsageChange{UsageKey: key, By: store.UsageOf([store.UsageNumbers]int64(n[:store.UsageNumbers]))}
}

func spendChange(k sumKey, n [numbers]int64) store.SpendChange {
	return store.SpendChange{
		SpendKey: store.SpendKey{Supplier: k.owner, Day: k.day, Mode: task.Mode(k.mode), Capability: k.capability, Model: k.detail},
		By:       store.SpendOf([store.SpendNumbers]int64(n[:store.SpendNumbers])),
	}
}
