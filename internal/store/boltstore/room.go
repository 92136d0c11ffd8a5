package boltstore

import "math"

// Work that was accepted must be able to end on a full disk, so new work is refused while some room
// is left: an eighth of the file's limit or of the disk, at most maxReserve.
const maxReserve = 32 << 20

// treeGrowth is by how much the tree may grow for a byte of rows: new pages are partly empty.
const treeGrowth = 2

// room reports whether new work may come in.
func (x *txn) room() bool {
	return x.left() > x.db.reserve() || (x.makeRoom() == nil && x.left() > x.db.reserve())
}

// makeRoom lets the tree take what there is, which may be what makes pages free.
func (x *txn) makeRoom() error {
	x.close() // a tree that grows may have to wait for its readers
	x.spaceKnown = false
	return x.db.flushAll()
}

// left returns the bytes that can surely be written, looked up once a group: what the file may grow by,
// and of the free pages a quarter, for they may lie too scattered for a large record; less what the tree
// is still to take.
func (x *txn) left() int64 {
	if !x.spaceKnown {
		db := x.db
		s := db.bolt.Stats()
		free := int64(s.FreePageN+s.PendingPageN) * int64(db.bolt.Info().PageSize) / 4
		x.spaceKnown, x.space = true, db.growth(db.treeSize.Load())+free-treeGrowth*db.pending()
	}
	return x.space
}

// growth returns by how many bytes a file of the given size may grow.
func (db *DB) growth(size int64) int64 {
	growth := int64(math.MaxInt64 / 2)
	if db.limit > 0 {
		growth = max(0, db.limit-int64(db.bolt.AllocSize)-size)
	}
	if free, _, ok := diskSpace(db.path); ok {
		growth = min(growth, free)
	}
	return growth
}

func (db *DB) reserve() int64 {
	reserve := int64(maxReserve)
	if db.limit > 0 {
		reserve = min(reserve, db.limit/8)
	}
	if _, total, ok := diskSpace(db.path); ok {
		reserve = min(reserve, total/8)
	}
	return reserve
}
