package pgstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Target is a database that a copy is made into. It has the table copying from the first commit of the copy until the
// last, which names it copied: Open refuses it so long. The parts of ended_tasks are filled as tables without indexes, which they get
// when they become its partitions in the end. One goroutine uses it.
type Target struct {
	db    *DB
	mark  copyMark
	parts []part
}

var _ store.Target = (*Target)(nil)

// copyMark is the row of the table copying, later copied.
type copyMark struct {
	store.CopyOf
	Begun bool   `json:"begun"` // it has all but the tasks
	Last  string `json:"last"`  // and those up to this one
	Epoch int64  `json:"epoch"` // of all tasks

	Tally store.Tally `json:"tally,omitempty"` // of the finished store
	State string      `json:"state,omitempty"` // as it was then
}

// part is a part of ended_tasks that takes the tasks up to a time.
type part struct {
	number int
	until  *time.Time // nil for the present one
}

// OpenTarget connects, and begins a copy into a database without a store, or goes on with the same one.
// store.ErrOccupied for any other database, a *store.FinishedError for that of the same copy if it is finished.
func OpenTarget(ctx context.Context, c Config, of store.CopyOf) (*Target, error) {
	db, err := connect(ctx, c.withDefaults())
	if err != nil {
		return nil, err
	}
	of.Identity = fmt.Sprintf("%s to schema %d", of.Identity, len(migrations))
	t := &Target{db: db, mark: copyMark{CopyOf: of}}
	if err := t.begin(ctx, of); err != nil {
		db.disconnect()
		return nil, err
	}
	return t, nil
}

// begin sets the mark, or reads that of an earlier run.
func (t *Target) begin(ctx context.Context, of store.CopyOf) error {
	if err := t.db.migrate(ctx); err != nil {
		return err
	}
	mark, err := t.db.readMark(ctx)
	if err == nil && mark == nil {
		err = t.finished(ctx, of)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(t.mark)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, t.db.pool, func(tx pgx.Tx) error {
		if err := execute(ctx, tx, "SELECT pg_advisory_xact_lock($1)", int64(migrateLock)); err != nil {
			return err
		}
		if mark != nil {
			return t.beginAgain(ctx, tx, of, text)
		}
		return t.beginFirst(ctx, tx, text)
	})
}

// beginFirst sets the mark in a schema without a store.
func (t *Target) beginFirst(ctx context.Context, tx pgx.Tx, text []byte) error {
	var used bool
	if err := tx.QueryRow(ctx, t.db.q(`SELECT EXISTS (SELECT 1 FROM {s}.open_tasks) OR EXISTS (SELECT 1 FROM {s}.ended_tasks)
		OR EXISTS (SELECT 1 FROM {s}.accounts) OR EXISTS (SELECT 1 FROM {s}.secrets) OR EXISTS (SELECT 1 FROM {s}.counters)
		OR EXISTS (SELECT 1 FROM {s}.usage) OR EXISTS (SELECT 1 FROM {s}.nodes)`)).Scan(&used); err != nil {
		return err
	}
	if used {
		return fmt.Errorf("%w: the schema %s of the database has a store of its own", store.ErrOccupied, t.db.schema)
	}
	err := execute(ctx, tx, t.db.q(`DROP TABLE IF EXISTS {s}.copied; CREATE TABLE {s}.copying (one boolean PRIMARY KEY CHECK (one), mark text NOT NULL)`))
	return errors.Join(err, execute(ctx, tx, t.db.q(`INSERT INTO {s}.copying VALUES (true, $1)`), text))
}

// beginAgain reads the mark of an earlier run. The lock waits for the commit that a process was killed in. A target that
// has no records yet becomes that of any source.
func (t *Target) beginAgain(ctx context.Context, tx pgx.Tx, of store.CopyOf, text []byte) error {
	var found []byte
	if err := tx.QueryRow(ctx, t.db.q(`SELECT mark FROM {s}.copying FOR UPDATE`)).Scan(&found); err != nil {
		return err
	}
	var mark copyMark
	if err := json.Unmarshal(found, &mark); err != nil {
		return err
	}
	if !mark.Begun {
		return execute(ctx, tx, t.db.q(`UPDATE {s}.copying SET mark = $1`), text)
	}
	t.mark = mark
	return of.Check(mark.CopyOf)
}

// finished returns a *store.FinishedError for the target of the same copy that no node has worked on.
func (t *Target) finished(ctx context.Context, of store.CopyOf) error {
	mark, err := markIn(ctx, t.db.pool, t.db.q("{s}.copied"))
	if err != nil || mark == nil || mark.Identity != of.Identity {
		return err
	}
	if now, err := t.db.state(ctx, t.db.pool); err != nil || now != mark.State {
		return err
	}
	return &store.FinishedError{Tally: mark.Tally}
}

// readMark returns the mark of a copy that is under way into the database, nil without one.
func (db *DB) readMark(ctx context.Context) (*copyMark, error) {
	return markIn(ctx, db.pool, db.q("{s}.copying"))
}

// markIn returns the mark in a table, nil without the table.
func markIn(ctx context.Context, in querier, table string) (*copyMark, error) {
	var there bool
	if err := in.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, table).Scan(&there); err != nil || !there {
		return nil, err
	}
	var text []byte
	if err := in.QueryRow(ctx, `SELECT mark FROM `+table).Scan(&text); err != nil {
		return nil, err
	}
	mark := &copyMark{}
	return mark, json.Unmarshal(text, mark)
}

// Identity implements store.Source.
func (t *Target) Identity(context.Context) (string, error) {
	return "", &store.UnfinishedError{From: t.mark.From}
}

// Contents implements store.Source.
func (t *Target) Contents(ctx context.Context) (store.Contents, error) { return t.db.contents(ctx) }

// Tasks implements store.Source.
func (t *Target) Tasks(ctx context.Context, after string) iter.Seq2[task.Task, error] {
	return t.db.tasks(ctx, after)
}

// Close implements store.Source.
func (t *Target) Close() error {
	t.db.disconnect()
	return nil
}

// Last implements store.Target.
func (t *Target) Last(context.Context) (string, bool, error) { return t.mark.Last, t.mark.Begun, nil }

// errBeside is the refusal of a second process that copies into the same database.
var errBeside = errors.New("pgstore: another process makes the same copy")

// commit makes changes together with the next mark.
func (t *Target) commit(ctx context.Context, next copyMark, change func(pgx.Tx) error) error {
	old, err := json.Marshal(t.mark)
	if err != nil {
		return err
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, t.db.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, t.db.q(`UPDATE {s}.copying SET mark = $1 WHERE mark = $2`), text, old)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return errBeside
		}
		return change(tx)
	})
	if err == nil {
		t.mark = next
	}
	return told(err)
}

// told returns the error of a commit. Of records that can't stand together it keeps the server's words, with their keys.
func told(err error) error {
	e, answered := errors.AsType[*pgconn.PgError](err)
	if answered && (e.Code == "23503" || e.Code == "23505") { // foreign_key_violation, unique_violation
		return fmt.Errorf("pgstore: %w: %s", err, e.Detail)
	}
	return known(err)
}

// PutContents implements store.Target. It also makes the parts of ended_tasks.
func (t *Target) PutContents(ctx context.Context, c store.Contents) error {
	next := t.mark
	next.Begun, next.Epoch = true, c.Epoch
	return t.commit(ctx, next, func(tx pgx.Tx) error {
		if err := t.makeParts(ctx, tx, c.Since); err != nil {
			return err
		}
		in := &loader{db: t.db, tx: tx}
		in.callers(ctx, c)
		in.webhooks(ctx, c)
		in.sums(ctx, c)
		return in.err
	})
}
