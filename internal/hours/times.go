package hours

import (
	"math"
	"math/bits"
	"time"
)

// buckets is how many durations a row tells apart: each millisecond below 16, and eight in each doubling after that, up
// to three days. A bucket is an eighth of its lower bound wide, or less.
const buckets = 208

// bucketOf returns the bucket of a duration.
func bucketOf(d time.Duration) int {
	ms := uint64(max(d.Milliseconds(), 0))
	if ms < 8 {
		return int(ms)
	}
	shift := bits.Len64(ms) - 4
	return min(shift*8+int(ms>>shift), buckets-1)
}

// bounds returns the durations of a bucket: from low, and below high.
func bounds(bucket int) (low, high time.Duration) {
	if bucket < 16 {
		return time.Duration(bucket) * time.Millisecond, time.Duration(bucket+1) * time.Millisecond
	}
	shift := bucket/8 - 1
	step := time.Millisecond << shift
	low = time.Duration(bucket-shift*8) * step
	return low, low + step
}

// Times counts durations.
type Times [buckets]int64

// Add adds the counts of others.
func (t *Times) Add(by *Times) {
	for i, n := range by {
		t[i] += n
	}
}

// Count returns how many durations there are.
func (t *Times) Count() (all int64) {
	for _, n := range t {
		all += n
	}
	return all
}

// Quantile returns the duration that the part p, above 0 and at most 1, of all durations doesn't exceed, by the nearest
// rank. It is within an eighth, and within a millisecond below 16 ms. false: there are no durations.
func (t *Times) Quantile(p float64) (time.Duration, bool) {
	all := t.Count()
	if all == 0 {
		return 0, false
	}
	rank := max(int64(math.Ceil(p*float64(all))), 1)
	for i, n := range t {
		if rank > n {
			rank -= n
			continue
		}
		low, high := bounds(i)
		return low + time.Duration(float64(high-low)*(float64(rank)-0.5)/float64(n)), true
	}
	return 0, false // not reached: the ranks add up
}
