package task

import (
	"maps"
	"slices"

	"unitask/internal/jsonwrite"
)

// Metadata is texts that a caller gave a task on its creation, by name. They say nothing about the work and stay as
// they are for the task's life.
type Metadata map[string]string

// MetadataEnd is within how many bytes of the beginning of a task's record its metadata ends.
const MetadataEnd = 64 << 10

// Has reports whether m has every pair of want.
func (m Metadata) Has(want Metadata) bool {
	for name, text := range want {
		if has, ok := m[name]; !ok || has != text {
			return false
		}
	}
	return true
}

// Pairs returns each pair as Task.Write writes it, by name: a record without one of these within its first MetadataEnd
// bytes is that of a task without the pair. One that has them all may have them elsewhere.
func (m Metadata) Pairs() [][]byte {
	var pairs [][]byte
	for _, name := range slices.Sorted(maps.Keys(m)) {
		var w jsonwrite.Writer
		w.Key(name)
		w.String(m[name])
		pair, _ := w.Bytes() // texts alone
		pairs = append(pairs, pair)
	}
	return pairs
}

// Write appends the member "metadata", unless m is empty.
func (m Metadata) Write(w *jsonwrite.Writer) {
	if len(m) == 0 {
		return
	}
	w.Name("metadata")
	w.Begin('{')
	for _, name := range slices.Sorted(maps.Keys(m)) {
		w.Key(name)
		w.String(m[name])
	}
	w.End('}')
}
