// Package clockstep sets the wall clock of a time as a step of the system's clock does: the monotonic reading stays.
// It is for tests of a step's effects; the standard library can't bring it about.
package clockstep

import (
	"time"
	"unsafe"
)

// The layout of a time.Time that has a monotonic reading: a flag, 33 bits of seconds, 30 of nanoseconds.
const (
	hasMonotonic = 1 << 63
	nsecShift    = 30
)

// By returns t with its wall clock off by d, to the second. It panics if t has no monotonic reading.
func By(t time.Time, d time.Duration) time.Time {
	wall := (*uint64)(unsafe.Pointer(&t)) // the first word of a time.Time, which TestBy holds it to
	if *wall&hasMonotonic == 0 {
		panic("clockstep: a time without a monotonic reading")
	}
	*wall += uint64(int64(d/time.Second)) << nsecShift
	return t
}
