package boltstore

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
	"unitask/internal/task"
)

// txn is a group under way: the rows that it changes, and a log that undoes the changes in memory. The
// next group has its memory.
type txn struct {
	reader      // its first layer is the group's own
	db          *DB
	now         tick
	wall        time.Time
	undo        undo
	puts        int                      // changes of rows, and of values that become rows: they aren't undone for an operation alone
	bytes       int64                    // that they take, an estimate
	held        map[string]*counterDelta // counters that the group has met, by their keys
	sums        map[string]*sums         // those of usage, by their keys
	authChanged bool                     // keys or accounts changed
	idem        map[idem.Digest]idem.Row // of this group, not yet visible to readers
	topics      []string                 // to be woken
	gone        []string                 // keys of idempotency runs that were dropped
	swept       int                      // rows that a sweep removed
	by          []store.HoldChange       // room for those of one task
	key         []byte                   // room for the key of a counter or of a sum

	frees       bool // the group only makes room
	looked      bool
	grows, free int64 // bytes that the file may grow by, and those of its free pages
	reserve     int64 // bytes that are kept back
}

func (db *DB) newTxn() *txn {
	now := db.now()
	db.group.clear()
	x := &db.txn
	x.forget()
	*x = txn{
		reader: db.reader(&db.group, nil), db: db, now: tick(now.Sub(db.start)), wall: db.clock.Stamp(),
		undo: x.undo, held: x.held, sums: x.sums, idem: x.idem, topics: x.topics, by: x.by, key: x.key,
	}
	db.index.advance(x.now)
	x.now = db.index.now
	return x
}

// forget empties the memory that the next group will use.
func (x *txn) forget() {
	x.undo.forget()
	clear(x.held)
	clear(x.sums)
	clear(x.idem)
	clear(x.topics)
	x.topics = x.topics[:0]
}

// publish makes the committed group visible beside the file, and wakes who waits for it.
func (x *txn) publish() {
	if x.authChanged {
		x.db.changes.Add(1)
	}
	x.db.idem.Add(x.idem)
	for _, key := range x.gone {
		x.db.idem.DropRun([]byte(key))
	}
	x.db.swept += x.swept
	x.db.bell.Ring(x.topics...)
	x.forget()
}

// wake rings the topic once the group is committed; one ring too many does no harm.
func (x *txn) wake(topics ...string) { x.topics = append(x.topics, topics...) }

// wakeQueue rings for claims, if a task can be claimed: a task may be new in the queue, or a cap may have become
// free.
func (x *txn) wakeQueue() {
	if int64(len(x.db.index.tasks)) > x.db.index.held.Load() {
		x.wake(store.TopicQueue)
	}
}

// fill is how full a page is left when it splits: new keys come at the end, so that the room that is left free by
// default would stay so.
const fill = 0.9

// put sets a row, which keeps the value.
func (x *txn) put(in bucket, key string, value []byte) error {
	if value == nil {
		value = []byte{} // a row without a value; nil is no row
	}
	return x.change(in, key, value)
}

func (x *txn) del(in bucket, key string) error { return x.change(in, key, nil) }

func (x *txn) change(in bucket, key string, value []byte) error {
	if len(key) == 0 || len(key) > bolt.MaxKeySize {
		return fmt.Errorf("boltstore: a key of %d bytes in %s", len(key), in)
	}
	x.puts++
	x.bytes += weight(len(key), len(value))
	x.db.group.set(in, key, value)
	return nil
}

// replace changes the index, undoably.
func (x *txn) replace(old, new *openTask) {
	x.db.index.replace(old, new)
	x.undo.note(changed{old: old, new: new})
}

// load returns a stored task; ErrNotFound if it is missing. A damaged page is a row that can't be read, too.
func (x *txn) load(row rowID) (t task.Task, err error) {
	err = guarded(x.db.path, func() error {
		t, err = readTask(&x.reader, row)
		return err
	})
	if damage, ok := errors.AsType[*DamagedError](err); ok {
		err = unreadable(bucketTasks, row[:], nil, damage)
	}
	return t, err
}

// save records a task in place of before, the zero Task for a new one, and brings counters, queue and leases along. A
// lease keeps the task, which doesn't change any more. l is the lease it has from now on, which may be nil, over
// after the given pause.
func (x *txn) save(row rowID, before, after *task.Task, l *lease, pause tick) error {
	record, err := x.write(after, encodeTask)
	if err != nil {
		return err
	}
	x.by = store.HoldChanges(x.by, before, after)
	x.settle(x.by)
	x.count(before, after)
	if err := x.notify(before, after); err != nil {
		return err
	}
	key := string(row[:])
	if err := x.put(bucketTasks, key, record); err != nil {
		return err
	}
	if err := x.saveOpenTask(row, key, before, after, l, pause); err != nil {
		return err
	}
	x.wake(after.ID)
	return nil
}

// write encodes a task into the memory of the table that will have it.
func (x *txn) write(t *task.Task, encode func([]byte, *task.Task) ([]byte, error)) ([]byte, error) {
	value, err := encode(x.db.fresh.space(&x.db.unused), t)
	if err != nil {
		return nil, err
	}
	x.db.fresh.wrote(value)
	return value[:len(value):len(value)], nil
}

// saveOpenTask brings the index and its bucket along.
func (x *txn) saveOpenTask(row rowID, key string, before, after *task.Task, l *lease, pause tick) error {
	old := x.db.index.tasks[row]
	if after.State.Terminal() {
		if old == nil {
			return nil
		}
		x.replace(old, nil)
		x.wakeQueue()
		return x.del(bucketOpen, key)
	}
	e := openTaskOf(row, after, old, x.now, x.wall)
	e.pause = pause
	if l != nil && l.task != after {
		held := *l
		held.task = after
		if e.attempt != nil {
			held.position = nil // it counts as an attempt now
		}
		l = &held
	}
	e.lease = l
	x.replace(old, e)
	if l == nil || (old != nil && len(e.caps()) < len(old.caps())) {
		x.wakeQueue()
	}
	if old != nil && old.state == e.state && (old.attempt == nil) == (e.attempt == nil) && old.cancel == e.cancel &&
		len(old.caps()) == len(e.caps()) && before.DeadlineAt.Equal(after.DeadlineAt) {
		return nil // the row is unchanged
	}
	value, err := x.write(after, encodeOpen)
	if err != nil {
		return err
	}
	return x.put(bucketOpen, key, value)
}
