package boltstore

import (
	"context"

	"unitask/internal/store"
	"unitask/internal/task"
)

// endRows is how many tasks one commit of EndOpen ends.
const endRows = 500

// EndOpen fails every task that isn't terminal, as store.EndStep does, and returns how many there were. It is for a
// store whose tasks may have gone on elsewhere, such as one from a backup. No other process may work on it meanwhile.
func (db *DB) EndOpen(ctx context.Context, f task.Failure) (int, error) {
	total := 0
	for {
		ended := 0
		err := db.do(ctx, &op{writes: true, run: func(x *txn) error {
			ended = 0
			rows := make([]rowID, 0, endRows)
			for row := range db.index.tasks {
				if rows = append(rows, row); len(rows) == endRows {
					break
				}
			}
			for _, row := range rows {
				if err := x.end(row, f); err != nil {
					return err
				}
				ended++
			}
			return nil
		}})
		if err != nil || ended == 0 {
			return total, err
		}
		total += ended
	}
}

func (x *txn) end(row rowID, f task.Failure) error {
	before, err := x.load(row)
	if err != nil {
		return err
	}
	after, _, err := store.EndStep(before, f).Apply(before, x.wall)
	if err != nil {
		return err
	}
	return x.save(row, &before, &after, nil, 0)
}
