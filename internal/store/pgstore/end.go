package pgstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
)

// EndOpen fails every task that isn't terminal, as store.EndStep does, and returns how many there were. It is for a
// database whose tasks may have gone on elsewhere, such as one from a backup. A *store.InUseError if a node has a
// session; none may begin one meanwhile.
func (db *DB) EndOpen(ctx context.Context, f task.Failure) (int, error) {
	if err := db.rests(ctx); err != nil {
		return 0, err
	}
	total := 0
	for {
		var ids []string
		err := db.read(ctx, func(ctx context.Context) error {
			rows, err := db.pool.Query(ctx, db.q(`SELECT id FROM {s}.open_tasks ORDER BY id LIMIT $1`), groupLimit)
			if err == nil {
				ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
			}
			return err
		})
		if err != nil || len(ids) == 0 {
			return total, err
		}
		if err := db.alone(ctx, &op{
			needs: func(n *needs) { n.ids = ids },
			run:   func(x *txn) error { return x.endAll(f) },
		}); err != nil {
			return total, err
		}
		total += len(ids)
	}
}

func (x *txn) endAll(f task.Failure) error {
	for id, r := range x.rows {
		if r.broken != nil {
			return fmt.Errorf("task %s: %w", id, r.broken)
		}
		if r.t.State.Terminal() {
			continue
		}
		after, _, err := store.EndStep(r.t, f).Apply(r.t, x.now)
		if err != nil {
			return err
		}
		x.save(r, after)
	}
	return nil
}
