package pgstore

import (
	"context"
	"time"

	"unitask/internal/store"
)

// SetIdle sets after how long the server ends a transaction whose node fell silent.
func SetIdle(db *DB, d time.Duration) { db.idle = d }

// FallSilent begins a transaction that takes from the counter, and leaves it between its round trips until wake.
func FallSilent(ctx context.Context, db *DB, c store.Counter, limit int64) (wake func() error, err error) {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	x := newTxn(db, conn.Conn(), db.newShard(), map[store.Counter]bool{c: true})
	if err := x.begin(ctx, &needs{takes: []take{{c, 1, limit}}}); err != nil {
		conn.Release()
		return nil, err
	}
	return func() error {
		defer conn.Release()
		x.deltas[c] = 1
		return x.end(ctx)
	}, nil
}
