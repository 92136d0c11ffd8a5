package pgstore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
)

// A counter is the sum of its rows, one for each shard; a lane of a node writes its own shard alone, so that lanes
// don't wait for each other's commits. Whoever takes from a counter with a limit holds its advisory lock until the
// commit:
//
//   - shared, with all others who take little while much is left: at most a smallPart of the limit each, with a
//     safePart of it left. So many transactions as the two allow for can't exceed the limit together;
//   - exclusively, alone, near the limit. It waits for all who share the lock, and then reads their sums too.
//
// Giving back takes no lock: it only makes room.
const (
	smallPart = 1024 // of the limit, for one transaction
	safePart  = 8    // of the limit: smallPart/safePart = 128 transactions at once, so 32 nodes with four lanes
)

// The counters that aren't holds.
const (
	kindFlight task.HoldKind = "flight" // open attempts by cap
	kindPlace  task.HoldKind = "place"  // leases that are to begin one, by cap
	kindState  task.HoldKind = "state"  // tasks that aren't terminal, by state
)

func flightCounter(key string) store.Counter { return store.Counter{Scope: key, Kind: kindFlight} }
func placeCounter(key string) store.Counter  { return store.Counter{Scope: key, Kind: kindPlace} }
func stateCounter(s task.State) store.Counter {
	return store.Counter{Scope: string(s), Kind: kindState}
}

// take is an amount that an operation may take from a counter.
type take struct {
	store.Counter
	amount int64
	limit  int64 // 0: no limit
}

// takesOf returns the takes of holds.
func takesOf(holds []task.Hold) []take {
	var all []take
	for _, h := range holds {
		all = append(all, take{store.Counter{Scope: h.Scope, Kind: h.Kind}, max(h.Amount, 0), h.Limit})
	}
	return all
}

// takesOfCaps returns the takes of an attempt that is to begin.
func takesOfCaps(caps []task.Cap) []take {
	var all []take
	for _, c := range caps {
		all = append(all, take{flightCounter(c.Key), 1, int64(c.Limit)})
	}
	return all
}

// merged adds the takes of each counter up, with the lowest limit.
func merged(takes []take) map[store.Counter]take {
	all := make(map[store.Counter]take, len(takes))
	for _, t := range takes {
		m, known := all[t.Counter]
		if !known {
			all[t.Counter] = t
			continue
		}
		if m.amount += t.amount; m.amount < 0 {
			m.amount = 1<<63 - 1
		}
		if t.limit > 0 && (m.limit == 0 || t.limit < m.limit) {
			m.limit = t.limit
		}
		all[t.Counter] = m
	}
	return all
}

// shares reports whether the take may go with others at the counter's value.
func (t take) shares(held int64) bool {
	return t.amount <= t.limit/smallPart && held <= t.limit-t.limit/safePart
}

// hints are the counters' values as last seen: they only choose a lock, and the value under it decides.
type hints struct {
	mu    sync.Mutex
	known map[store.Counter]int64
}

const mostHints = 65536

func (h *hints) get(c store.Counter) (int64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.known[c]
	return n, ok
}

func (h *hints) put(all map[store.Counter]int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || len(h.known) > mostHints {
		h.known = map[store.Counter]int64{}
	}
	maps.Copy(h.known, all)
}

// lockSet is the advisory locks of a group, by number.
type lockSet struct {
	keys      []int64
	exclusive []bool
}

// claimLock is held by the one claim of the schema that is under way.
const claimLock = "claim"

// locks returns the group's locks: of what it takes, of the idempotency keys that it may record and of claims.
func (x *txn) locks(n *needs) lockSet {
	modes := map[int64]bool{}
	add := func(name string, exclusive bool) {
		k := x.db.lockKey(name)
		modes[k] = modes[k] || exclusive
	}
	for c, t := range merged(n.takes) {
		if t.limit <= 0 {
			continue
		}
		held, known := x.db.hints.get(c)
		x.strict[c] = x.strict[c] || !known || !t.shares(held)
		add(string(c.Kind)+" "+c.Scope, x.strict[c])
	}
	for _, d := range n.digests {
		add("key "+string(d[:]), true)
	}
	if n.claims {
		add(claimLock, true)
	}
	var l lockSet
	for _, k := range slices.Sorted(maps.Keys(modes)) {
		l.keys, l.exclusive = append(l.keys, k), append(l.exclusive, modes[k])
	}
	return l
}

// lockKey returns the number of an advisory lock of this schema.
func (db *DB) lockKey(name string) int64 {
	sum := sha256.Sum256([]byte(db.schema + "\x00" + name))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// readSums reads the counters that the group may take from.
func (x *txn) readSums(b *pgx.Batch, takes []take) {
	if len(takes) == 0 {
		return
	}
	var scopes, kinds []string
	for c := range merged(takes) {
		x.sums[c] = 0
		scopes, kinds = append(scopes, c.Scope), append(kinds, string(c.Kind))
	}
	b.Queue(x.db.q(`SELECT scope, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint
		FROM {s}.counters JOIN unnest($1::text[], $2::text[]) AS t (scope, kind) USING (scope, kind) GROUP BY 1, 2`),
		scopes, kinds).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var c store.Counter
			var n int64
			if err := rows.Scan(&c.Scope, &c.Kind, &n); err != nil {
				return err
			}
			x.sums[c] = n
		}
		return rows.Err()
	})
}

// errNear is a lock that was shared too near to a limit: the group takes it exclusively then.
var errNear = errors.New("pgstore: too near to a limit for a shared lock")

// nearest holds the shared locks to their rule.
func (x *txn) nearest(takes []take) error {
	x.db.hints.put(x.sums)
	for c, t := range merged(takes) {
		if t.limit > 0 && !x.strict[c] && !t.shares(x.sums[c]) {
			x.strict[c] = true
			return errNear
		}
	}
	return nil
}

// limitHolds records when the holds' counters end.
func (x *txn) limitHolds(holds []task.Hold) {
	for _, h := range holds {
		c := store.Counter{Scope: h.Scope, Kind: h.Kind}
		if _, known := x.ends[c]; !known && h.Lasts > 0 && h.Amount > 0 {
			x.ends[c] = x.now.Add(h.Lasts)
		}
	}
}

// writeCounters adds the group's changes to its shard. A change of a counter that was swept is dropped: its time is
// over, and a task outlived it.
func (x *txn) writeCounters(b *pgx.Batch) {
	var scopes, kinds []string
	var amounts []int64
	var ends []*time.Time
	for c, by := range x.deltas {
		if by == 0 {
			continue
		}
		scopes, kinds, amounts = append(scopes, c.Scope), append(kinds, string(c.Kind)), append(amounts, by)
		if end, ok := x.ends[c]; ok {
			ends = append(ends, &end)
		} else {
			ends = append(ends, nil)
		}
	}
	if len(scopes) == 0 {
		return
	}
	b.Queue(x.db.q(`INSERT INTO {s}.counters AS c (scope, kind, shard, amount, ends)
		SELECT scope, kind, $5, amount, ends FROM unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[]) AS t (scope, kind, amount, ends)
		WHERE amount > 0 OR (SELECT true FROM {s}.counters o WHERE o.scope = t.scope AND o.kind = t.kind LIMIT 1)
		ORDER BY kind, scope
		ON CONFLICT (kind, scope, shard) DO UPDATE SET amount = c.amount + excluded.amount, ends = coalesce(c.ends, excluded.ends)`),
		scopes, kinds, amounts, ends, x.shard)
}

// Held implements store.Counters.
func (db *DB) Held(ctx context.Context, counters []store.Counter) ([]int64, error) {
	if len(counters) == 0 {
		return nil, nil
	}
	scopes, kinds := make([]string, 0, len(counters)), make([]string, 0, len(counters))
	for _, c := range counters {
		scopes, kinds = append(scopes, c.Scope), append(kinds, string(c.Kind))
	}
	var all []int64
	return all, db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(`SELECT least(greatest(coalesce(sum(amount), 0), 0), 9223372036854775807)::bigint
			FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (scope, kind, at)
			LEFT JOIN {s}.counters USING (scope, kind) GROUP BY at ORDER BY at`), scopes, kinds)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
}

// InFlight implements store.Loader.
func (db *DB) InFlight(ctx context.Context) (map[string]int, error) {
	sums, err := db.sumsOf(ctx, kindFlight)
	if err != nil {
		return nil, err
	}
	open := map[string]int{}
	for scope, n := range sums {
		if n > 0 {
			open[scope] = int(n)
		}
	}
	return open, nil
}

// sumsOf returns the counters of a kind.
func (db *DB) sumsOf(ctx context.Context, kind task.HoldKind) (map[string]int64, error) {
	sums := map[string]int64{}
	err := db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(`SELECT scope, least(sum(amount), 9223372036854775807)::bigint FROM {s}.counters
			WHERE kind = $1 GROUP BY 1`), string(kind))
		if err != nil {
			return err
		}
		var scope string
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&scope, &n}, func() error {
			sums[scope] = n
			return nil
		})
		return err
	})
	return sums, err
}
