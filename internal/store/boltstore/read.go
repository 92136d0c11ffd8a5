package boltstore

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"

	bolterrors "go.etcd.io/bbolt/errors"

	"unitask/internal/store"
	"unitask/internal/task"
)

// reader returns one of the store as it stands, from the given first layer on. mu is nil for the
// committer.
func (db *DB) reader(first *rows, mu sync.Locker) reader {
	r := reader{layers: [3]*rows{first, &db.fresh.rows}, mu: mu, bolt: db.bolt}
	if db.old != nil {
		r.layers[2] = &db.old.rows
	}
	return r
}

// view reads for a short time.
func (db *DB) view(ctx context.Context, read func(*reader) error) error {
	if err := db.readable(ctx); err != nil {
		return err
	}
	db.tables.RLock()
	r := db.reader(nil, db.tables.RLocker())
	r.hold(db.fresh, db.old)
	db.tables.RUnlock()
	defer r.close()
	err := guarded(db.path, func() error { return read(&r) })
	if r.err != nil {
		err = r.err
	}
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return store.ErrClosed
	}
	return err
}

// readable returns why the store can't be read now, nil if it can.
func (db *DB) readable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.shut.Load() {
		return store.ErrClosed
	}
	if broken := db.broken.Load(); broken != nil {
		return *broken
	}
	return nil
}

// refusal sets a row aside that couldn't be read, and returns the error to answer with.
func (db *DB) refusal(ctx context.Context, err error) error {
	return cmp.Or(db.setAside(ctx, err), err)
}

func readTask(r *reader, row rowID) (task.Task, error) {
	record := r.get(bucketTasks, row[:])
	if record == nil && r.get(bucketQuarantine, quarantineKey(bucketTasks, row[:])) != nil {
		return task.Task{}, errAside
	}
	if record == nil {
		return task.Task{}, store.ErrNotFound
	}
	t, err := decodeTask(record)
	if err == nil && !isOf(&t, row) {
		err = errOther
	}
	if err != nil {
		return task.Task{}, unreadable(bucketTasks, row[:], record, err)
	}
	return t, nil
}

// isOf reports whether the task is the one of the row.
func isOf(t *task.Task, row rowID) bool {
	of, ok := parseID(t.ID)
	return ok && of == row
}

// GetTask implements store.Store.
func (db *DB) GetTask(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	row, ok := parseID(id)
	if !ok {
		return task.Task{}, store.ErrNotFound
	}
	var t task.Task
	err := db.view(ctx, func(r *reader) (err error) {
		t, err = readTask(r, row)
		return err
	})
	err = db.refusal(ctx, err)
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
	at := db.idem.Find(d)
	if at.None() {
		return task.Task{}, cmp.Or(db.readable(ctx), store.ErrNotFound)
	}
	var t task.Task
	err := db.view(ctx, func(r *reader) error {
		found, ok, err := findTask(r, s, idempotency, d, at, runsOf(r, at))
		if err == nil && !ok {
			err = store.ErrNotFound
		}
		t = found
		return err
	})
	if err = db.refusal(ctx, err); err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// Wake implements store.Store.
func (db *DB) Wake(topic string) (<-chan struct{}, func()) { return db.bell.Wake(topic) }

// Stats implements store.Store.
func (db *DB) Stats(ctx context.Context) (store.Stats, error) {
	if err := db.readable(ctx); err != nil {
		return store.Stats{}, err
	}
	info, err := os.Stat(db.path)
	if err != nil {
		return store.Stats{}, err
	}
	s := store.Stats{ByState: map[task.State]int64{}, Bytes: info.Size(), Full: db.full()}
	for i, state := range task.States() {
		if !state.Terminal() {
			s.ByState[state] = db.index.byState[i].Load()
		}
	}
	return s, nil
}
