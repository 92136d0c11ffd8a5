package boltstore

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// reader reads the store as it stands: the rows that the tree doesn't have yet before the tree itself. The layers are
// fixed when it is made and the tree is opened later, so that no row can be missed between them.
type reader struct {
	layers [3]*rows    // newest first; nil without one
	mu     sync.Locker // guards the layers; nil for the committer, which alone changes them
	held   [2]*table   // whose values may be in use; empty for the committer
	bolt   *bolt.DB
	opened *bolt.Tx
	err    error // of opening the tree: later reads are void
}

// tree returns a read transaction; nil if it can't be had.
func (r *reader) tree() *bolt.Tx {
	if r.opened == nil && r.err == nil {
		r.opened, r.err = r.bolt.Begin(false)
	}
	return r.opened
}

// hold keeps the tables' values from being written over until the reader is closed. The second may be nil.
func (r *reader) hold(fresh, old *table) {
	r.held = [2]*table{fresh, old}
	fresh.readers.Add(1)
	if old != nil {
		old.readers.Add(1)
	}
}

func (r *reader) close() {
	for i, t := range r.held {
		if t != nil {
			t.readers.Add(-1)
			r.held[i] = nil
		}
	}
	if r.opened != nil {
		_ = r.opened.Rollback() // of a read transaction: it was open
		r.opened = nil
	}
}

// get returns a row's value, nil without one. It is valid until the reader is closed.
func (r *reader) get(b bucket, key []byte) []byte {
	if value, known := r.pending(b, key); known {
		return value
	}
	if tx := r.tree(); tx != nil {
		if in := b.of(tx); in != nil { // an older store that is looked at has fewer
			return in.Get(key)
		}
	}
	return nil
}

func (r *reader) pending(b bucket, key []byte) (value []byte, known bool) {
	if r.mu != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	return r.layered(b, key)
}

func (r *reader) layered(b bucket, key []byte) (value []byte, known bool) {
	for _, layer := range r.layers {
		if layer == nil {
			continue
		}
		if value, known = layer.get(b, key); known {
			return value, true
		}
	}
	return nil, false
}

// getSome returns the values of several rows as get does. The layers are locked once for all of them: a reader
// that has to wait beside busy writers waits long.
func (r *reader) getSome(b bucket, keys []rowID) [][]byte {
	values, known := r.pendingSome(b, keys)
	for i := range keys {
		if known[i] {
			continue
		}
		if tx := r.tree(); tx != nil {
			values[i] = b.of(tx).Get(keys[i][:])
		}
	}
	return values
}

func (r *reader) pendingSome(b bucket, keys []rowID) (values [][]byte, known []bool) {
	values, known = make([][]byte, len(keys)), make([]bool, len(keys))
	if r.mu != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	for i := range keys {
		values[i], known[i] = r.layered(b, keys[i][:])
	}
	return values, known
}

// row is one that the tree doesn't have yet.
type row struct {
	key   string
	value []byte
}

// between returns the pending rows with low ≤ key < high in the order of their keys; nil is no bound.
func (r *reader) between(b bucket, low, high []byte) []row {
	if r.mu != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	var found []row
	for i, layer := range r.layers {
		if layer == nil {
			continue
		}
		for key, value := range layer[b] {
			if key < string(low) || (high != nil && key >= string(high)) || r.hidden(i, b, key) {
				continue
			}
			found = append(found, row{key, value})
		}
	}
	slices.SortFunc(found, func(a, b row) int { return strings.Compare(a.key, b.key) })
	return found
}

// hidden reports whether a newer layer than the given one has the row.
func (r *reader) hidden(layer int, b bucket, key string) bool {
	for _, newer := range r.layers[:layer] {
		if newer == nil {
			continue
		}
		if _, known := newer[b][key]; known {
			return true
		}
	}
	return false
}

// ascend yields the rows with low ≤ key < high in order; nil is no bound. They are valid until the reader is closed.
func (r *reader) ascend(b bucket, low, high []byte) iter.Seq2[[]byte, []byte] {
	return r.scan(b, low, high, false)
}

// descend yields the same rows as ascend, the last one first.
func (r *reader) descend(b bucket, low, high []byte) iter.Seq2[[]byte, []byte] {
	return r.scan(b, low, high, true)
}

func (r *reader) scan(b bucket, low, high []byte, back bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		pending, tx := r.between(b, low, high), r.tree()
		if tx == nil {
			return
		}
		c := span{Cursor: b.of(tx).Cursor(), low: low, high: high, back: back}
		if back {
			slices.Reverse(pending)
		}
		k, v := c.begin()
		for len(pending) > 0 || k != nil {
			order := -1 // which comes first: the pending row, or the tree's
			if len(pending) == 0 {
				order = 1
			} else if k != nil {
				order = c.compare(pending[0].key, string(k))
			}
			if order > 0 {
				if !yield(k, v) {
					return
				}
				k, v = c.next(k)
				continue
			}
			if order == 0 {
				k, v = c.next(k)
			}
			next := pending[0]
			pending = pending[1:]
			if next.value != nil && !yield([]byte(next.key), next.value) {
				return
			}
		}
	}
}

// span goes over the keys of the tree with low ≤ key < high, in order or back.
type span struct {
	*bolt.Cursor
	low, high []byte
	back      bool
}

func (s span) begin() (k, v []byte) {
	switch {
	case !s.back:
		k, v = s.Seek(s.low)
	case s.high == nil:
		k, v = s.Last()
	default:
		if k, _ = s.Seek(s.high); k != nil {
			k, v = s.Prev()
		} else {
			k, v = s.Last()
		}
	}
	return s.within(k, v)
}

// next steps on from the key k. It panics as bbolt does if a page is damaged: keys that don't come in order may have
// no end, for a page may lead back to itself.
func (s span) next(k []byte) (next, v []byte) {
	next, v = s.step()
	if next != nil && s.compare(string(next), string(k)) <= 0 {
		panic("its keys aren't in order")
	}
	return next, v
}

func (s span) step() (k, v []byte) {
	if s.back {
		return s.within(s.Prev())
	}
	return s.within(s.Next())
}

func (s span) within(k, v []byte) ([]byte, []byte) {
	if k == nil || bytes.Compare(k, s.low) < 0 || (s.high != nil && bytes.Compare(k, s.high) >= 0) {
		return nil, nil
	}
	return k, v
}

func (s span) compare(a, b string) int {
	if s.back {
		return strings.Compare(b, a)
	}
	return strings.Compare(a, b)
}
