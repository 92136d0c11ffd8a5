package idem

import (
	"bytes"
	"slices"
	"sync/atomic"
)

// filters say which runs may hold a digest. Whoever creates a task asks twice, before and within its commit, so
// that answers are kept for a short time. Any number may ask at a time, but not while one adds or removes.
type filters struct {
	all     []filter // of every run, and perhaps of some that were dropped, the newest last
	changes uint64
	recent  [filterAnswers]atomic.Pointer[filterAnswer]
}

const filterAnswers = 256

// filter is a run's, beside the run's key.
type filter struct{ key, bits []byte }

// filterAnswer is a digest's answer, as long as the filters are those it came from.
type filterAnswer struct {
	of      Digest
	changes uint64
	runs    [][]byte
}

func (f *filters) add(one filter) {
	f.all = append(f.all, one)
	f.changes++
}

func (f *filters) remove(key []byte) {
	f.all = slices.DeleteFunc(f.all, func(one filter) bool { return bytes.Equal(one.key, key) })
	f.changes++
}

// runs returns the keys of the runs that may hold a digest, the newest first.
func (f *filters) runs(d Digest) [][]byte {
	if len(f.all) == 0 {
		return nil
	}
	place := &f.recent[int(d[len(d)-1])%filterAnswers]
	if known := place.Load(); known != nil && known.of == d && known.changes == f.changes {
		return known.runs
	}
	answer := filterAnswer{of: d, changes: f.changes}
	for _, one := range slices.Backward(f.all) {
		if mayHold(one.bits, d) {
			answer.runs = append(answer.runs, one.key)
		}
	}
	place.Store(&answer)
	return answer.runs
}
