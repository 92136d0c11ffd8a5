package boltstore

// undo is the list of a group's changes in memory, the newest last.
type undo struct {
	index *index
	log   []changed
}

// changed is one change: of the index, or another one that back takes back.
type changed struct {
	old, new *openTask // new replaces old; both may be nil
	back     func()
}

// note adds one change.
func (u *undo) note(c changed) { u.log = append(u.log, c) }

// revert undoes the changes since the mark.
func (u *undo) revert(mark int) {
	for i := len(u.log) - 1; i >= mark; i-- {
		if c := u.log[i]; c.back != nil {
			c.back()
		} else {
			u.index.replace(c.new, c.old)
		}
	}
	clear(u.log[mark:])
	u.log = u.log[:mark]
}

// forget keeps the changes, and the log's memory for the next group.
func (u *undo) forget() {
	clear(u.log)
	u.log = u.log[:0]
}
