package boltstore

// undo is what a group has changed in memory, the newest last, and how that was before.
type undo struct {
	index *index
	log   []changed
}

// changed is one change; the members of its kind are set.
type changed struct {
	old, new *entry // of the index; nil for none

	counter *standing
	amount  int64
	end     []byte

	row     *sums
	numbers [mostNumbers]int64

	back func() // takes a change of any other kind back
}

// note adds one change.
func (u *undo) note(c changed) { u.log = append(u.log, c) }

// revert undoes the changes since the mark.
func (u *undo) revert(mark int) {
	for i := len(u.log) - 1; i >= mark; i-- {
		switch c := &u.log[i]; {
		case c.counter != nil:
			c.counter.now, c.counter.end = c.amount, c.end
		case c.row != nil:
			c.row.now = c.numbers
		case c.back != nil:
			c.back()
		default:
			u.index.replace(c.new, c.old)
		}
	}
	clear(u.log[mark:])
	u.log = u.log[:mark]
}

// forget keeps the changes, and the log's memory for the next group unless that is large.
func (u *undo) forget() {
	clear(u.log)
	u.log = u.log[:0]
	if cap(u.log) > mostUndo {
		u.log = nil
	}
}

// mostUndo is how many changes the log keeps memory for.
const mostUndo = 4 << 10
