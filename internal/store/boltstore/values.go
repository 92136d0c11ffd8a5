package boltstore

import "sync/atomic"

// values are the memory that a table's values are written to, chunk after chunk. Once the tree has the table, its
// chunks serve another one, if no reader can hold a value in them any more.
type values struct {
	chunks  [][]byte // the last one is being written
	readers atomic.Int32
	shared  bool // the table ended while a group was under way, whose values another table has
}

const (
	chunkSize  = 64 << 10
	mostChunks = 2 * flushBytes / chunkSize // that are kept for a table to come
)

// chunks are those that no table has. They are the committer's own.
type chunks [][]byte

func (c *chunks) take() []byte {
	last := len(*c) - 1
	if last < 0 {
		return make([]byte, 0, chunkSize)
	}
	chunk := (*c)[last]
	*c = (*c)[:last]
	return chunk
}

// keep takes the chunks of a table that isn't in use.
func (c *chunks) keep(v *values) {
	for _, chunk := range v.chunks[:min(len(v.chunks), mostChunks-len(*c))] {
		*c = append(*c, chunk[:0])
	}
}

// inUse reports whether somebody may hold a value of a table that no reader finds any more.
func (v *values) inUse() bool { return v.shared || v.readers.Load() > 0 }

// empty gives the chunks up, which others have by now.
func (v *values) empty() {
	clear(v.chunks)
	v.chunks = v.chunks[:0]
}

// space returns the room for the next value: an empty slice with room.
func (v *values) space(free *chunks) []byte {
	if n := len(v.chunks); n == 0 || cap(v.chunks[n-1])-len(v.chunks[n-1]) < chunkSize/16 {
		v.chunks = append(v.chunks, free.take())
	}
	chunk := v.chunks[len(v.chunks)-1]
	return chunk[len(chunk):]
}

// wrote records the bytes that were appended to the space. A value that had no room there lies elsewhere.
func (v *values) wrote(value []byte) {
	chunk := &v.chunks[len(v.chunks)-1]
	if len(value) <= cap(*chunk)-len(*chunk) {
		*chunk = (*chunk)[:len(*chunk)+len(value)]
	}
}
