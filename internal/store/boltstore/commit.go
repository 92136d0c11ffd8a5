package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"unitask/internal/store"
)

// Groups: how many operations share one commit at most, and how often the committer lets other
// goroutines run so that more of them can join.
const (
	groupLimit  = 1024
	groupRounds = 3
)

// op is one operation for the committer. run may be called more than once, each time from scratch.
type op struct {
	run    func(*txn) error
	writes bool // it may change the file
	admits bool // it brings new work in: the first to be refused when room is short
	frees  bool // it makes room: the last to be refused
	out    bool // taken out of its group with err
	// flushed is called before the answer, when the tree has all rows and no other operation runs; nil: it needn't
	// have.
	flushed func() error
	err     error
	done    chan error
}

// do carries out an operation. One that meets a row that can't be read is carried out again once that was
// set aside.
func (db *DB) do(ctx context.Context, o *op) error {
	var bad asides
	for {
		err := db.doOnce(ctx, o)
		if _, damaged := errors.AsType[*unreadableError](err); !damaged {
			return err
		}
		if err := bad.goOn(ctx, db, err); err != nil {
			return err
		}
		o.err, o.out = nil, false
	}
}

// doOnce hands an operation to the committer and waits for its outcome. A context that ends before the
// committer has it withdraws it; afterwards the outcome is awaited, so that it is never unknown.
func (db *DB) doOnce(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.done = db.answers.get()
	db.gate.RLock()
	if db.closed {
		db.gate.RUnlock()
		return store.ErrClosed
	}
	select {
	case <-ctx.Done():
		db.gate.RUnlock()
		return ctx.Err()
	case db.ops <- o:
		db.gate.RUnlock()
	}
	err := <-o.done
	db.answers.put(o.done)
	return err
}

// errChans are channels that wait for an operation to be answered. Each operation that the committer has
// is answered once, so that a channel which was read is empty for good and serves another one.
type errChans struct{ pool sync.Pool }

func (a *errChans) get() chan error {
	if c, ok := a.pool.Get().(chan error); ok {
		return c
	}
	return make(chan error, 1)
}

func (a *errChans) put(c chan error) { a.pool.Put(c) }

// commitLoop is the committer: it ends when the channel is closed and drained.
func (db *DB) commitLoop() {
	defer close(db.drained)
	debug.SetPanicOnFault(true) // see guarded
	for {
		select {
		case first, ok := <-db.ops:
			if !ok {
				if err := db.flushAll(); err == nil {
					db.settled = true
				}
				return
			}
			db.waiting = db.gather(first)
			db.serve(db.waiting)
			clear(db.waiting)
		case end := <-db.flushed:
			_ = db.endFlush(end) // it has been reported
		case <-db.due.C:
			db.beginFlush()
		}
	}
}

// serve commits a group and answers it.
func (db *DB) serve(group []*op) {
	for db.flushing && (db.fresh.bytes > flushMost*db.flushBytes || db.wal.Full()) {
		_ = db.endFlush(<-db.flushed) // writers wait for the tree
	}
	if db.wal.Full() && db.broken.Load() == nil {
		db.beginFlush()
	}
	db.commit(group)
	for _, o := range group {
		if o.flushed == nil || o.err != nil {
			continue
		}
		if o.err = db.flushAll(); o.err == nil {
			o.err = o.flushed()
		}
	}
	for _, o := range group {
		o.done <- o.err
	}
	if db.broken.Load() == nil && (db.fresh.bytes > db.flushBytes || db.wal.Full() || db.idem.Full() || db.swept >= sweepFlush) {
		db.beginFlush()
	}
}

// gather takes the waiting operations, giving the callers just answered a chance to come back.
func (db *DB) gather(first *op) []*op {
	group := append(db.waiting[:0], first)
	for range groupRounds {
		if len(group) >= db.maxGroup {
			break
		}
		runtime.Gosched()
		group = db.drain(group)
	}
	return group
}

func (db *DB) drain(group []*op) []*op {
	for len(group) < db.maxGroup {
		select {
		case o, ok := <-db.ops:
			if !ok {
				return group
			}
			group = append(group, o)
		default:
			return group
		}
	}
	return group
}

// commit runs the group until one transaction holds all of it that can be held.
func (db *DB) commit(group []*op) {
	for {
		if broken := db.broken.Load(); broken != nil {
			refuse(group, *broken, func(*op) bool { return true })
			return
		}
		done, err := db.try(group)
		switch {
		case done:
			return
		case err == nil: // one was taken out
		case errors.Is(err, store.ErrFull):
			for _, choose := range []func(*op) bool{
				func(o *op) bool { return o.admits },
				func(o *op) bool { return o.writes && !o.frees },
				func(o *op) bool { return o.writes },
			} {
				if refuse(group, err, choose) {
					break
				}
			}
		default:
			db.fail(err)
		}
	}
}

// refuse takes the chosen operations out with the error and reports whether there were any.
func refuse(group []*op, err error, choose func(*op) bool) bool {
	any := false
	for _, o := range group {
		if !o.out && choose(o) {
			o.out, o.err, any = true, err, true
		}
	}
	return any
}

// try runs the group and writes it to the log. done is false, and everything undone, if it must be tried again: an
// operation was taken out, or there was no room.
func (db *DB) try(group []*op) (done bool, err error) {
	x := db.newTxn()
	defer x.close()
	defer catch(db.path, &err)
	for _, o := range group {
		if !o.out && !x.runOne(o) {
			x.undo.revert(0)
			return false, nil
		}
	}
	if x.err != nil {
		x.undo.revert(0)
		return false, x.err
	}
	if x.puts > 0 {
		start := time.Now()
		x.frees = !slices.ContainsFunc(group, func(o *op) bool { return o.writes && !o.frees && !o.out })
		if err := x.commit(); err != nil {
			x.undo.revert(0)
			return false, err
		}
		db.onCommit(len(group), time.Since(start))
	}
	x.publish()
	return true, nil
}

// commit writes the group to the log and adds it to the rows that the tree will take. ErrFull, without a change, if
// there is no room for it.
func (x *txn) commit() error {
	if err := errors.Join(x.writeIdem(), x.writeCounters(), x.writeSums()); err != nil {
		return err
	}
	db := x.db
	if x.nearlyFull() {
		return x.writeThrough()
	}
	seq, err := db.wal.Write(db.group.append)
	if errors.Is(err, store.ErrFull) {
		return x.writeThrough()
	}
	if err != nil {
		return err
	}
	db.tables.Lock()
	if db.fresh.none() {
		db.due.Reset(db.flushIn())
	}
	db.fresh.add(&db.group, seq)
	db.tables.Unlock()
	return nil
}

// writeThrough brings the group to the tree at once, which alone knows whether it has room, after
// everything that was before it.
func (x *txn) writeThrough() error {
	if err := x.makeRoom(); err != nil {
		return err
	}
	db := x.db
	x.look()
	most := db.treeSize.Load() + x.grows + int64(db.bolt.AllocSize)
	if !x.frees {
		most -= min(db.reserve()/8, x.grows) // the rest is for removals, which rewrite pages too
	}
	db.bolt.MaxSize = int(min(most, math.MaxInt))
	db.bolt.NoFreelistSync = db.freePages() > groupFreelist
	seq := db.wal.Seq + 1
	err := update(db.bolt, func(tx *bolt.Tx) error {
		if err := applyChanges(tx, db.group.changes(nil)); err != nil {
			return err
		}
		return putLogged(tx, seq)
	})
	if err != nil {
		return err
	}
	db.wal.Seq, x.swept = seq, 0
	db.noteLast(&db.group)
	return db.measure()
}

// runOne runs one operation. false: it failed after it had written, and was taken out.
func (x *txn) runOne(o *op) bool {
	mark, puts := len(x.undo.log), x.puts
	o.err = x.guard(o)
	if o.err == nil {
		return true
	}
	if x.puts == puts && !errors.Is(o.err, errPanic) {
		x.undo.revert(mark)
		return true
	}
	o.out = true
	return false
}

var errPanic = errors.New("boltstore: an operation panicked")

// guard runs the operation; a panic is that operation's error.
func (x *txn) guard(o *op) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return o.run(x)
}

// commitTx commits. ErrFull if the file or the disk had no room and the file is as before; any other error may have
// been applied.
func commitTx(b *bolt.DB, tx *bolt.Tx) error {
	id := tx.ID()
	err := tx.Commit()
	if err == nil {
		return nil
	}
	if errors.Is(err, bolterrors.ErrMaxSizeReached) {
		return store.ErrFull // refused while pages were laid out, before the first write
	}
	failed, ok := errors.AsType[*fs.PathError](err) // a write; a failed fsync has no path
	full := ok && (errors.Is(failed, syscall.ENOSPC) || errors.Is(failed, syscall.EDQUOT))
	if full && !applied(b, id) {
		return store.ErrFull
	}
	return err
}

// applied reports whether readers see the transaction with the given id.
func applied(b *bolt.DB, id int) bool {
	seen := id
	if err := b.View(func(tx *bolt.Tx) error { seen = tx.ID(); return nil }); err != nil {
		return true
	}
	return seen >= id
}

// fail stops the engine for good: from here on no operation is acknowledged.
func (db *DB) fail(err error) {
	err = fmt.Errorf("boltstore: a commit failed and may have been applied: %w", err)
	if db.broken.CompareAndSwap(nil, &err) {
		db.fatal(err)
	}
}
