package pgstore

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// loader copies rows into tables, in one transaction, until the first error.
type loader struct {
	db  *DB
	tx  pgx.Tx
	err error
}

// load copies values into a table, a row for each. The columns are separated by spaces.
func load[T any](ctx context.Context, in *loader, table, columns string, all []T, row func(T) ([]any, error)) {
	if in.err != nil || len(all) == 0 {
		return
	}
	_, in.err = in.tx.CopyFrom(ctx, pgx.Identifier{strings.Trim(in.db.schema, `"`), table}, strings.Fields(columns),
		pgx.CopyFromSlice(len(all), func(i int) ([]any, error) { return row(all[i]) }))
}

func (in *loader) callers(ctx context.Context, c store.Contents) {
	load(ctx, in, "accounts", "id name record", c.Accounts, func(a account.Account) ([]any, error) {
		record, err := json.Marshal(a)
		return []any{a.ID, a.Name, record}, err
	})
	load(ctx, in, "keys", "id account hash last_used record", c.Keys, func(k account.Key) ([]any, error) {
		used := k.LastUsedAt
		k.LastUsedAt = nil
		record, err := json.Marshal(k)
		return []any{k.ID, k.Account, k.Hash[:], used, record}, err
	})
	load(ctx, in, "links", "hash account expires record", c.Links, func(l account.Link) ([]any, error) {
		record, err := json.Marshal(l)
		return []any{l.Hash[:], l.Account, l.ExpiresAt, record}, err
	})
	load(ctx, in, "sessions", "hash account expires record", c.Sessions, func(s account.Session) ([]any, error) {
		record, err := json.Marshal(s)
		return []any{s.Hash[:], s.Account, s.ExpiresAt, record}, err
	})
	load(ctx, in, "secrets", "name value", c.Secrets, func(s store.Secret) ([]any, error) {
		return []any{s.Name, s.Value}, nil
	})
}

// webhooks copies endpoints and deliveries.
func (in *loader) webhooks(ctx context.Context, c store.Contents) {
	load(ctx, in, "endpoints", strings.ReplaceAll(endpointColumns, ",", ""), c.Endpoints, endpointRow)
	load(ctx, in, "deliveries", "endpoint event state due until kept record", c.Deliveries, func(o store.Outgoing) ([]any, error) {
		record, err := encodeDelivery(o)
		return []any{o.Endpoint, o.Event.ID, string(o.State), optionalTime(o.Due()), optionalTime(o.Until), o.KeptFrom(), record}, err
	})
}

// sums copies counters and sums of usage, each as one shard.
func (in *loader) sums(ctx context.Context, c store.Contents) {
	load(ctx, in, "counters", "scope kind shard amount ends", c.Counters, func(h store.Held) ([]any, error) {
		var ends *time.Time
		if !h.Ends.IsZero() {
			ends = &h.Ends
		}
		return []any{h.Scope, string(h.Kind), folded, h.Amount, ends}, nil
	})
	columns := "kind owner day mode capability detail shard " + strings.ReplaceAll(sumColumns, ",", "")
	row := func(kind, owner string, day account.Date, mode task.Mode, capability, detail string, sums []int64) []any {
		all := []any{kind, owner, int32(day), string(mode), capability, detail, folded}
		for i := range numbers {
			var n int64
			if i < len(sums) {
				n = sums[i]
			}
			all = append(all, n)
		}
		return all
	}
	load(ctx, in, "usage", columns, c.Usage, func(u store.UsageChange) ([]any, error) {
		sums := u.By.Numbers()
		kind, detail := usageDetail(u.UsageKey)
		return row(kind, u.Account, u.Day, u.Mode, u.Capability, detail, sums[:]), nil
	})
	load(ctx, in, "usage", columns, c.Spend, func(s store.SpendChange) ([]any, error) {
		sums := s.By.Numbers()
		return row(kindSpend, s.Supplier, s.Day, s.Mode, s.Capability, s.Model, sums[:]), nil
	})
}

// open copies tasks that aren't terminal: without a lease, and claimable.
func (in *loader) open(ctx context.Context, tasks []*task.Task, epoch int64) {
	load(ctx, in, "open_tasks", "id digest account mode capability class state deadline pause epoch claim nth cancel record input", tasks,
		func(t *task.Task) ([]any, error) {
			record, input, err := encode(*t)
			d := digestOf(t.Scope, t.IdempotencyHash)
			return []any{
				t.ID, d[:], t.Scope.Account, string(t.Scope.Mode), t.Capability, classOf(t), string(t.State), stamp(t.DeadlineAt),
				stamp(time.Time{}), epoch, int64(0), int32(0), t.CancelRequested, record, input,
			}, err
		})
	var scopes, kinds []string
	var amounts []int64
	for c, n := range derived(tasks) {
		scopes, kinds, amounts = append(scopes, c.Scope), append(kinds, string(c.Kind)), append(amounts, n)
	}
	if in.err != nil || len(scopes) == 0 {
		return
	}
	in.err = execute(ctx, in.tx, in.db.q(`INSERT INTO {s}.counters AS c (scope, kind, shard, amount)
		SELECT scope, kind, $4, amount FROM unnest($1::text[], $2::text[], $3::bigint[]) AS t (scope, kind, amount)
		ON CONFLICT (kind, scope, shard) DO UPDATE SET amount = c.amount + excluded.amount`), scopes, kinds, amounts, folded)
}

// derived counts the tasks by state and their open attempts by cap.
func derived(tasks []*task.Task) map[store.Counter]int64 {
	counts := map[store.Counter]int64{}
	for _, t := range tasks {
		counts[stateCounter(t.State)]++
		if a := t.OpenAttempt(); a != nil {
			for _, c := range a.Caps {
				counts[flightCounter(c.Key)]++
			}
		}
	}
	return counts
}

// ended copies tasks that have ended into a part's table.
func (in *loader) ended(ctx context.Context, number int, tasks []*task.Task, epoch int64) {
	load(ctx, in, partName(number), "part id digest account mode capability state epoch updated record", tasks,
		func(t *task.Task) ([]any, error) {
			record, _, err := encode(*t)
			d := digestOf(t.Scope, t.IdempotencyHash)
			return []any{
				int32(number), t.ID, d[:], t.Scope.Account, string(t.Scope.Mode), t.Capability, string(t.State), epoch, t.UpdatedAt, record,
			}, err
		})
}
