package boltstore

import (
	"bytes"
	"sync/atomic"

	"unitask/internal/task"
)

// lately holds open tasks that were read a short time ago, each in the place that its row has: who waits
// for a task reads it again and again, and so does the poll of its job. The bytes of a record decide
// whether it is the one that was decoded, so nothing here can be out of date.
type lately [latelyPlaces]atomic.Pointer[decoded]

const (
	latelyPlaces = 256
	latelyMost   = 8 << 10 // bytes of a record; a larger one isn't held
)

// decoded is a record and what it says.
type decoded struct {
	record []byte
	task   task.Task
}

// decode returns what decodeTask makes of the record. The task shares no memory with it. A nil l holds
// nothing.
func (l *lately) decode(row rowID, record []byte) (task.Task, error) {
	if l == nil {
		return decodeTask(record)
	}
	place := &l[row[rowSize-1]]
	if known := place.Load(); known != nil && bytes.Equal(known.record, record) {
		return known.task, nil
	}
	t, err := decodeTask(record)
	if err == nil && !t.State.Terminal() && len(record) <= latelyMost {
		place.Store(&decoded{bytes.Clone(record), t})
	}
	return t, err
}
