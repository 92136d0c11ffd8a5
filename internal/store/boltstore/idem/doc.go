// Package idem is the index from idempotency digests to rows, as far as it is in memory, and the runs that it becomes.
//
// Digests come in random order, and a tree that takes them so rewrites a page for each. They go to a log instead, whose
// pairs are also here; once it holds enough of them they become a sorted run, which is one value and is searched in
// place in the file. The runs' filters are here too, a byte a digest: that a digest is new, which it nearly always is,
// costs no transaction.
//
// One goroutine, the store's committer, changes an Index; any number may ask it meanwhile. The package reads and writes
// no file: its owner keeps the rows of the log and the runs.
package idem
