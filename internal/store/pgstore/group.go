package pgstore

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"unitask/internal/store"
)

// Groups: how many operations share a transaction at most, how often a lane lets other goroutines run so that more of
// them can join, and from how many bytes of a result on a step has a transaction to itself, so that others don't wait
// until it has reached the database.
const (
	groupLimit  = 256
	groupRounds = 3
	largeResult = 256 << 10
)

// The time that a transaction may take, and how long one is tried that the database didn't begin.
const (
	groupTime = 15 * time.Second
	tryTime   = 2 * time.Second
	tryPause  = 10 * time.Millisecond // doubled each time
)

// op is one operation. run decides in memory and changes nothing if it returns an error; it may be called more than
// once, each time on another transaction.
type op struct {
	needs func(*needs)
	run   func(*txn) error
	// more reads what the first round trip can't know yet; nil: not needed.
	more func(context.Context, *txn) error
	err  error
	done chan struct{}
}

// lane is the groups of one kind of operation.
type lane struct {
	db      *DB
	most    int                             // operations in a group
	carry   func(group []*op, shard string) // sets the errors of all
	ops     chan *op
	stopped chan struct{}
}

// newLane starts a lane that carries out so many groups beside each other, each with at most so many operations.
func newLane(db *DB, groups, most int, carry func([]*op, string)) *lane {
	l := &lane{db: db, most: most, carry: carry, ops: make(chan *op, groupLimit), stopped: make(chan struct{})}
	ended := make(chan struct{}, groups)
	for range groups {
		shard := db.newShard()
		go func() {
			l.work(shard)
			ended <- struct{}{}
		}()
	}
	go func() {
		for range groups {
			<-ended
		}
		close(l.stopped)
	}()
	return l
}

// newShard returns the name of a shard that no other transaction writes at the same time.
func (db *DB) newShard() string { return db.prefix + strconv.Itoa(int(db.shards.Add(1))) }

// close waits for the operations under way; none may come any more.
func (l *lane) close() {
	close(l.ops)
	<-l.stopped
}

func (l *lane) work(shard string) {
	for first := range l.ops {
		group := l.gather(first)
		l.carry(group, shard)
		for _, o := range group {
			close(o.done)
		}
	}
}

// gather takes the waiting operations, giving the callers just answered a chance to come back.
func (l *lane) gather(first *op) []*op {
	group := []*op{first}
	for range groupRounds {
		if len(group) == l.most {
			break
		}
		runtime.Gosched()
		for len(group) < l.most {
			select {
			case o, ok := <-l.ops:
				if !ok {
					return group
				}
				group = append(group, o)
				continue
			default:
			}
			break
		}
	}
	return group
}

// do hands an operation to the lane and waits for its outcome: once a group has it, whatever becomes of ctx.
func (l *lane) do(ctx context.Context, o *op) error {
	if err := l.db.enter(ctx); err != nil {
		return err
	}
	defer l.db.mu.RUnlock()
	o.done = make(chan struct{})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case l.ops <- o:
	}
	<-o.done
	return o.err
}

// alone carries out an operation in a transaction of its own.
func (db *DB) alone(ctx context.Context, o *op) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.mu.RUnlock()
	db.commitGroup(db.pool, []*op{o}, db.prefix+"0")
	return o.err
}

// commitGroup carries out the operations in one transaction or, if one of them breaks it, in one each.
func (db *DB) commitGroup(pool *pgxpool.Pool, group []*op, shard string) {
	start := time.Now()
	err := db.tryGroup(pool, group, shard)
	if err != nil && len(group) > 1 && !passing(err) && !errors.Is(err, store.ErrUnknown) {
		for _, o := range group {
			db.commitGroup(pool, []*op{o}, shard)
		}
		return
	}
	if err != nil {
		for _, o := range group {
			o.err = err
		}
		return
	}
	db.commit(len(group), time.Since(start))
}

// tryGroup tries a group until the database has decided about it.
func (db *DB) tryGroup(pool *pgxpool.Pool, group []*op, shard string) error {
	strict := map[store.Counter]bool{}
	giveUp := time.Now().Add(tryTime)
	for pause := tryPause; ; {
		err := db.tryOnce(pool, group, shard, strict)
		db.doubt(context.Background(), err)
		switch {
		case errors.Is(err, errNear):
			continue
		case err == nil || errors.Is(err, store.ErrUnknown) || !passing(err):
			return err
		case time.Now().After(giveUp):
			return unavailable(err)
		}
		if pause == tryPause {
			db.log.Warn("a transaction is tried again", slog.Any("error", err))
		}
		time.Sleep(pause)
		pause *= 2
	}
}

func (db *DB) tryOnce(pool *pgxpool.Pool, group []*op, shard string, strict map[store.Counter]bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), groupTime)
	defer cancel()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	x := newTxn(db, conn.Conn(), shard, maps.Clone(strict))
	defer x.rollback()
	n := &needs{}
	for _, o := range group {
		if o.needs != nil {
			o.needs(n)
		}
	}
	if err := x.begin(ctx, n); err != nil {
		maps.Copy(strict, x.strict)
		return err
	}
	for _, o := range group {
		if o.more != nil {
			if err := o.more(ctx, x); err != nil {
				return err
			}
		}
		o.err = o.run(x)
	}
	if err := x.end(ctx); err != nil {
		return err
	}
	db.latest.add(x.rows)
	db.bell.Ring(x.rings...)
	return nil
}

// rollback ends a transaction that didn't commit. A connection in any other state is closed by its pool.
func (x *txn) rollback() {
	if x.conn.IsClosed() || x.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := x.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = x.conn.Close(ctx)
	}
}
