package boltstore

// Work that was accepted must be able to end on a full disk, so new work is refused while some room
// is left: an eighth of the file's limit and of the disk, at most maxReserve each.
const maxReserve = 32 << 20

// room reports whether new work may come in; looked up once a group.
func (x *txn) room() bool {
	if x.roomKnown {
		return x.hasRoom
	}
	x.roomKnown, x.hasRoom = true, x.fileRoom() && x.diskRoom()
	return x.hasRoom
}

// fileRoom compares what the file's limit leaves, free pages included, with the reserve.
func (x *txn) fileRoom() bool {
	if x.db.limit <= 0 {
		return true
	}
	s := x.db.bolt.Stats()
	free := int64(s.FreePageN+s.PendingPageN) * int64(x.db.bolt.Info().PageSize)
	left := x.db.limit - int64(x.db.bolt.AllocSize) - x.tx.Size() + free
	return left > min(maxReserve, x.db.limit/8)
}

func (x *txn) diskRoom() bool {
	free, total, ok := diskSpace(x.db.path)
	return !ok || free > min(maxReserve, total/8)
}
