package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// counter is the value of one row of `holds`: the held amount, and, for a counter with an end, its time. Eight bytes
// each, big endian; the second in nanoseconds since 1970.
type counter []byte

const counterWord = 8

func (c counter) amount() int64 {
	if len(c) < counterWord {
		return 0
	}
	return int64(min(binary.BigEndian.Uint64(c), math.MaxInt64))
}

// end returns the bytes that say when the counter's time is over; nil for never.
func (c counter) end() []byte {
	if len(c) != 2*counterWord {
		return nil
	}
	return c[counterWord:]
}

func counterOf(amount int64, end []byte) counter {
	return append(bigEndian(uint64(amount)), end...)
}

// counterKey appends a counter's key to room.
func counterKey(room []byte, c store.Counter) []byte {
	return append(append(append(room, c.Kind...), 0), c.Scope...)
}

// counterKey is a counter's key, to be looked up at once.
func (x *txn) counterKey(c store.Counter) []byte {
	x.key = counterKey(x.key[:0], c)
	return x.key
}

// Held implements store.Counters.
func (db *DB) Held(ctx context.Context, counters []store.Counter) (all []int64, _ error) {
	if len(counters) == 0 {
		return nil, nil
	}
	return all, db.view(ctx, func(r *reader) error {
		for _, c := range counters {
			all = append(all, counter(r.get(bucketHolds, counterKey(nil, c))).amount())
		}
		return r.err
	})
}

func endOf(at time.Time) []byte { return bigEndian(uint64(at.UnixNano())) }

// counterDelta is a counter within a group: as the file has it, and as the group leaves it. Tasks of one
// key meet in the same counters, which are so written once a commit.
type counterDelta struct {
	was, now int64
	old, end []byte // when its time is over, in the file and now
	stored   bool   // the file has a row
}

func (x *txn) counterDelta(key []byte) *counterDelta {
	s, ok := x.held[string(key)]
	if !ok {
		c := counter(x.get(bucketHolds, key))
		end := bytes.Clone(c.end())
		s = &counterDelta{was: c.amount(), now: c.amount(), old: end, end: end, stored: c != nil}
		x.held[string(key)] = s
	}
	return s
}

// adjust sets a counter's amount and end.
func (x *txn) adjust(s *counterDelta, amount int64, end []byte) {
	x.puts++
	s.now, s.end = amount, end
}

// read returns a counter's value.
func (x *txn) read(c store.Counter) int64 { return x.counterDelta(x.counterKey(c)).now }

// settle applies changes to counters.
func (x *txn) settle(changes []store.HoldChange) {
	for _, c := range changes {
		s := x.counterDelta(x.counterKey(c.Counter))
		x.adjust(s, max(s.now+c.By, 0), s.end)
	}
}

// limit records when the holds' counters end, if that isn't known yet.
func (x *txn) limit(holds []task.Hold) {
	for _, h := range holds {
		if h.Lasts <= 0 {
			continue
		}
		s := x.counterDelta(x.counterKey(store.Counter{Scope: h.Scope, Kind: h.Kind}))
		if s.end == nil && (s.stored || s.now > 0) {
			x.adjust(s, s.now, endOf(x.wall.Add(h.Lasts)))
		}
	}
}

// writeCounters writes those that the group changed. One that came to 0 is removed, unless it has an
// end: its row there would be left, and another come with the next task.
func (x *txn) writeCounters() error {
	for key, s := range x.held {
		var err error
		switch {
		case s.now == s.was && bytes.Equal(s.old, s.end):
		case s.now == 0 && s.end == nil:
			err = x.del(bucketHolds, key)
		case bytes.Equal(s.old, s.end):
			err = x.put(bucketHolds, key, counterOf(s.now, s.end))
		default:
			err = putEnd(x.put, key, s.now, s.end)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putEnd writes both rows of a counter with an end.
func putEnd(put func(in bucket, key string, value []byte) error, key string, amount int64, end []byte) error {
	if err := put(bucketHolds, key, counterOf(amount, end)); err != nil {
		return err
	}
	return put(bucketHoldEnds, string(end)+key, nil)
}

// endedCounters returns at most limit counters whose time was over before the given one.
func (r *reader) endedCounters(before time.Time, limit int) (rows []expired, _ error) {
	for k := range r.ascend(bucketHoldEnds, nil, endOf(before)) {
		if len(rows) >= limit {
			break
		}
		if len(k) < counterWord {
			return nil, unreadable(bucketHoldEnds, k, []byte{}, errRecord)
		}
		rows = append(rows, expired{bucket: bucketHoldEnds, key: string(k)})
	}
	return rows, nil
}

// removeCounter removes the counter that a row of `hold_ends` leads to, and that row.
func (x *txn) removeCounter(end string) error {
	x.adjust(x.counterDelta([]byte(end[counterWord:])), 0, nil)
	return x.del(bucketHoldEnds, end)
}

// endCounters is the step to schema 2, before which no counter had an end: those of budgets end with
// the period that their scope names.
func endCounters(tx *bolt.Tx, from []byte, rows int) ([]byte, error) {
	if _, err := tx.CreateBucketIfNotExists(bucketNames[bucketHoldEnds]); err != nil {
		return nil, err
	}
	holds := bucketHolds.of(tx)
	ends := map[string][]byte{}
	c := holds.Cursor()
	k, v := c.Seek(from)
	for n := 0; k != nil && n < rows; n++ {
		if end, ok := budgetEnd(k); ok && counter(v).end() == nil {
			ends[string(k)] = end
		}
		k, v = c.Next()
	}
	next := bytes.Clone(k)
	put := func(in bucket, key string, value []byte) error { return in.of(tx).Put([]byte(key), value) }
	for key, end := range ends {
		if err := putEnd(put, key, counter(holds.Get([]byte(key))).amount(), end); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// budgetEnd returns when the period is over that a budget counter's scope of schema 1 ends with:
// "…:2026-11-21" or "…:2026-11".
func budgetEnd(key []byte) ([]byte, bool) {
	kind, scope, ok := bytes.Cut(key, []byte{0})
	if !ok || string(kind) != string(task.HoldBudget) {
		return nil, false
	}
	stamp := string(scope[bytes.LastIndexByte(scope, ':')+1:])
	if day, err := time.Parse("2006-01-02", stamp); err == nil {
		return endOf(day.AddDate(0, 0, 1)), true
	}
	month, err := time.Parse("2006-01", stamp)
	return endOf(month.AddDate(0, 1, 0)), err == nil
}
