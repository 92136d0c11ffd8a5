package boltstore

import "time"

// The list of free pages, at 8 bytes each, is written with a flush whatever its length, so that a start after a
// crash needn't read the whole tree. It is left out only while a long reader keeps more than flushPending pages:
// each commit then adds those of the list before, and the file would explode. A group that is its own commit, of
// which there may be hundreds a second, writes it while it is short.
const (
	flushPending  = 32 << 10
	groupFreelist = 1 << 10
	listRate      = 1 << 20 // bytes of the list that are written a second while little else is
)

// keepFreelist decides whether the next flush writes the list of free pages. The last commit's own pages count as
// kept until another transaction begins.
func (db *DB) keepFreelist() {
	kept := func() bool { return db.bolt.Stats().PendingPageN > db.pendingMost }
	if kept() {
		if tx, err := db.bolt.Begin(true); err == nil {
			_ = tx.Rollback() // of an empty transaction
		}
	}
	db.bolt.NoFreelistSync = kept()
}

func (db *DB) freePages() int {
	s := db.bolt.Stats()
	return s.FreePageN + s.PendingPageN
}

// flushIn returns how long the log alone may have a change.
func (db *DB) flushIn() time.Duration { return flushInterval(db.flushAfter, db.freePages()) }

// flushInterval is the given one, or longer if the list of so many free pages takes most of a flush.
func flushInterval(after time.Duration, pages int) time.Duration {
	return max(after, time.Duration(pages)*8*time.Second/listRate)
}
