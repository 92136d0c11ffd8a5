package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
	"unitask/internal/store"
)

// An ended task is removed with the part of the table that it stands in: a part takes the tasks that end in a
// partWidth-th of the retention, and is dropped when the last of them is old enough. So a task stays longer than the
// retention by that much at most.
const (
	partWidth = 8
	partGrace = time.Minute // for transactions under way when a part stops to take tasks
)

// turnTime is how long a node has the turn of sweeping; it gives it back earlier.
const turnTime = time.Minute

// Sweep implements store.Store. One node at a time sweeps: a call beside it has no effect.
func (db *DB) Sweep(ctx context.Context, r store.SweepRequest) (store.Swept, error) {
	if err := db.enter(ctx); err != nil {
		return store.Swept{}, err
	}
	defer db.mu.RUnlock()
	s := &sweep{db: db, limit: max(r.Limit, 1)}
	err := doWithin(ctx, turnTime, func(ctx context.Context) error {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		s.conn = conn.Conn()
		err = s.conn.QueryRow(ctx, db.q(`UPDATE {s}.upkeep SET until = clock_timestamp() + make_interval(secs => $1) WHERE until < clock_timestamp()
			RETURNING coalesce($2::timestamptz, clock_timestamp())`), turnTime.Seconds(), db.at()).Scan(&s.now)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.run(ctx, r)
		_, turnErr := s.conn.Exec(context.WithoutCancel(ctx), db.q(`UPDATE {s}.upkeep SET until = '-infinity'`))
		return errors.Join(err, turnErr)
	})
	return store.Swept{Removed: s.removed, Disabled: s.disabled}, err
}

// sweep is one step of upkeep.
type sweep struct {
	db      *DB
	conn    *pgx.Conn
	now     time.Time
	limit   int
	removed int

	disabled []string
}

func (s *sweep) run(ctx context.Context, r store.SweepRequest) error {
	if r.Retention > 0 {
		if err := s.parts(ctx, r.Retention); err != nil {
			return err
		}
		if err := s.endCounters(ctx, s.now.Add(-r.Retention)); err != nil {
			return err
		}
	}
	if r.Usage > 0 {
		if err := s.rows(ctx, "usage", "day < $1", int32(account.DateOf(s.now.Add(-r.Usage)))); err != nil {
			return err
		}
	}
	for _, table := range []string{"links", "sessions"} {
		if err := s.rows(ctx, table, "expires < $1", s.now); err != nil {
			return err
		}
	}
	if err := s.rows(ctx, "deliveries", "endpoint IN (SELECT id FROM {s}.endpoints WHERE expires < $1)", s.now); err != nil {
		return err
	}
	if err := s.rows(ctx, "endpoints", "expires < $1 AND NOT EXISTS (SELECT FROM {s}.deliveries d WHERE d.endpoint = id)", s.now); err != nil {
		return err
	}
	if err := s.rows(ctx, "deliveries", "kept < $1", s.now.Add(-store.DeliveryLife)); err != nil {
		return err
	}
	if err := s.tidy(ctx); err != nil || r.Waiting <= 0 {
		return err
	}
	return s.disableFull(ctx, r)
}

// rows deletes rows of a table, up to the limit.
func (s *sweep) rows(ctx context.Context, table, condition string, arg any) error {
	if s.removed >= s.limit {
		return nil
	}
	tag, err := s.conn.Exec(ctx, s.db.q(`DELETE FROM {s}.`+table+` WHERE ctid = ANY(ARRAY(SELECT ctid FROM {s}.`+table+`
		WHERE `+condition+` LIMIT $2 FOR UPDATE SKIP LOCKED))`), arg, s.limit-s.removed)
	s.removed += int(tag.RowsAffected())
	return err
}

// endCounters removes counters whose time is over, with the rows of all shards.
func (s *sweep) endCounters(ctx context.Context, before time.Time) error {
	n := 0
	err := s.conn.QueryRow(ctx, s.db.q(`WITH over AS (
			SELECT DISTINCT kind, scope FROM {s}.counters WHERE ends < $1 LIMIT $2),
		gone AS (DELETE FROM {s}.counters c USING over o WHERE c.kind = o.kind AND c.scope = o.scope)
		SELECT count(*) FROM over`), before, s.limit-min(s.removed, s.limit)).Scan(&n)
	s.removed += n
	return err
}

// parts drops the parts of ended tasks that are over, one with tasks a step, and begins a new one when it is time.
func (s *sweep) parts(ctx context.Context, retention time.Duration) error {
	if err := s.newPart(ctx, retention/partWidth); err != nil {
		return err
	}
	for before := s.removed; s.removed == before; {
		var part int
		err := s.conn.QueryRow(ctx, s.db.q(`SELECT part FROM {s}.parts WHERE until < $1 ORDER BY part LIMIT 1`),
			s.now.Add(-retention-partGrace)).Scan(&part)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.dropPart(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (s *sweep) newPart(ctx context.Context, width time.Duration) error {
	var part int
	var since *time.Time
	if err := s.conn.QueryRow(ctx, s.db.q(`SELECT part, since FROM {s}.parts WHERE until IS NULL`)).Scan(&part, &since); err != nil {
		return err
	}
	if since == nil {
		_, err := s.conn.Exec(ctx, s.db.q(`UPDATE {s}.parts SET since = $1 WHERE part = $2`), s.now, part)
		return err
	}
	if s.now.Sub(*since) < width {
		return nil
	}
	// A table that is attached, unlike one that is made as a partition, keeps no writer waiting.
	name := "{s}." + partName(part+1)
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		for _, sql := range []string{
			fmt.Sprintf("CREATE TABLE %s (LIKE {s}.ended_tasks INCLUDING ALL, CHECK (part IS NOT NULL AND part = %d))", name, part+1),
			fmt.Sprintf("ALTER TABLE {s}.ended_tasks ATTACH PARTITION %s FOR VALUES IN (%d)", name, part+1),
		} {
			if err := execute(ctx, tx, s.db.q(sql)); err != nil {
				return err
			}
		}
		if err := execute(ctx, tx, s.db.q(`UPDATE {s}.parts SET until = $1 WHERE part = $2`), s.now, part); err != nil {
			return err
		}
		return execute(ctx, tx, s.db.q(`INSERT INTO {s}.parts (part, since) VALUES ($1, $2)`), part+1, s.now)
	})
}

// dropPart detaches a part without keeping anyone waiting, and drops it. An interrupted step is finished by the next.
func (s *sweep) dropPart(ctx context.Context, part int) error {
	name := "{s}." + partName(part)
	var attached, pending bool
	if err := s.conn.QueryRow(ctx, s.db.q(`SELECT count(*) > 0, coalesce(bool_or(inhdetachpending), false) FROM pg_inherits WHERE inhrelid = to_regclass($1)`),
		s.db.q(name)).Scan(&attached, &pending); err != nil {
		return err
	}
	how := "CONCURRENTLY"
	if pending {
		how = "FINALIZE"
	}
	if attached {
		if _, err := s.conn.Exec(ctx, s.db.q("ALTER TABLE {s}.ended_tasks DETACH PARTITION "+name+" "+how)); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		n := 0
		if err := tx.QueryRow(ctx, s.db.q(`SELECT count(*) FROM `+name)).Scan(&n); err != nil {
			return err
		}
		s.removed += n
		if err := execute(ctx, tx, s.db.q("DROP TABLE "+name)); err != nil {
			return err
		}
		return execute(ctx, tx, s.db.q(`DELETE FROM {s}.parts WHERE part = $1`), part)
	})
}

// foldFrom is how many shards a counter or a sum may have before they are folded into one; foldMost how many in a step.
const (
	foldFrom = 16
	foldMost = 100
)

// folded is the shard that folded rows stand in.
const folded = "folded"

// tidy removes what has come to nothing, and folds the shards of nodes that have ended into one.
func (s *sweep) tidy(ctx context.Context) error {
	if _, err := s.conn.Exec(ctx, s.db.q(`DELETE FROM {s}.nodes WHERE freed AND until < $1::timestamptz - interval '1 day'`), s.now); err != nil {
		return err
	}
	if _, err := s.conn.Exec(ctx, s.db.q(`DELETE FROM {s}.notes WHERE node NOT IN (SELECT name FROM {s}.nodes)`)); err != nil {
		return err
	}
	if _, err := s.conn.Exec(ctx, s.db.q(`DELETE FROM {s}.counters WHERE (kind, scope, shard) IN (
			SELECT kind, scope, shard FROM {s}.counters WHERE amount = 0 AND ends IS NULL FOR UPDATE SKIP LOCKED)`)); err != nil {
		return err
	}
	if _, err := s.conn.Exec(ctx, s.db.q(`WITH many AS (SELECT kind, scope FROM {s}.counters GROUP BY 1, 2 HAVING count(*) >= $1 LIMIT $2),
		gone AS (DELETE FROM {s}.counters WHERE (kind, scope, shard) IN (
			SELECT kind, scope, shard FROM {s}.counters c JOIN many USING (kind, scope) FOR UPDATE OF c SKIP LOCKED) RETURNING *)
		INSERT INTO {s}.counters (kind, scope, shard, amount, ends) SELECT kind, scope, $3, sum(amount), min(ends) FROM gone GROUP BY 1, 2`),
		foldFrom, foldMost, folded); err != nil {
		return err
	}
	of := "kind, owner, day, mode, capability, detail"
	_, err := s.conn.Exec(ctx, s.db.q(`WITH many AS (SELECT `+of+` FROM {s}.usage GROUP BY `+of+` HAVING count(*) >= $1 LIMIT $2),
		gone AS (DELETE FROM {s}.usage WHERE (`+of+`, shard) IN (
			SELECT `+of+`, shard FROM {s}.usage u JOIN many USING (`+of+`) FOR UPDATE OF u SKIP LOCKED) RETURNING *)
		INSERT INTO {s}.usage (`+of+`, shard, `+sumColumns+`) SELECT `+of+`, $3, `+sumFolded+` FROM gone GROUP BY `+of),
		foldFrom, foldMost, folded)
	return err
}
