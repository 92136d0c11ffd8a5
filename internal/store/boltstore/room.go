package boltstore

import "math"

// Work that was accepted must be able to end on a full disk, so new work is refused while some room
// is left: an eighth of the file's limit or of the disk, at most maxReserve.
const maxReserve = 32 << 20

// treeGrowth is by how much the tree may grow for a byte of rows: new pages are partly empty.
const treeGrowth = 2

// room reports whether new work may come in.
func (x *txn) room() bool {
	return x.hasRoom() || (x.makeRoom() == nil && x.hasRoom())
}

func (x *txn) hasRoom() bool {
	left := x.left()
	return left > x.reserve
}

// makeRoom lets the tree take the log's rows, which may free pages.
func (x *txn) makeRoom() error {
	x.close() // a tree that grows may have to wait for its readers
	x.looked = false
	x.db.fresh.shared = true
	if x.db.old != nil {
		x.db.old.shared = true
	}
	return x.db.flushAll()
}

// nearlyFull reports whether the tree might not have room for the group one day, and all that it is to take
// before, by growing alone: free pages may lie too scattered for a large record.
func (x *txn) nearlyFull() bool {
	x.look()
	return x.grows-treeGrowth*x.bytes <= x.reserve || x.db.wal.Full() // over while it can't take the log's rows
}

// left returns the bytes that can probably be written: the bytes that the file may grow by, and a quarter of its free
// pages; less the rows that the tree is still to take.
func (x *txn) left() int64 {
	x.look()
	return x.grows + x.free/4
}

// full reports whether new work finds no room after the tree has taken the log's rows. Any goroutine may ask.
func (db *DB) full() bool {
	s := db.bolt.Stats()
	unused := int64(s.FreePageN+s.PendingPageN) * int64(db.bolt.Info().PageSize)
	free, reserve := db.space()
	return db.growth(db.treeSize.Load(), free)+unused/4 <= reserve
}

// look finds out how much room there is, once a group.
func (x *txn) look() {
	if x.looked {
		return
	}
	db := x.db
	s := db.bolt.Stats()
	x.looked = true
	x.free = int64(s.FreePageN+s.PendingPageN) * int64(db.bolt.Info().PageSize)
	var free int64
	free, x.reserve = db.space()
	x.grows = db.growth(db.treeSize.Load(), free) - treeGrowth*db.pending()
}

// growth returns by how many bytes a file of the given size may grow on a disk with so many free.
func (db *DB) growth(size, free int64) int64 {
	if db.limit > 0 {
		free = min(free, max(0, db.limit-int64(db.bolt.AllocSize)-size))
	}
	return free
}

func (db *DB) reserve() int64 {
	_, reserve := db.space()
	return reserve
}

// space returns the free bytes of the disk, and how many bytes are kept back.
func (db *DB) space() (free, reserve int64) {
	free, reserve = math.MaxInt64/2, maxReserve
	if db.limit > 0 {
		reserve = min(reserve, db.limit/8)
	}
	if unused, total, ok := diskSpace(db.path); ok {
		free, reserve = unused, min(reserve, total/8)
	}
	return free, reserve
}
