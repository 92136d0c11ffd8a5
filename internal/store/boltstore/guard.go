package boltstore

import (
	"fmt"
	"runtime/debug"
)

// guarded calls read, which reads the mapped file. bbolt trusts its pages and has no sums of them: a
// damaged one ends in a panic, and one beyond the end of the file in a fault. Both become a *DamagedError.
func guarded(path string, read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catch(path, &err)
	return read()
}

// catch is deferred by functions that read pages: it turns a panic into an error.
func catch(path string, err *error) {
	if p := recover(); p != nil {
		*err = &DamagedError{Path: path, Problem: fmt.Sprintf("reading it broke off: %v", p)}
	}
}
