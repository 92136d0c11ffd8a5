package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
)

// partName returns the name of a part's table.
func partName(number int) string { return fmt.Sprintf("ended_tasks_%d", number) }

// makeParts makes tables for the parts, so that tasks are dropped at their age: partWidth parts of equal width from the
// oldest task's creation until now, and the present one.
func (t *Target) makeParts(ctx context.Context, tx pgx.Tx, since time.Time) error {
	var now time.Time
	if err := tx.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, t.db.at()).Scan(&now); err != nil {
		return err
	}
	var untils []*time.Time
	if !since.IsZero() && since.Before(now) {
		for i := range partWidth {
			untils = append(untils, new(since.Add(now.Sub(since)*time.Duration(i+1)/partWidth)))
		}
	}
	if err := t.dropParts(ctx, tx); err != nil {
		return err
	}
	began := now
	if len(untils) > 0 {
		began = since
	}
	for i, until := range append(untils, nil) {
		number := i + 1
		err := execute(ctx, tx, t.db.q(fmt.Sprintf("CREATE TABLE {s}.%s (LIKE {s}.ended_tasks, CHECK (part IS NOT NULL AND part = %d))",
			partName(number), number)))
		if err != nil {
			return err
		}
		err = execute(ctx, tx, t.db.q(`INSERT INTO {s}.parts (part, since, until) VALUES ($1, $2, $3)`), number, began, until)
		if err != nil {
			return err
		}
		if until != nil {
			began = *until
		}
	}
	return nil
}

// dropParts drops the parts of the empty schema: the first, or those of a store that was worked on and emptied.
func (t *Target) dropParts(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, t.db.q(`DELETE FROM {s}.parts RETURNING part`))
	if err != nil {
		return err
	}
	old, err := pgx.CollectRows(rows, pgx.RowTo[int])
	for _, number := range old {
		err = errors.Join(err, execute(ctx, tx, t.db.q(`DROP TABLE IF EXISTS {s}.`+partName(number))))
	}
	return err
}

// readParts reads the parts in their order.
func (t *Target) readParts(ctx context.Context) error {
	if t.parts != nil {
		return nil
	}
	return collectInto(ctx, t.db, &t.parts, func(row pgx.CollectableRow) (p part, err error) {
		return p, row.Scan(&p.number, &p.until)
	}, `SELECT part, until FROM {s}.parts ORDER BY part`)
}

// partOf returns the number of the part that has tasks of the time.
func (t *Target) partOf(at time.Time) int {
	i := slices.IndexFunc(t.parts, func(p part) bool { return p.until == nil || !p.until.Before(at) })
	return t.parts[i].number
}

// PutTasks implements store.Target.
func (t *Target) PutTasks(ctx context.Context, tasks []task.Task) error {
	if err := t.readParts(ctx); err != nil {
		return err
	}
	next := t.mark
	var open []*task.Task
	ended := map[int][]*task.Task{}
	for i := range tasks {
		one := &tasks[i]
		if one.ID <= next.Last {
			return fmt.Errorf("%w: the task %q after %q", errBroken, one.ID, next.Last)
		}
		next.Last = one.ID
		if !one.State.Terminal() {
			open = append(open, one)
			continue
		}
		n := t.partOf(one.UpdatedAt)
		ended[n] = append(ended[n], one)
	}
	return t.commit(ctx, next, func(tx pgx.Tx) error {
		in := &loader{db: t.db, tx: tx}
		in.open(ctx, open, t.mark.Epoch)
		for number, some := range ended {
			in.ended(ctx, number, some, t.mark.Epoch)
		}
		return in.err
	})
}

// Finish implements store.Target: parts get their indexes with their places in ended_tasks.
func (t *Target) Finish(ctx context.Context) error {
	if err := t.readParts(ctx); err != nil {
		return err
	}
	for _, p := range t.parts {
		if err := pgx.BeginFunc(ctx, t.db.pool, func(tx pgx.Tx) error { return t.attach(ctx, tx, p.number) }); err != nil {
			return known(err)
		}
	}
	for _, table := range []string{"open_tasks", "ended_tasks", "counters", "usage"} { // plans need to know their sizes
		if _, err := t.db.pool.Exec(ctx, t.db.q("ANALYZE {s}."+table)); err != nil {
			return known(err)
		}
	}
	return nil
}

// attach makes a part a partition, unless it is one. It waits for the server to end what a process before this one had
// begun, and was killed in.
func (t *Target) attach(ctx context.Context, tx pgx.Tx, part int) error {
	if err := execute(ctx, tx, t.db.q("LOCK TABLE {s}.ended_tasks IN SHARE UPDATE EXCLUSIVE MODE")); err != nil {
		return err
	}
	name := "{s}." + partName(part)
	var attached bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = to_regclass($1))`, t.db.q(name)).Scan(&attached)
	if err != nil || attached {
		return err
	}
	return execute(ctx, tx, t.db.q(fmt.Sprintf("ALTER TABLE {s}.ended_tasks ATTACH PARTITION %s FOR VALUES IN (%d)", name, part)))
}

// Release implements store.Target.
func (t *Target) Release(ctx context.Context, tally store.Tally) error {
	next := t.mark
	next.Tally = tally
	var err error
	if next.State, err = t.db.state(ctx, t.db.pool); err != nil {
		return err
	}
	return t.commit(ctx, next, func(tx pgx.Tx) error {
		var nodes int
		if err := tx.QueryRow(ctx, t.db.q(`SELECT count(*) FROM {s}.nodes`)).Scan(&nodes); err != nil {
			return err
		}
		if nodes > 0 {
			return fmt.Errorf("%w: a node has worked on it", store.ErrOccupied)
		}
		return execute(ctx, tx, t.db.q(`ALTER TABLE {s}.copying RENAME TO copied`))
	})
}
