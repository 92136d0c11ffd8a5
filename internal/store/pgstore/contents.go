package pgstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// Offline is a database on which no node has a session, to be read for a copy. It is only read.
type Offline struct{ db *DB }

var _ store.Source = (*Offline)(nil)

// OpenOffline connects. A *store.InUseError counts the nodes that have a session.
func OpenOffline(ctx context.Context, c Config) (*Offline, error) {
	db, err := connect(ctx, c.withDefaults())
	if err != nil {
		return nil, err
	}
	err = db.readVersion(ctx)
	if err == nil {
		err = db.rests(ctx)
	}
	if err != nil {
		db.disconnect()
		return nil, err
	}
	return &Offline{db}, nil
}

// Close implements store.Source.
func (o *Offline) Close() error {
	o.db.disconnect()
	return nil
}

// readVersion refuses a database without tables, or with those of another version.
func (db *DB) readVersion(ctx context.Context) error {
	var there bool
	if err := db.pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, db.q("{s}.version")).Scan(&there); err != nil {
		return fmt.Errorf("pgstore: %w", err)
	}
	if !there {
		return fmt.Errorf("pgstore: there is no store in the schema %s of the database", db.schema)
	}
	version := 0
	if err := db.pool.QueryRow(ctx, db.q(`SELECT version FROM {s}.version`)).Scan(&version); err != nil {
		return fmt.Errorf("pgstore: %w", err)
	}
	if version != len(migrations) {
		return fmt.Errorf("pgstore: schema %s has version %d and this program knows %d: start its own version, or this one once", db.schema, version, len(migrations))
	}
	return nil
}

// rests returns a *store.InUseError if nodes have sessions.
func (db *DB) rests(ctx context.Context) error {
	rows, err := db.pool.Query(ctx, db.q(`SELECT name FROM {s}.nodes WHERE until > coalesce($1, clock_timestamp()) ORDER BY name`), db.at())
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) == 0 {
		return err
	}
	return &store.InUseError{Nodes: names}
}

// Identity implements store.Source. A *store.InUseError while a node has a session.
func (o *Offline) Identity(ctx context.Context) (string, error) {
	mark, err := o.db.readMark(ctx)
	if err != nil {
		return "", err
	}
	if mark != nil {
		return "", &store.UnfinishedError{From: mark.From}
	}
	id, err := o.db.state(ctx, o.db.pool)
	if err != nil {
		return "", err
	}
	return id, o.db.rests(ctx) // after it: a session that it has and that is over by now changes nothing any more
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// state names the state of the store: each start of a node, each change of an account and each end of a task alter it.
func (db *DB) state(ctx context.Context, in querier) (name string, err error) {
	err = in.QueryRow(ctx, db.q(`SELECT format('%s/%s/%s/%s/%s/%s/%s/%s', (SELECT min(id) FROM {s}.accounts),
		(SELECT count FROM {s}.changes), (SELECT count(*) FROM {s}.nodes), (SELECT extract(epoch FROM max(until)) FROM {s}.nodes),
		(SELECT max(id) FROM {s}.ended_tasks), (SELECT count(*) FROM {s}.ended_tasks),
		(SELECT max(id) FROM {s}.open_tasks), (SELECT count(*) FROM {s}.open_tasks))`)).Scan(&name)
	return name, err
}

// Contents implements store.Source.
func (o *Offline) Contents(ctx context.Context) (store.Contents, error) { return o.db.contents(ctx) }

// Tasks implements store.Source.
func (o *Offline) Tasks(ctx context.Context, after string) iter.Seq2[task.Task, error] {
	return o.db.tasks(ctx, after)
}

func (db *DB) contents(ctx context.Context) (c store.Contents, err error) {
	err = errors.Join(
		collectInto(ctx, db, &c.Accounts, scanJSON[account.Account], `SELECT record FROM {s}.accounts`),
		collectInto(ctx, db, &c.Keys, scanKey, `SELECT record, last_used FROM {s}.keys`),
		collectInto(ctx, db, &c.Links, scanJSON[account.Link], `SELECT record FROM {s}.links`),
		collectInto(ctx, db, &c.Sessions, scanJSON[account.Session], `SELECT record FROM {s}.sessions`),
		collectInto(ctx, db, &c.Secrets, pgx.RowToStructByPos[store.Secret], `SELECT name, value FROM {s}.secrets`),
		collectInto(ctx, db, &c.Counters, scanHeld, `SELECT scope, kind, greatest(least(sum(amount), 9223372036854775807), 0)::bigint, min(ends)
			FROM {s}.counters WHERE kind NOT IN ('flight', 'place', 'state') GROUP BY 1, 2 HAVING sum(amount) > 0 OR min(ends) IS NOT NULL`),
		collectInto(ctx, db, &c.Endpoints, scanJSON[webhook.Endpoint], `SELECT record FROM {s}.endpoints`),
		collectInto(ctx, db, &c.Deliveries, scanDelivery, `SELECT endpoint, record FROM {s}.deliveries`),
		db.allSums(ctx, kindUsage, func(k sumKey, n [numbers]int64) { c.Usage = append(c.Usage, usageChange(k, n)) }),
		db.allSums(ctx, kindPairs, func(k sumKey, n [numbers]int64) { c.Usage = append(c.Usage, usageChange(k, n)) }),
		db.allSums(ctx, kindSpend, func(k sumKey, n [numbers]int64) { c.Spend = append(c.Spend, spendChange(k, n)) }),
	)
	if err != nil {
		return c, err
	}
	var oldest *string
	err = db.pool.QueryRow(ctx, db.q(`SELECT greatest((SELECT max(epoch) FROM {s}.open_tasks), (SELECT max(epoch) FROM {s}.ended_tasks), 0),
		least((SELECT min(id) FROM {s}.open_tasks), (SELECT min(id) FROM {s}.ended_tasks))`)).Scan(&c.Epoch, &oldest)
	if oldest != nil {
		c.Since = task.IDTime(*oldest)
	}
	return c, err
}

func collectInto[T any](ctx context.Context, db *DB, all *[]T, scan pgx.RowToFunc[T], sql string) error {
	rows, err := db.pool.Query(ctx, db.q(sql))
	if err == nil {
		*all, err = pgx.CollectRows(rows, scan)
	}
	return err
}

func scanJSON[T any](row pgx.CollectableRow) (v T, err error) {
	var record []byte
	if err = row.Scan(&record); err == nil {
		err = json.Unmarshal(record, &v)
	}
	return v, err
}

func scanHeld(row pgx.CollectableRow) (h store.Held, err error) {
	var ends *time.Time
	if err = row.Scan(&h.Scope, &h.Kind, &h.Amount, &ends); err == nil && ends != nil {
		h.Ends = ends.UTC()
	}
	return h, err
}

func (db *DB) allSums(ctx context.Context, kind string, add func(sumKey, [numbers]int64)) error {
	rows, err := db.pool.Query(ctx, db.q(`SELECT owner, day, mode, capability, detail, `+sumRead+` FROM {s}.usage
		WHERE kind = $1 GROUP BY 1, 2, 3, 4, 5`), kind)
	if err != nil {
		return err
	}
	k := sumKey{kind: kind}
	var n [numbers]int64
	_, err = pgx.ForEachRow(rows, sumTargets(&k, &n), func() error {
		add(k, n)
		return nil
	})
	return err
}

// What one statement reads: so many tasks, or those whose records reach so many bytes.
const (
	pageTasks = 2000
	pageBytes = 4 << 20
)

// tasks yields the tasks after an id, open and ended, by id.
func (db *DB) tasks(ctx context.Context, after string) iter.Seq2[task.Task, error] {
	return func(yield func(task.Task, error) bool) {
		for {
			page, err := db.page(ctx, after)
			if err != nil {
				yield(task.Task{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
			}
			after = page[len(page)-1].ID
		}
	}
}

// page reads the next tasks, none after the last one. A page is whole before its tasks are worked on: a server gives up
// a connection that takes no rows for a while. Sizes are known without reading what stands apart.
func (db *DB) page(ctx context.Context, after string) ([]task.Task, error) {
	rows, err := db.pool.Query(ctx, db.q(`SELECT id, digest, record, input FROM (
			SELECT *, sum(size) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - size AS before FROM (
				(SELECT id, digest, record, input, octet_length(record) + coalesce(octet_length(input), 0) AS size
					FROM {s}.open_tasks WHERE id > $1 ORDER BY id LIMIT $2)
				UNION ALL
				(SELECT id, digest, record, NULL, octet_length(record) FROM {s}.ended_tasks WHERE id > $1 ORDER BY id LIMIT $2)) t
			ORDER BY id LIMIT $2) t
		WHERE before < $3 ORDER BY id`), after, pageTasks, pageBytes)
	if err != nil {
		return nil, err
	}
	page := make([]task.Task, 0, pageTasks)
	var id string
	var found, record, input []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &found, &record, &input}, func() error {
		t, err := decode(record, input)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if d := digestOf(t.Scope, t.IdempotencyHash); t.ID != id || !slices.Equal(found, d[:]) {
			return fmt.Errorf("%w: the row of %s has another task's record", errBroken, id)
		}
		page = append(page, t)
		record, input = nil, nil
		return nil
	})
	return page, err
}
