package boltstore

import "math"

// Work that was accepted must be able to end on a full disk, so new work is refused while some room
// is left: an eighth of the file's limit or of the disk, at most maxReserve.
const maxReserve = 32 << 20

// room reports whether new work may come in; looked up once a group.
func (x *txn) room() bool {
	if !x.roomKnown {
		x.roomKnown, x.hasRoom = true, x.left() > x.db.reserve()
	}
	return x.hasRoom
}

// left returns the bytes that can surely be written: what the file may grow by, and of the free pages a
// quarter, for they may lie too scattered for a large record.
func (x *txn) left() int64 {
	s := x.db.bolt.Stats()
	return x.db.growth(x.tx.Size()) + int64(s.FreePageN+s.PendingPageN)*int64(x.db.bolt.Info().PageSize)/4
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
