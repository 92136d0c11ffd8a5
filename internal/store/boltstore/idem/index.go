package idem

import (
	"bytes"
	"maps"
	"slices"
	"sync"
)

// Digest names a scope and an idempotency hash within it: the first half of a SHA-256. Row is a task's.
type (
	Digest = [16]byte
	Row    = [16]byte
)

// RunLength is how many pairs make a run.
const RunLength = 1 << 15

// Index is the index. The zero Index holds no pair.
type Index struct {
	Limit int // pairs that make a run

	mu      sync.RWMutex
	pairs   map[Digest]Row // of the log
	moving  map[Digest]Row // on their way into a run
	newest  uint64         // number of the log's newest row
	filters filters

	run Run // made of moving; the flush's own until the committer knows its end
	key []byte
}

// Found is where a digest may lead.
type Found struct {
	Row    Row
	Logged bool     // the log leads to Row
	Runs   [][]byte // keys of the runs that may hold the digest, the newest first
}

// None reports that the digest leads to no row.
func (f Found) None() bool { return !f.Logged && len(f.Runs) == 0 }

// Find looks a digest up. Readers look into the log before the runs, so that what has left the one is in the other by
// then.
func (x *Index) Find(d Digest) (f Found) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if f.Row, f.Logged = x.pairs[d]; !f.Logged {
		f.Row, f.Logged = x.moving[d]
	}
	f.Runs = x.filters.runs(d)
	return f
}

// Add adds pairs that the log has.
func (x *Index) Add(pairs map[Digest]Row) {
	if len(pairs) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pairs == nil {
		x.pairs = map[Digest]Row{}
	}
	maps.Copy(x.pairs, pairs)
}

// Pairs returns the pairs of the log. Only the committer may ask, and the map isn't to be changed.
func (x *Index) Pairs() map[Digest]Row { return x.pairs }

// Full reports whether the log is due to become a run. Only the committer asks.
func (x *Index) Full() bool { return len(x.pairs) >= x.Limit }

// NextNumber returns the number of the log's next row. Only the committer asks.
func (x *Index) NextNumber() uint64 {
	x.newest++
	return x.newest
}

// AddRow adds the pairs of a row of the log at a start; false if the row was damaged.
func (x *Index) AddRow(number uint64, row []byte) bool {
	pairs, ok := parsePairs(row)
	if !ok {
		return false
	}
	if x.pairs == nil {
		x.pairs = map[Digest]Row{}
	}
	for pair := range slices.Chunk(pairs, PairSize) {
		x.pairs[Digest(pair)] = Row(pair[len(Digest{}):])
	}
	x.newest = max(x.newest, number)
	return true
}

// BeginRun makes the log a run if it is due: from now on pairs go to a new one. The committer calls it at the end of a
// table, so that the tree has exactly the rows of the log up to it.
func (x *Index) BeginRun() {
	if !x.Full() {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.moving, x.pairs = x.pairs, map[Digest]Row{}
}

// Moving reports whether a run is on its way.
func (x *Index) Moving() bool { return len(x.moving) > 0 }

// MakeRun makes the run that is on its way, which will have the key.
func (x *Index) MakeRun(key []byte) Run {
	x.run, x.key = Encode(x.moving), key
	return x.run
}

// EndRun notes whether the tree has the run; if not, its pairs belong to the log as before.
func (x *Index) EndRun(ran bool) {
	if len(x.moving) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if ran {
		x.AddRun(x.key, x.run)
	} else {
		maps.Copy(x.moving, x.pairs)
		x.pairs = x.moving
	}
	x.moving, x.run, x.key = nil, nil, nil
}

// AddRun adds the filter of a run, at a start; false for a run of another form.
func (x *Index) AddRun(key []byte, r Run) bool {
	bits, _, ok := r.parts()
	if ok && len(bits) > 0 {
		x.filters = append(x.filters, filter{bytes.Clone(key), bytes.Clone(bits)})
	}
	return ok
}

// DropRun forgets the filter of a run that is gone.
func (x *Index) DropRun(key []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.filters.remove(key)
}

// Runs returns the keys of all runs.
func (x *Index) Runs() (keys []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, one := range x.filters {
		keys = append(keys, string(one.key))
	}
	return keys
}
