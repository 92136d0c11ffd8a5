package pgstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
)

// EndOpen fails every task that isn't terminal, as store.EndStep does, and returns how many there were. It is for a
// database whose tasks may have gone on elsewhere, such as one from a backup. It ends no task while a node has a session:
// then it is a *store.InUseError. Tasks that can't be read are named by the error after all others were ended.
func (db *DB) EndOpen(ctx context.Context, f task.Failure) (int, error) {
	if err := db.rests(ctx); err != nil {
		return 0, err
	}
	total, last := 0, ""
	var broken error
	for {
		var ids []string
		err := db.read(ctx, func(ctx context.Context) error {
			rows, err := db.pool.Query(ctx, db.q(`SELECT id FROM {s}.open_tasks WHERE id > $1 ORDER BY id LIMIT $2`), last, groupLimit)
			if err == nil {
				ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
			}
			return err
		})
		if err != nil {
			return total, err
		}
		if len(ids) == 0 {
			return total, broken
		}
		last = ids[len(ids)-1]
		ended, unreadable := 0, error(nil)
		if err := db.alone(ctx, &op{
			needs: func(n *needs) { n.ids = ids },
			run: func(x *txn) (err error) {
				ended, unreadable, err = x.endAll(f)
				return err
			},
		}); err != nil {
			return total, err
		}
		total, broken = total+ended, errors.Join(broken, unreadable)
	}
}

// endAll ends the rows that it can read, if no node has a session: a node that begins one later finds them ended.
func (x *txn) endAll(f task.Failure) (ended int, unreadable, err error) {
	for name := range x.sessions {
		if x.alive(name) {
			return 0, nil, &store.InUseError{Nodes: []string{name}}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(x.rows)) {
		r := x.rows[id]
		if r.broken != nil {
			unreadable = errors.Join(unreadable, fmt.Errorf("task %s: %w", id, r.broken))
			continue
		}
		if r.t.State.Terminal() {
			continue
		}
		after, _, err := store.EndStep(r.t, f).Apply(r.t, x.now)
		if err != nil {
			return 0, nil, err
		}
		x.save(r, after)
		ended++
	}
	return ended, unreadable, nil
}
