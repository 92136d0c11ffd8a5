package pgstore

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
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

// The rows that one page looks at are bounded. A query for metadata looks into each of their records.
const (
	listWindow     = 2000
	metadataWindow = 1000
)

// ListTasks implements store.Store. It reads the heads of a window of tasks first: most of a filtered list are passed
// over.
func (db *DB) ListTasks(ctx context.Context, q store.ListQuery) (store.Page, error) {
	if q.Cursor != "" && !task.ValidID(task.PrefixTask, q.Cursor) {
		return store.Page{}, store.ErrNotFound
	}
	window := listWindow
	if len(q.Metadata) > 0 {
		window = metadataWindow
	}
	heads, err := db.readHeads(ctx, q, window)
	if err != nil {
		return store.Page{}, err
	}
	var page store.Page
	var ids []string
	for _, h := range heads {
		if !h.answers(q) {
			continue
		}
		if len(ids) == q.PageSize() {
			page.Next = ids[len(ids)-1]
			break
		}
		ids = append(ids, h.id)
	}
	if page.Next == "" && len(heads) == window {
		page.Next = heads[len(heads)-1].id
	}
	if len(ids) > 0 {
		var damaged error
		page.Tasks, damaged, err = db.readTasks(ctx, `SELECT record, input FROM (
				SELECT id, record, input FROM {s}.open_tasks WHERE id = ANY($1)
				UNION ALL SELECT id, record, NULL FROM {s}.ended_tasks WHERE id = ANY($1)) t
			ORDER BY id DESC`, ids)
		if damaged != nil {
			db.log.Error("a list lacks tasks that can't be read", slog.Any("error", damaged))
		}
		page.Tasks = slices.DeleteFunc(page.Tasks, func(t task.Task) bool { return !t.Metadata.Has(q.Metadata) })
	}
	return page, err
}

// head is a task's columns that a listing selects by.
type head struct {
	id, capability, state string
	tagged                bool // its record may have the query's metadata
}

func (h head) answers(q store.ListQuery) bool {
	return (q.Capability == "" || h.capability == q.Capability) && (q.State == "" || h.state == string(q.State)) &&
		account.Allows(q.Scopes, h.capability) && h.tagged
}

// readHeads reads the heads of a window of tasks. Of their records it reads the part that has the metadata, and only for
// a query that asks for some.
func (db *DB) readHeads(ctx context.Context, q store.ListQuery, window int) (heads []head, err error) {
	before := q.Cursor
	if before == "" {
		before = task.PrefixTask + "~" // after every id
	}
	columns, tagged, args := `id, capability, state`, `true`, []any{q.Scope.Account, string(q.Scope.Mode), before, window}
	if len(q.Metadata) > 0 {
		columns += `, record`
		tagged = `NOT EXISTS (SELECT FROM unnest($5::bytea[]) pair WHERE position(pair IN substring(record FOR $6)) = 0)`
		args = append(args, q.Metadata.Pairs(), task.MetadataEnd)
	}
	part := func(table string) string {
		return `(SELECT ` + columns + ` FROM {s}.` + table + `
			WHERE account = $1 AND mode = $2 AND id < $3 ORDER BY id DESC LIMIT $4)`
	}
	err = db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(`SELECT id, capability, state, `+tagged+`
			FROM (`+part("open_tasks")+` UNION ALL `+part("ended_tasks")+`) t ORDER BY id DESC LIMIT $4`), args...)
		if err != nil {
			return err
		}
		heads, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (h head, err error) {
			return h, row.Scan(&h.id, &h.capability, &h.state, &h.tagged)
		})
		return err
	})
	return heads, err
}
