package boltstore

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
)

// rows are changes of the tree that it doesn't have yet, by bucket and key; nil is a row that is gone. Their values
// are never changed.
type rows [bucketCount]map[string][]byte

func (r *rows) get(b bucket, key []byte) (value []byte, known bool) {
	value, known = r[b][string(key)]
	return value, known
}

func (r *rows) set(b bucket, key string, value []byte) {
	if r[b] == nil {
		r[b] = map[string][]byte{}
	}
	r[b][key] = value
}

func (r *rows) clear() {
	for _, m := range r {
		clear(m)
	}
}

// rowWeight is a row's memory beside its bytes: in the log, in a page and in memory.
const rowWeight = 64

// weight estimates the bytes that a row takes.
func weight(key, value int) int64 { return int64(key + value + rowWeight) }

// table is the rows in the log that aren't in the tree yet: the rows of many groups, each the newest.
type table struct {
	rows
	values
	bytes  int64    // an estimate
	last   uint64   // the number of the newest group
	sorted []change // room for apply
}

func (t *table) none() bool { return t.last == 0 }

// add takes the rows of a group in.
func (t *table) add(group *rows, last uint64) {
	for b, changed := range group {
		if len(changed) > 0 && t.rows[b] == nil {
			t.rows[b] = map[string][]byte{}
		}
		had := t.rows[b]
		for key, value := range changed {
			if old, known := had[key]; known {
				t.bytes -= weight(len(key), len(old))
			}
			t.bytes += weight(len(key), len(value))
			had[key] = value
		}
	}
	t.last = last
}

// empty forgets the rows, which have no reader any more, and keeps their memory.
func (t *table) empty() {
	t.clear()
	t.values.empty()
	t.bytes, t.last = 0, 0
}

// change is a row as the tree is to have it.
type change struct {
	bucket
	key   string
	value []byte // nil: gone
}

// changes returns the rows, each bucket's in the order of their keys, in the memory of room.
func (r *rows) changes(room []change) []change {
	n := 0
	for _, changed := range r {
		n += len(changed)
	}
	all := slices.Grow(room[:0], n)
	for b, changed := range r {
		first := len(all)
		for key, value := range changed {
			all = append(all, change{bucket(b), key, value})
		}
		slices.SortFunc(all[first:], func(a, b change) int { return strings.Compare(a.key, b.key) })
	}
	return all
}

// apply brings the table into the tree. One commit is enough if there is room for all the pages that it rewrites;
// else many small ones get by with those that the ones before made free, and a row that has no place yet comes last.
// A crash between them does no harm: the log has the rows until the last.
func (t *table) apply(b *bolt.DB) error {
	t.sorted = t.changes(t.sorted)
	defer clear(t.sorted)
	rest := t.sorted
	for part := len(rest); ; {
		var aside []change
		for at := 0; at < len(rest); {
			next := rest[at:min(at+part, len(rest))]
			last := at+len(next) == len(rest) && len(aside) == 0
			err := update(b, func(tx *bolt.Tx) error {
				if err := applyChanges(tx, next); err != nil || !last {
					return err
				}
				return putLogged(tx, t.last)
			})
			switch {
			case err == nil && last:
				return nil
			case err == nil:
				at += len(next)
			case !errors.Is(err, store.ErrFull):
				return err
			case len(next) > 1:
				part = (len(next) + 3) / 4
			default:
				aside = append(aside, next...)
				at++
			}
		}
		if len(aside) == len(rest) {
			return store.ErrFull
		}
		rest = aside
	}
}

// applyChanges makes the changes, those of a bucket together. Most rows that are to go never came: they
// began and ended between two flushes, and stand beyond the last row that there was.
func applyChanges(tx *bolt.Tx, changes []change) error {
	var in *bolt.Bucket
	var last string
	var key []byte // the tree copies it
	for i, c := range changes {
		if i == 0 || c.bucket != changes[i-1].bucket {
			in = c.of(tx)
			in.FillPercent = fill
			k, _ := in.Cursor().Last()
			last = string(k)
		}
		key = append(key[:0], c.key...)
		var err error
		switch {
		case c.value != nil:
			err = in.Put(key, c.value)
		case c.key <= last:
			err = in.Delete(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// update runs a transaction of the tree and commits it, as commitTx does.
func update(b *bolt.DB, run func(*bolt.Tx) error) error {
	tx, err := b.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if err := run(tx); err != nil {
		return err
	}
	return commitTx(b, tx)
}

// append writes the rows as the log keeps them: for each its bucket, whose highest bit says that the row
// is gone, its key and its value, each after its length.
func (r *rows) append(b []byte) []byte {
	for n, changed := range r {
		for key, value := range changed {
			if value == nil {
				b = append(b, byte(n)|goneBit)
				b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
				continue
			}
			b = append(b, byte(n))
			b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
			b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
		}
	}
	return b
}

const goneBit = 0x80

var errRows = errors.New("boltstore: a group of the log can't be read")

// parse adds the rows that append wrote. The rows share b's memory.
func (r *rows) parse(b []byte) error {
	take := func() ([]byte, bool) {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, false
		}
		part := b[size : size+int(n) : size+int(n)]
		b = b[size+int(n):]
		return part, true
	}
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		in := bucket(kind &^ goneBit)
		key, ok := take()
		if !ok || in >= bucketCount || len(key) == 0 {
			return errRows
		}
		if kind&goneBit != 0 {
			r.set(in, string(key), nil)
			continue
		}
		value, ok := take()
		if !ok {
			return errRows
		}
		r.set(in, string(key), value)
	}
	return nil
}
