package main

import (
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
)

// parallel does the items in their order, at most n of them at once, and returns their errors by index.
func parallel[T any](n int, items []T, do func(T) error) []error {
	errs := make([]error, len(items))
	var group errgroup.Group
	group.SetLimit(n)
	for i, item := range items {
		group.Go(func() error {
			errs[i] = do(item)
			return nil
		})
	}
	_ = group.Wait() // each error stands at its index
	return errs
}

// partialError is the end of many tasks of which some didn't succeed. Their errors were reported before; the first one's
// error gives the exit code.
type partialError struct {
	failed, all int
	first       error
	hint        string // the next command, "" if each error has its own
}

func (e *partialError) Error() string { return fmt.Sprintf("%d of %d didn't succeed", e.failed, e.all) }

func (e *partialError) Unwrap() error { return e.first }

// several sums up the errors of many tasks; nil if all succeeded.
func several(errs []error) error {
	failed := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(failed) == 0 {
		return nil
	}
	return &partialError{failed: len(failed), all: len(errs), first: failed[0]}
}
