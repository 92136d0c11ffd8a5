package boltstore

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A run is the lowest and the highest row in it, how many pairs it has, a filter and the pairs of digest and row,
// sorted. A miss, which almost every search of a run is, costs one look into the filter.
const (
	runRows   = 2 * rowSize
	runHead   = runRows + 8
	pairSize  = len(digest{}) + rowSize
	blockSize = 64 // bytes of the filter that one digest's bits are in: one line of the cache
	perBlock  = 64 // digests of a block: a byte each
	bitCount  = 5  // set for each digest; about one miss in forty goes on to the pairs
)

// run is the encoded form, searched in place.
type run []byte

func encodeRun(rows map[digest]rowID) run {
	pairs := make([][pairSize]byte, 0, len(rows))
	for d, row := range rows {
		var p [pairSize]byte
		copy(p[copy(p[:], d[:]):], row[:])
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b [pairSize]byte) int { return bytes.Compare(a[:], b[:]) })
	blocks := (len(pairs) + perBlock - 1) / perBlock
	r := make(run, runHead+blocks*blockSize, runHead+blocks*blockSize+len(pairs)*pairSize)
	binary.BigEndian.PutUint64(r[runRows:], uint64(len(pairs)))
	filter := r[runHead:]
	for i, p := range pairs {
		d, row := digest(p[:]), p[len(digest{}):]
		if i == 0 || bytes.Compare(row, r[:rowSize]) < 0 {
			copy(r, row)
		}
		if bytes.Compare(row, r[rowSize:runRows]) > 0 {
			copy(r[rowSize:], row)
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

// bounds returns the lowest and the highest row; false for a run of another form.
func (r run) bounds() (low, high []byte, ok bool) {
	_, _, ok = r.parts()
	if !ok {
		return nil, nil, false
	}
	return r[:rowSize], r[rowSize:runRows], true
}

// parts returns the filter and the pairs; false for a run of another form.
func (r run) parts() (filter, pairs []byte, ok bool) {
	if len(r) < runHead {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint64(r[runRows:])
	if n > uint64(len(r)) {
		return nil, nil, false
	}
	size := (int(n) + perBlock - 1) / perBlock * blockSize
	if len(r) != runHead+size+int(n)*pairSize {
		return nil, nil, false
	}
	return r[runHead:][:size], r[runHead+size:], true
}

// check returns an error about a run of another form. It stays in its place until a start or a repair finds its keys'
// tasks again: without it a task under one of them would be made and paid for again.
func (r run) check(key []byte) error {
	if _, _, ok := r.parts(); ok || len(r) == 0 {
		return nil
	}
	return unreadable(bucketIdemRuns, key, nil, errRecord)
}

// search returns the digest's row.
func (r run) search(d digest) (rowID, bool) {
	filter, pairs, ok := r.parts()
	if !ok || len(pairs) == 0 || !mayHold(filter, d) {
		return rowID{}, false
	}
	// Digests are evenly spread, so the search starts at its expected place and widens from there: two or three pages
	// of the file instead of fifteen.
	n := len(pairs) / pairSize
	before := func(i int) bool { return bytes.Compare(pairs[i*pairSize:][:len(d)], d[:]) < 0 }
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
	if low == n || digest(pairs[low*pairSize:]) != d {
		return rowID{}, false
	}
	return rowID(pairs[low*pairSize+len(d):]), true
}

func mayHold(filter []byte, d digest) bool {
	block := filter[spread(d, len(filter)/blockSize)*blockSize:]
	set := byte(1)
	for bit := range filterBits(d) { // all of them: half are set, and a wrong guess costs more than a look
		set &= block[bit/8] >> (bit % 8)
	}
	return set != 0
}

// spread returns the place among n that the digest's first half gives it, in the order of digests.
func spread(d digest, n int) int {
	at, _ := bits.Mul64(binary.BigEndian.Uint64(d[:]), uint64(n))
	return int(at)
}

// filterBits yields the bits within a block, from the digest's second half.
func filterBits(d digest) func(yield func(uint64) bool) {
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
