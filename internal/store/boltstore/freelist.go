package boltstore

// shortFreelist is up to how many free pages their list is written with each commit: two pages or three
// beside the hundreds that a flush writes.
const shortFreelist = 1024

// keepFreelist decides whether the next commit writes the list of free pages. A start that finds it
// needn't read the whole tree, not even after a crash. A long reader makes the list grow with every
// commit, though, and writing it each time would make the file explode, so that a long one is left to
// Close.
func (db *DB) keepFreelist() {
	s := db.bolt.Stats()
	db.bolt.NoFreelistSync = s.FreePageN+s.PendingPageN > shortFreelist
}
