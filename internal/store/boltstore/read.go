package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"sync"

	bolterrors "go.etcd.io/bbolt/errors"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// listWindow bounds the rows that a page of a listing looks at.
const listWindow = 1000

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

// ListTasks implements store.Store. A page looks at listWindow rows at most.
func (db *DB) ListTasks(ctx context.Context, q store.ListQuery) (page store.Page, err error) {
	at := rowID(bytes.Repeat([]byte{0xff}, rowSize))
	if q.Cursor != "" {
		var ok bool
		if at, ok = parseID(q.Cursor); !ok {
			return store.Page{}, store.ErrNotFound
		}
	}
	var bad asides
	for {
		err = db.view(ctx, func(r *reader) (err error) {
			page, err = listPage(r, q, at)
			return err
		})
		if err == nil {
			return page, nil
		}
		if err = bad.goOn(ctx, db, err); err != nil { // else the page is read without that row
			return store.Page{}, err
		}
	}
}

// listPage returns the page of matching tasks older than at.
func listPage(r *reader, q store.ListQuery, at rowID) (page store.Page, _ error) {
	scope, last := scopeDigest(q.Scope), scopeRowOf(q.Scope, at)
	looked, pairs := 0, q.Metadata.Pairs()
	var some []rowID // whose records are read together
	for k, capability := range r.descend(bucketByScope, scope[:], last[:]) {
		if looked++; looked > listWindow {
			page.Next = between(rowID(k[len(scope):]), at).String() // at may be a task outside the key's scopes
			break
		}
		at = rowID(k[len(scope):])
		if (q.Capability != "" && q.Capability != string(capability)) || !account.Allows(q.Scopes, string(capability)) {
			continue
		}
		if some = append(some, at); len(some) <= max(q.PageSize(), looked/2) {
			continue
		}
		if full, err := appendMatching(r, q, pairs, some, &page); full || err != nil {
			return page, err
		}
		some = some[:0]
	}
	_, err := appendMatching(r, q, pairs, some, &page)
	return page, err
}

// appendMatching appends those of the rows that match, and reports whether there are more than fit on the page. pairs
// are those of the query's metadata: a record without them isn't decoded.
func appendMatching(r *reader, q store.ListQuery, pairs [][]byte, rows []rowID, page *store.Page) (full bool, _ error) {
	for i, record := range r.getSome(bucketTasks, rows) {
		if record == nil {
			continue // removed since its row was read
		}
		state, _, err := recordHead(record)
		if err != nil {
			return false, unreadable(bucketTasks, rows[i][:], record, err)
		}
		if q.State != "" && q.State != state || !containsAll(record, pairs) {
			continue
		}
		t, err := decodeTask(record)
		if err != nil {
			return false, unreadable(bucketTasks, rows[i][:], record, err)
		}
		if !t.Metadata.Has(q.Metadata) {
			continue
		}
		if n := len(page.Tasks); n == q.PageSize() {
			page.Next = page.Tasks[n-1].ID
			return true, nil
		}
		page.Tasks = append(page.Tasks, t)
	}
	return false, nil
}

// containsAll reports whether the part of a record that its metadata is in contains all the pairs.
func containsAll(record []byte, pairs [][]byte) bool {
	record = record[:min(len(record), headSize+sumSize+task.MetadataEnd)]
	for _, pair := range pairs {
		if !bytes.Contains(record, pair) {
			return false
		}
	}
	return true
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
