package idem

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A run is the lowest and the highest row in it, how many pairs it has, a filter and the pairs of digest and row,
// sorted. A miss, which almost every search of a run is, costs one look into the filter.
const (
	runRows   = 2 * len(Row{})
	runHead   = runRows + 8
	blockSize = 64 // bytes of the filter that one digest's bits are in: one line of the cache
	perBlock  = 64 // digests of a block: a byte each
	bitCount  = 5  // set for each digest; about one miss in forty goes on to the pairs
)

// BeforePairs is how many bytes of a run of RunLength pairs stand before the pairs: its filter is all that a start reads.
const BeforePairs = int64(runHead + RunLength/perBlock*blockSize)

// Run is the encoded form, searched in place.
type Run []byte

// Encode returns the run of the pairs.
func Encode(rows map[Digest]Row) Run {
	pairs := make([][PairSize]byte, 0, len(rows))
	for d, row := range rows {
		var p [PairSize]byte
		copy(p[copy(p[:], d[:]):], row[:])
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b [PairSize]byte) int { return bytes.Compare(a[:], b[:]) })
	blocks := (len(pairs) + perBlock - 1) / perBlock
	r := make(Run, runHead+blocks*blockSize, runHead+blocks*blockSize+len(pairs)*PairSize)
	binary.BigEndian.PutUint64(r[runRows:], uint64(len(pairs)))
	filter := r[runHead:]
	for i, p := range pairs {
		d, row := Digest(p[:]), p[len(Digest{}):]
		if i == 0 || bytes.Compare(row, r[:len(Row{})]) < 0 {
			copy(r, row)
		}
		if bytes.Compare(row, r[len(Row{}):runRows]) > 0 {
			copy(r[len(Row{}):], row)
		}
		block := filter[spread(d, blocks)*blockSize:]
		for bit := range filterBits(d) {
			block[bit/8] |= 1 << (bit % 8)
		}
	}
	for _, p := range pairs {
		r = append(r, p[:]...)
	}
	return r
}

// Bounds returns the lowest and the highest row; false for a run of another form.
func (r Run) Bounds() (low, high []byte, ok bool) {
	_, _, ok = r.parts()
	if !ok {
		return nil, nil, false
	}
	return r[:len(Row{})], r[len(Row{}):runRows], true
}

// parts returns the filter and the pairs; false for a run of another form.
func (r Run) parts() (filter, pairs []byte, ok bool) {
	if len(r) < runHead {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint64(r[runRows:])
	if n > uint64(len(r)) {
		return nil, nil, false
	}
	size := (int(n) + perBlock - 1) / perBlock * blockSize
	if len(r) != runHead+size+int(n)*PairSize {
		return nil, nil, false
	}
	return r[runHead:][:size], r[runHead+size:], true
}

// Valid reports whether it is a run. An empty one was dropped.
func (r Run) Valid() bool {
	_, _, ok := r.parts()
	return ok || len(r) == 0
}

// Pairs returns the pairs, PairSize bytes each, sorted by digest; false for a run of another form.
func (r Run) Pairs() ([]byte, bool) {
	_, pairs, ok := r.parts()
	return pairs, ok
}

// Search returns the digest's row; false if the run hasn't the digest.
func (r Run) Search(d Digest) (Row, bool) {
	filter, pairs, ok := r.parts()
	if !ok || len(pairs) == 0 || !mayHold(filter, d) {
		return Row{}, false
	}
	// Digests are evenly spread, so the search starts at its expected place and widens from there: two or three pages
	// of the file instead of fifteen.
	n := len(pairs) / PairSize
	before := func(i int) bool { return bytes.Compare(pairs[i*PairSize:][:len(d)], d[:]) < 0 }
	low := spread(d, n)
	high := low // the answer is in [low, high]
	for step := 16; low > 0 && !before(low-1); step *= 2 {
		low = max(low-step, 0)
	}
	for step := 16; high < n && before(high); step *= 2 {
		high = min(high+step, n)
	}
	for low < high {
		if mid := (low + high) / 2; before(mid) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == n || Digest(pairs[low*PairSize:]) != d {
		return Row{}, false
	}
	return Row(pairs[low*PairSize+len(d):]), true
}

func mayHold(filter []byte, d Digest) bool {
	block := filter[spread(d, len(filter)/blockSize)*blockSize:]
	set := byte(1)
	for bit := range filterBits(d) { // all of them: half are set, and a wrong guess costs more than a look
		set &= block[bit/8] >> (bit % 8)
	}
	return set != 0
}

// spread returns the place among n that the digest's first half gives it, in the order of digests.
func spread(d Digest, n int) int {
	at, _ := bits.Mul64(binary.BigEndian.Uint64(d[:]), uint64(n))
	return int(at)
}

// filterBits yields the bits within a block, from the digest's second half.
func filterBits(d Digest) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		half := binary.BigEndian.Uint64(d[8:])
		for range bitCount {
			if !yield(half % (blockSize * 8)) {
				return
			}
			half /= blockSize * 8
		}
	}
}
