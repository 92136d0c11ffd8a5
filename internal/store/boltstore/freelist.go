package boltstore

// Up to how many free pages their list is written with a commit, at 8 bytes each: beside the hundreds of
// pages of a flush, which comes once a second or every few megabytes, and with a group of its own, of
// which there may be hundreds a second.
const (
	flushFreelist = 32 << 10
	groupFreelist = 1 << 10
)

// keepFreelist decides whether the next commit writes the list of free pages: where it has no more than
// most. A start that finds it needn't read the whole tree, not even after a crash, which takes a
// million tasks half a minute where the disk has to be read. Merging the idempotency log's runs frees thousands of pages at
// once. A long reader makes the list grow with every commit, though, and writing it each time would make
// the file explode, so that a long one is left to Close.
func (db *DB) keepFreelist(most int) {
	s := db.bolt.Stats()
	db.bolt.NoFreelistSync = s.FreePageN+s.PendingPageN > most
}
