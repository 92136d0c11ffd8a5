package boltstore

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// counter is the value of one row of `holds`: what is held, and, for a counter whose time ends, when
// that is. Eight bytes each, big endian; the second in nanoseconds since 1970.
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

func counterKey(c store.Counter) []byte { return []byte(string(c.Kind) + "\x00" + c.Scope) }

func endOf(at time.Time) []byte { return bigEndian(uint64(at.UnixNano())) }

func (x *txn) counter(key []byte) counter { return x.tx.Bucket(bucketHolds).Get(key) }

// held reads a counter.
func (x *txn) held(c store.Counter) int64 { return x.counter(counterKey(c)).amount() }

// settle applies changes to counters. One that comes to 0 is removed, unless it has an end: its row
// there would be left, and another come with the next task.
func (x *txn) settle(changes map[store.Counter]int64) error {
	for c, by := range changes {
		key := counterKey(c)
		old := x.counter(key)
		n, end := max(old.amount()+by, 0), old.end()
		var err error
		if n == 0 && end == nil {
			err = x.del(bucketHolds, key)
		} else {
			err = x.put(bucketHolds, key, counterOf(n, end))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// limit notes when the holds' counters end, where that isn't known yet.
func (x *txn) limit(holds []task.Hold) error {
	for _, h := range holds {
		key := counterKey(store.Counter{Scope: h.Scope, Kind: h.Kind})
		c := x.counter(key)
		if h.Lasts <= 0 || c == nil || c.end() != nil {
			continue
		}
		if err := putEnd(x.put, key, c.amount(), endOf(x.wall.Add(h.Lasts))); err != nil {
			return err
		}
	}
	return nil
}

// putEnd writes both rows of a counter with an end.
func putEnd(put func(bucket, key, value []byte) error, key []byte, amount int64, end []byte) error {
	if err := put(bucketHolds, key, counterOf(amount, end)); err != nil {
		return err
	}
	return put(bucketHoldEnds, slices.Concat(end, key), nil)
}

// sweepCounters removes at most limit counters whose time was over before the given one, and returns
// how many.
func (x *txn) sweepCounters(before time.Time, limit int) (int, error) {
	var rows [][]byte
	c := x.tx.Bucket(bucketHoldEnds).Cursor()
	for k, _ := c.First(); k != nil && len(rows) < limit && bytes.Compare(k, endOf(before)) < 0; k, _ = c.Next() {
		rows = append(rows, bytes.Clone(k))
	}
	for _, row := range rows {
		if len(row) < counterWord {
			return 0, errRecord
		}
		if err := x.del(bucketHolds, row[counterWord:]); err != nil {
			return 0, err
		}
		if err := x.del(bucketHoldEnds, row); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// endCounters is the step to schema 2, before which no counter had an end: those of budgets end with
// the period that their scope names.
func endCounters(tx *bolt.Tx, from []byte, rows int) ([]byte, error) {
	if _, err := tx.CreateBucketIfNotExists(bucketHoldEnds); err != nil {
		return nil, err
	}
	holds := tx.Bucket(bucketHolds)
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
	put := func(bucket, key, value []byte) error { return tx.Bucket(bucket).Put(key, value) }
	for key, end := range ends {
		if err := putEnd(put, []byte(key), counter(holds.Get([]byte(key))).amount(), end); err != nil {
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
