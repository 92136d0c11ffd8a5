package boltstore

import (
	"log/slog"
	"slices"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store/boltstore/idem"
	"unitask/internal/task"
)

// mend sets aside the rows that a start can't read, and rebuilds the rows that derive from the tasks' records: those
// of `open`, and those from idempotency keys to tasks.
func (db *DB) mend(bad []*unreadableError) error {
	if len(bad) == 0 {
		return nil
	}
	keys := slices.ContainsFunc(bad, func(u *unreadableError) bool { return u.bucket == bucketIdemLog || u.bucket == bucketIdemRuns })
	err := db.bolt.Update(func(tx *bolt.Tx) error {
		for _, u := range bad {
			if err := db.mendRow(tx, u); err != nil {
				return err
			}
		}
		if keys {
			return db.reindex(tx)
		}
		return nil
	})
	for _, u := range bad {
		db.log.Error("a row of the database can't be read and was set aside", slog.String("row", u.name()), slog.Any("error", u.cause))
	}
	return err
}

// mendRow sets a row aside, and queues the task again that a row of `open` led to. A task that can't be read
// either is set aside with it.
func (db *DB) mendRow(tx *bolt.Tx, u *unreadableError) error {
	if err := db.moveAside(tx, u); err != nil {
		return err
	}
	if u.bucket == bucketWaiting {
		return db.mendWaiting(tx, u)
	}
	if u.bucket != bucketOpen || len(u.key) != rowSize {
		return nil
	}
	row := rowID(u.key)
	record := bucketTasks.of(tx).Get(row[:])
	if record == nil {
		return nil
	}
	t, err := decodeTask(record)
	if err != nil {
		return db.moveAside(tx, &unreadableError{bucketTasks, row[:], slices.Clone(record), err})
	}
	if t.State.Terminal() {
		return nil
	}
	value, err := encodeOpen(nil, &t)
	if err != nil {
		return err
	}
	again, err := decodeOpen(value)
	if err != nil {
		return err
	}
	db.index.replace(nil, openTaskOfRow(row, again, db.start.UTC()))
	return bucketOpen.of(tx).Put(row[:], value)
}

// mendWaiting lets a delivery wait again whose row couldn't be read. One that can't be read itself is left to whoever
// reads it.
func (db *DB) mendWaiting(tx *bolt.Tx, u *unreadableError) error {
	record := bucketDeliveries.of(tx).Get(u.key)
	if record == nil {
		return nil
	}
	o, err := readDelivery(u.key, record)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	w := waitOf(o)
	if _, known := db.outbox.endpoints[o.Endpoint]; w == nil || !known {
		return nil
	}
	db.outbox.set(o.Endpoint, o.Event.ID, w)
	return bucketWaiting.of(tx).Put(u.key, encodeWait(*w))
}

// moveAside is setAside in a transaction of the tree.
func (db *DB) moveAside(tx *bolt.Tx, u *unreadableError) error {
	quarantine, place := bucketQuarantine.of(tx), quarantineKey(u.bucket, u.key)
	if quarantine.Get(place) == nil {
		db.quarantined.Add(1)
	}
	if err := quarantine.Put(place, u.value); err != nil {
		return err
	}
	return u.bucket.of(tx).Delete(u.key)
}

// pairsOfRow bounds the pairs that leadAnew puts into a row.
const pairsOfRow = 1024

// reindex adds the row from an idempotency key to its task for every task without one. It reads all tasks, which is
// slow and rare.
func (db *DB) reindex(tx *bolt.Tx) error {
	r := &reader{opened: tx}
	missing, err := unindexed(r, &db.idem)
	if err != nil {
		return err
	}
	var pairs []byte
	put := func() error {
		if len(pairs) == 0 {
			return nil
		}
		row := idem.Sum(pairs)
		pairs = nil
		return bucketIdemLog.of(tx).Put(bigEndian(db.idem.NextNumber()), row)
	}
	for d, row := range missing {
		if pairs = idem.AppendPair(pairs, d, row); len(pairs) == pairsOfRow*idem.PairSize {
			if err := put(); err != nil {
				return err
			}
		}
	}
	db.idem.Add(missing)
	return put()
}

// unindexed returns the tasks to which no idempotency key leads, by their digests.
func unindexed(r *reader, x *idem.Index) (map[idem.Digest]idem.Row, error) {
	missing := map[idem.Digest]idem.Row{}
	for k, record := range r.ascend(bucketTasks, nil, nil) {
		var t task.Task
		var err error
		if t, err = decodeTask(record); err != nil || len(k) != rowSize || !isOf(&t, rowID(k)) {
			continue // whoever reads it sets it aside
		}
		d, row := idemDigest(t.Scope, t.IdempotencyHash), rowID(k)
		at := x.Find(d)
		if at.Logged && at.Row == row {
			continue
		}
		led := false
		for _, one := range runsOf(r, at) {
			if found, ok := one.Search(d); ok && found == row {
				led = true
			}
		}
		if !led {
			missing[d] = row
		}
	}
	return missing, r.err
}
