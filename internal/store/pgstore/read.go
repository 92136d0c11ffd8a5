package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
)

// FindTask implements store.Store. Each creation begins with it, so that the calls which wait share a statement.
func (db *DB) FindTask(ctx context.Context, s task.Scope, idempotency task.Hash) (t task.Task, err error) {
	d := digestOf(s, idempotency)
	err = db.finds.do(ctx, &op{
		needs: func(n *needs) { n.digests = append(n.digests, d) },
		run: func(x *txn) error {
			r := x.byDigest[d]
			switch {
			case r == nil:
				return store.ErrNotFound
			case r.broken != nil:
				return r.broken
			case r.t.Scope != s || r.t.IdempotencyHash != idempotency:
				return store.ErrNotFound
			}
			t = r.t
			return nil
		},
	})
	return t, err
}

// findGroup answers calls of FindTask by one statement over both tables: a task that moves between them is in one of
// the two. The statement is planned once for each connection: planning it each time takes ten times as long as the rest.
func (db *DB) findGroup(group []*op, _ string) {
	n := &needs{}
	for _, o := range group {
		o.needs(n)
	}
	var x *txn
	err := db.tryRead(context.Background(), func(ctx context.Context) error {
		x = newTxn(db, nil, "", nil)
		b := &pgx.Batch{}
		b.Queue(x.settings(n))
		x.readRows(b, `SELECT `+openColumns+` FROM {s}.open_tasks WHERE digest = ANY($1)
			UNION ALL SELECT `+endedColumns+` FROM {s}.ended_tasks WHERE digest = ANY($1)`, nowhere, bytesOf(n.digests))
		return db.work.SendBatch(ctx, b).Close()
	})
	for _, o := range group {
		if o.err = err; err == nil {
			o.err = o.run(x)
		}
	}
}

// GetTask implements store.Store.
func (db *DB) GetTask(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	t, err := db.readOne(ctx, `id = $1`, id)
	if err == nil && t.Scope != s {
		err = store.ErrNotFound
	}
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// readOne reads a task from either table, in one statement: a task that moves between them is in one of the two.
func (db *DB) readOne(ctx context.Context, condition string, arg any) (task.Task, error) {
	tasks, damaged, err := db.readTasks(ctx, `SELECT record, input FROM {s}.open_tasks WHERE `+condition+`
		UNION ALL SELECT record, NULL FROM {s}.ended_tasks WHERE `+condition, arg)
	switch {
	case err != nil:
		return task.Task{}, err
	case damaged != nil:
		return task.Task{}, damaged
	case len(tasks) == 0:
		return task.Task{}, store.ErrNotFound
	default:
		return tasks[0], nil
	}
}

// readTasks returns the tasks that can be read, and what is wrong with the others.
func (db *DB) readTasks(ctx context.Context, sql string, arg any) (tasks []task.Task, damaged, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		tasks, damaged = nil, nil
		rows, err := db.pool.Query(ctx, db.q(sql), arg)
		if err != nil {
			return err
		}
		var record, input []byte
		_, err = pgx.ForEachRow(rows, []any{&record, &input}, func() error {
			if t, err := decode(record, input); err == nil {
				tasks = append(tasks, t)
			} else {
				damaged = errors.Join(damaged, err)
			}
			record, input = nil, nil
			return nil
		})
		return err
	})
	return tasks, damaged, err
}
