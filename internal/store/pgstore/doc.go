// Package pgstore is the storage contract over PostgreSQL, for one node or many on the same database.
//
// A task that isn't terminal is a row of open_tasks with its record and its lease; its end moves it to ended_tasks, a
// partitioned table that takes insertions and is dropped by partitions. Counters of holds, of open attempts and of
// places are sums of rows, one for each shard, so that nodes don't wait for each other's commits: see counters.go.
//
// The operations of a node's callers share transactions of two round trips: one locks and reads all rows that the
// group needs, the functions of package store decide in memory, and one writes and commits. The database's clock alone
// tells the time. An operation whose commit lost its answer is store.ErrUnknown; its repetition finds out.
//
// Isolation is READ COMMITTED with locks that are taken in one order: advisory locks by their number, then rows by
// their id. Schema changes are in migrate.go.
package pgstore
