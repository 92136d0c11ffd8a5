package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// The kinds of rows in `usage`: sums of a caller's usage by key, the same by pairs of metadata, and of a supplier's work.
const (
	kindUsage = 'k'
	kindPairs = 'm'
	kindSpend = 's'
)

const (
	mostNumbers = max(store.UsageNumbers, store.SpendNumbers)
	dateSize    = 4
)

// sums is a row of `usage` within a group: as the file has it, and as the group leaves it. Tasks of one
// key meet in the same row, which is so written once a commit.
type sums struct{ was, now [mostNumbers]int64 }

// count brings the sums of usage along.
func (x *txn) count(before, after *task.Task) {
	store.UsageChanges(before, after, func(c store.UsageChange) {
		by := c.By.Numbers()
		x.key = rowOfUsage(x.key, c.UsageKey)
		x.sum(x.key, by[:])
	})
	store.SpendChanges(before, after, func(c store.SpendChange) {
		by := c.By.Numbers()
		x.key = rowOfSum(x.key, kindSpend, c.Supplier, c.Day, c.Mode, c.Capability, c.Model)
		x.sum(x.key, by[:])
	})
}

// sum adds to a row.
func (x *txn) sum(key []byte, by []int64) {
	s, ok := x.sums[string(key)]
	if !ok {
		s = &sums{was: decodeSums(x.get(bucketUsage, key))}
		s.now = s.was
		x.sums[string(key)] = s
	}
	x.puts++
	store.AddSums(s.now[:], by)
}

// writeSums writes those that the group changed.
func (x *txn) writeSums() error {
	for key, s := range x.sums {
		if s.now == s.was {
			continue
		}
		if err := x.put(bucketUsage, key, encodeSums(s.now[:])); err != nil {
			return err
		}
	}
	return nil
}

// encodeSums writes the numbers after each other, without the zeros at the end.
func encodeSums(n []int64) []byte {
	last := len(n)
	for last > 0 && n[last-1] == 0 {
		last--
	}
	b := append(make([]byte, 0, 3*mostNumbers), formatSums)
	for _, v := range n[:last] {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}

const formatSums = 1

// decodeSums reads a row of encodeSums, as far as it goes; zeros for a row of another form.
func decodeSums(b []byte) (n [mostNumbers]int64) {
	if len(b) == 0 || b[0] != formatSums {
		return n
	}
	b = b[1:]
	for i := range n {
		v, size := binary.Uvarint(b)
		if size <= 0 || int64(v) < 0 {
			break
		}
		n[i], b = int64(v), b[size:]
	}
	return n
}

// rowOfUsage is the key of a row of a caller's usage, in the memory of room.
func rowOfUsage(room []byte, k store.UsageKey) []byte {
	kind, part := byte(kindUsage), k.KeyID
	if k.Pair != "" {
		kind, part = kindPairs, k.Pair
	}
	return rowOfSum(room, kind, k.Account, k.Day, k.Mode, k.Capability, part)
}

// rowOfSum is a row's key, in the memory of room.
func rowOfSum(room []byte, kind byte, owner string, day account.Date, mode task.Mode, capability, part string) []byte {
	b := append(room[:0], kind)
	b = append(append(b, owner...), 0)
	b = binary.BigEndian.AppendUint32(b, uint32(day))
	b = append(append(b, mode...), 0)
	b = append(append(b, capability...), 0)
	return append(b, part...)
}

// usageRow is the key of a row, taken apart.
type usageRow struct {
	owner      string
	day        account.Date
	mode       task.Mode
	capability string
	part       string
}

func (r usageRow) usageKey(kind byte) store.UsageKey {
	k := store.UsageKey{Account: r.owner, Day: r.day, Mode: r.mode, Capability: r.capability}
	if kind == kindPairs {
		k.Pair = r.part
	} else {
		k.KeyID = r.part
	}
	return k
}

func (r usageRow) spendKey() store.SpendKey {
	return store.SpendKey{Supplier: r.owner, Day: r.day, Mode: r.mode, Capability: r.capability, Model: r.part}
}

func parseUsageKey(k []byte) (r usageRow, ok bool) {
	owner, rest, ok := bytes.Cut(k[min(1, len(k)):], []byte{0})
	if !ok || len(rest) < dateSize {
		return r, false
	}
	r.owner, r.day = string(owner), account.Date(binary.BigEndian.Uint32(rest))
	mode, rest, ok := bytes.Cut(rest[dateSize:], []byte{0})
	if !ok {
		return r, false
	}
	capability, part, ok := bytes.Cut(rest, []byte{0})
	r.mode, r.capability, r.part = task.Mode(mode), string(capability), string(part)
	return r, ok
}

// EachUsage implements store.UsageLog.
func (db *DB) EachUsage(ctx context.Context, q store.UsageQuery, visit func(store.UsageKey, store.Usage) bool) error {
	var kinds []byte
	if q.ByKey() {
		kinds = append(kinds, kindUsage)
	}
	if q.ByPair() {
		kinds = append(kinds, kindPairs)
	}
	return db.eachSum(ctx, kinds, q, func(kind byte, r usageRow, n [mostNumbers]int64) bool {
		k := r.usageKey(kind)
		return !q.HoldsPair(k.Pair) || visit(k, store.UsageOf([store.UsageNumbers]int64(n[:])))
	})
}

// EachSpend implements store.UsageLog.
func (db *DB) EachSpend(ctx context.Context, q store.UsageQuery, visit func(store.SpendKey, store.Spend) bool) error {
	return db.eachSum(ctx, []byte{kindSpend}, q, func(_ byte, r usageRow, n [mostNumbers]int64) bool {
		return visit(r.spendKey(), store.SpendOf([store.SpendNumbers]int64(n[:])))
	})
}

// eachSum visits the rows of kinds that the query selects, all as they are at one time.
func (db *DB) eachSum(ctx context.Context, kinds []byte, q store.UsageQuery, visit func(byte, usageRow, [mostNumbers]int64) bool) error {
	return db.view(ctx, func(r *reader) error {
		for _, kind := range kinds {
			if more, err := r.sumsOf(ctx, kind, q, visit); err != nil || !more {
				return err
			}
		}
		return nil
	})
}

// sumsOf is eachSum of one kind; more is false once visit returned that.
func (r *reader) sumsOf(
	ctx context.Context, kind byte, q store.UsageQuery, visit func(byte, usageRow, [mostNumbers]int64) bool,
) (more bool, _ error) {
	low, high := []byte{kind}, []byte{kind + 1}
	if q.Owner != "" {
		low = usageBound(kind, q.Owner, max(q.First, 0))
		high = usageBound(kind, q.Owner, max(q.Last, 0)+1)
	}
	seen := 0
	for k, v := range r.ascend(bucketUsage, low, high) {
		if seen++; seen%1000 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		row, ok := parseUsageKey(k)
		if !ok {
			return false, errRecord
		}
		if q.Holds(row.owner, row.day) && !visit(kind, row, decodeSums(v)) {
			return false, nil
		}
	}
	return true, nil
}

// usageBound is the beginning of an owner's keys from a day on.
func usageBound(kind byte, owner string, day account.Date) []byte {
	return binary.BigEndian.AppendUint32(slices.Concat([]byte{kind}, []byte(owner), []byte{0}), uint32(day))
}

// oldSums returns at most limit sums of days before first, and the row at which the next look begins, nil for
// the first one. It looks at sweepScan rows at most.
func (r *reader) oldSums(from []byte, first account.Date, limit int) (rows []expired, next []byte, _ error) {
	seen := 0
	for k := range r.ascend(bucketUsage, from, nil) {
		if seen++; seen > sweepScan || len(rows) >= limit {
			return rows, bytes.Clone(k), nil
		}
		if row, ok := parseUsageKey(k); ok && row.day < first {
			rows = append(rows, expired{bucket: bucketUsage, key: string(k)})
		}
	}
	return rows, nil, nil
}
