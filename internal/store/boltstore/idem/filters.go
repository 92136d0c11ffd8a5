package idem

import (
	"bytes"
	"slices"
)

// filters say which runs may hold a digest: those of every run, and perhaps of some that were dropped, the newest last.
type filters []filter

// filter is a run's, beside the run's key.
type filter struct{ key, bits []byte }

func (f *filters) remove(key []byte) {
	*f = slices.DeleteFunc(*f, func(one filter) bool { return bytes.Equal(one.key, key) })
}

// runs returns the keys of the runs that may hold a digest, the newest first.
func (f filters) runs(d Digest) (keys [][]byte) {
	for _, one := range slices.Backward(f) {
		if mayHold(one.bits, d) {
			keys = append(keys, one.key)
		}
	}
	return keys
}
