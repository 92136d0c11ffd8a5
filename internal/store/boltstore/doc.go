// Package boltstore is the storage engine for one node: tasks, usage, accounts, keys and secrets in one
// bbolt file and its log.
//
// The file lock is the node's claim on the data; leases live in memory and a restart voids them. One
// goroutine, the committer, owns every index in memory and every change: it takes all operations that
// wait into one group, so that many callers share one fsync, and answers them after that. An operation
// that fails is taken out and the others are kept. A write that failed, and not merely for want of room,
// ends the process without an answer, for it may be found there after all.
//
// A group is kept once it stands in the write-ahead log, two files beside bbolt's (see package wal). Its rows are held in memory too,
// before the tree, which takes those of many groups in one transaction and then says in "logged" how far it has them;
// a start brings the missing rows into the tree. A row of the log is a row of the tree, whole: bringing it twice is
// bringing it once. The tree knows whether a log belongs to it and how long its files are, and each of them which
// group the other one has: a start refuses a log that was lost or cut.
//
// The buckets, two levels deep at most:
//
//	meta              "schema", "session" → 8 bytes, big endian; "store" → its identity;
//	                  "migration" → a place in the old rows; "logged", "log0", "log1" → 8 bytes and their
//	                  sum: the newest group that the tree has, and how long the log's files are; "copy" →
//	                  JSON as in accounts: a copy into this store is under way, and how far it has come; "copied" →
//	                  the same of a finished one, with what it has
//	tasks             task → record
//	open              task → what the queue needs to know; tasks that aren't terminal
//	by_scope          scope, task → capability
//	idem_log          sequence → idempotency, task, those of one group; the newest, held in memory too
//	idem_runs         sequence → a filter, and sorted idempotency, task; some ten thousand a run
//	holds             kind, 0, counter's scope → amount; when its time is over, where it ever is
//	hold_ends         when a counter's time is over, its key in holds → nothing
//	accounts          account's id → a sum and JSON, as in keys, links and sessions
//	accounts_by_name  name → account's id
//	keys              key's id → JSON
//	keys_by_hash      SHA-256 of the key → key's id
//	keys_used         key's id → when it was last used
//	links             SHA-256 of a link's token → JSON
//	sessions          SHA-256 of a session's token → JSON
//	usage             "k" or "m" and account, or "s" and supplier, 0, day, mode, capability, 0, key's id, pair of metadata or model → sums
//	secrets           name → random bytes; "pause/" and a supplier → JSON
//	quarantine        bucket's number, key → a row that can't be read, as it was found
//	endpoints         endpoint's id → JSON, as in accounts
//	deliveries        endpoint's id, 0, event → JSON, as in accounts; 7 days long
//	waiting           as in deliveries → whether it is leased, and when it is due; held in memory too
//
// A task is known by the 16 bytes that its id encodes, which sort by time; a scope and an idempotency
// hash by the first 16 bytes of a SHA-256. No bucket on the way of a task takes keys in random order.
package boltstore
