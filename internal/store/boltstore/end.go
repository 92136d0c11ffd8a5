package boltstore

import (
	"context"

	"unitask/internal/store"
	"unitask/internal/task"
)

// endRows is how many tasks one commit of EndOpen ends.
const endRows = 500

// EndOpen fails every task that isn't terminal and returns how many there were. An open attempt ends with an unknown
// outcome, for which it may have been paid; a job that is known stays known. It is for a store whose tasks may have
// gone on elsewhere, such as one from a backup. No other process may work on it meanwhile. No failure counts as
// shown: work that the ledgers lack may have been paid for.
func (db *DB) EndOpen(ctx context.Context, f task.Failure) (int, error) {
	f.Unshown = true
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
	s := store.Step{Moves: []task.Transition{task.Fail(f)}}
	if a := before.OpenAttempt(); a != nil {
		s.Close = &task.Closing{State: task.UnknownOutcome, Code: f.Code, CostUnknown: true}
		if a.Moderation {
			s.Close.State = task.FailedAttempt
		}
	}
	after, _, err := s.Apply(before, x.wall)
	if err != nil {
		return err
	}
	return x.save(row, &before, &after, nil, 0)
}
