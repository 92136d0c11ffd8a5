package boltstore

import (
	"context"
	"errors"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
)

// runSpan is the range of tasks that an idempotency run leads to, from the first one that was still stored at
// the last look. The tasks of a run only go: no other comes into its range.
type runSpan struct{ first, last rowID }

// dropRuns removes the idempotency runs whose tasks were all created before the given time and are all gone. One
// that can't be read is named and stays.
func (db *DB) dropRuns(ctx context.Context, before time.Time, s *store.Swept) error {
	w := &db.sweeper
	var empty []string
	var bad []error
	err := db.view(ctx, func(r *reader) error {
		for _, key := range db.idem.Runs() {
			span, err := w.span(r, key)
			switch {
			case err != nil && r.get(bucketQuarantine, quarantineKey(bucketIdemRuns, []byte(key))) == nil:
				bad = append(bad, err)
			case err == nil && rowTime(span.last[:]).Before(before) && !w.remains(r, key, span):
				empty = append(empty, key)
			}
		}
		return nil
	})
	for _, u := range bad {
		if err := db.setAside(ctx, u); err != nil && !errors.Is(err, errAside) { // else by another, meanwhile
			return err
		}
	}
	if err != nil || len(empty) == 0 {
		return err
	}
	err = db.turn(ctx, s, func(x *txn) error {
		for _, key := range empty {
			if err := x.del(bucketIdemRuns, key); err != nil {
				return err
			}
		}
		x.gone = append(x.gone[:0], empty...)
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range empty {
		delete(w.spans, key)
	}
	return nil
}

// span returns the range of a run, which is read once.
func (s *sweeper) span(r *reader, key string) (runSpan, error) {
	if span, known := s.spans[key]; known {
		return span, nil
	}
	low, high, ok := idem.Run(r.get(bucketIdemRuns, []byte(key))).Bounds()
	if !ok {
		return runSpan{}, unreadable(bucketIdemRuns, []byte(key), nil, errRecord)
	}
	span := runSpan{rowID(low), rowID(high)}
	if s.spans == nil {
		s.spans = map[string]runSpan{}
	}
	s.spans[key] = span
	return span, nil
}

// remains reports whether a task of the range is stored, and notes the first one.
func (s *sweeper) remains(r *reader, key string, span runSpan) bool {
	if r.get(bucketTasks, span.first[:]) != nil {
		return true
	}
	for k := range r.ascend(bucketTasks, span.first[:], append(span.last[:], 0)) {
		s.spans[key] = runSpan{rowID(k), span.last}
		return true
	}
	return false
}
