package boltstore

import (
	"bytes"
	"context"
	"errors"
	"os"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// listWindow bounds the rows that one read transaction of a listing looks at.
const listWindow = 1000

// view runs a short read transaction.
func (db *DB) view(ctx context.Context, read func(*bolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if broken := db.broken.Load(); broken != nil {
		return *broken
	}
	err := db.bolt.View(read)
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return store.ErrClosed
	}
	return err
}

func readTask(tx *bolt.Tx, row rowID) (task.Task, error) {
	record := tx.Bucket(bucketTasks).Get(row[:])
	if record == nil {
		return task.Task{}, store.ErrNotFound
	}
	return decodeTask(record)
}

// GetTask implements store.Store.
func (db *DB) GetTask(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	row, ok := parseID(id)
	if !ok {
		return task.Task{}, store.ErrNotFound
	}
	var t task.Task
	err := db.view(ctx, func(tx *bolt.Tx) (err error) {
		t, err = readTask(tx, row)
		return err
	})
	if err == nil && t.Scope != s {
		err = store.ErrNotFound
	}
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// FindTask implements store.Store.
func (db *DB) FindTask(ctx context.Context, s task.Scope, idempotency task.Hash) (task.Task, error) {
	d := idemDigest(s, idempotency)
	if db.idem.absent(d) && ctx.Err() == nil && db.broken.Load() == nil {
		return task.Task{}, store.ErrNotFound
	}
	row, logged := db.idem.lookup(d)
	var t task.Task
	err := db.view(ctx, func(tx *bolt.Tx) error {
		found, ok, err := findTask(tx, s, idempotency, d, row, logged)
		if err == nil && !ok {
			err = store.ErrNotFound
		}
		t = found
		return err
	})
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// ListTasks implements store.Store. A long listing is several short reads, not one snapshot.
func (db *DB) ListTasks(ctx context.Context, q store.ListQuery) (store.Page, error) {
	at := rowID(bytes.Repeat([]byte{0xff}, rowSize))
	if q.Cursor != "" {
		var ok bool
		if at, ok = parseID(q.Cursor); !ok {
			return store.Page{}, store.ErrNotFound
		}
	}
	var tasks []task.Task
	for more := true; more && len(tasks) <= q.PageSize(); {
		err := db.view(ctx, func(tx *bolt.Tx) (err error) {
			at, more, err = listSome(tx, q, at, &tasks)
			return err
		})
		if err != nil {
			return store.Page{}, err
		}
	}
	if len(tasks) <= q.PageSize() {
		return store.Page{Tasks: tasks}, nil
	}
	tasks = tasks[:q.PageSize()]
	return store.Page{Tasks: tasks, Next: tasks[len(tasks)-1].ID}, nil
}

// listSome appends matching tasks older than at, one more than a page at most, and returns where to
// go on.
func listSome(tx *bolt.Tx, q store.ListQuery, at rowID, tasks *[]task.Task) (rowID, bool, error) {
	scope := scopeDigest(q.Scope)
	c := tx.Bucket(bucketByScope).Cursor()
	k, capability := c.Seek(scopeRow(q.Scope, at))
	if k == nil {
		k, capability = c.Last()
	}
	for seen := 0; k != nil && seen < listWindow && len(*tasks) <= q.PageSize(); k, capability = c.Prev() {
		if !bytes.HasPrefix(k, scope[:]) || bytes.Compare(k[len(scope):], at[:]) >= 0 {
			if bytes.Compare(k, scope[:]) < 0 {
				return at, false, nil
			}
			continue // where the seek landed: at the cursor itself or beyond
		}
		seen++
		at = rowID(k[len(scope):])
		if err := appendMatching(tx, q, at, string(capability), tasks); err != nil {
			return at, false, err
		}
	}
	return at, k != nil, nil
}

func appendMatching(tx *bolt.Tx, q store.ListQuery, row rowID, capability string, tasks *[]task.Task) error {
	if (q.Capability != "" && q.Capability != capability) || !account.Allows(q.Scopes, capability) {
		return nil
	}
	record := tx.Bucket(bucketTasks).Get(row[:])
	state, _, err := recordHead(record)
	if err != nil || (q.State != "" && q.State != state) {
		return err
	}
	t, err := decodeTask(record)
	*tasks = append(*tasks, t)
	return err
}

// Wake implements store.Store.
func (db *DB) Wake(topic string) (<-chan struct{}, func()) { return db.bell.Wake(topic) }

// Stats implements store.Store.
func (db *DB) Stats(ctx context.Context) (store.Stats, error) {
	if err := db.view(ctx, func(*bolt.Tx) error { return nil }); err != nil {
		return store.Stats{}, err
	}
	info, err := os.Stat(db.path)
	if err != nil {
		return store.Stats{}, err
	}
	s := store.Stats{ByState: map[task.State]int64{}, Bytes: info.Size()}
	for i, state := range task.States() {
		if !state.Terminal() {
			s.ByState[state] = db.index.byState[i].Load()
		}
	}
	return s, nil
}
