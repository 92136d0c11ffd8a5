package boltstore

import (
	"context"
	"time"
)

// runSpan is the range of tasks that an idempotency run leads to, from the first one that was still stored at
// the last look. The tasks of a run only go: no other comes into its range.
type runSpan struct{ first, last rowID }

// dropRuns removes the idempotency runs whose tasks were all created before the given time and are all gone.
func (db *DB) dropRuns(ctx context.Context, before time.Time) error {
	s := &db.sweeper
	var empty []string
	err := db.view(ctx, func(r *reader) error {
		for _, key := range db.idem.runs() {
			if span, ok := s.span(r, key); ok && rowTime(span.last[:]).Before(before) && !s.remains(r, key, span) {
				empty = append(empty, key)
			}
		}
		return nil
	})
	if err != nil || len(empty) == 0 {
		return err
	}
	err = db.do(ctx, &op{writes: true, frees: true, run: func(x *txn) error {
		for _, key := range empty {
			if err := x.del(bucketIdemRuns, key); err != nil {
				return err
			}
		}
		x.gone = append(x.gone[:0], empty...)
		return nil
	}})
	if err != nil {
		return err
	}
	for _, key := range empty {
		delete(s.spans, key)
	}
	return nil
}

// span returns the range of a run, which is read once; false for one that can't be read.
func (s *sweeper) span(r *reader, key string) (runSpan, bool) {
	if span, known := s.spans[key]; known {
		return span, true
	}
	low, high, ok := run(r.get(bucketIdemRuns, []byte(key))).bounds()
	if !ok {
		return runSpan{}, false
	}
	span := runSpan{rowID(low), rowID(high)}
	if s.spans == nil {
		s.spans = map[string]runSpan{}
	}
	s.spans[key] = span
	return span, true
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
