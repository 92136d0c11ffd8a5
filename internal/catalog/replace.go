package catalog

import (
	"cmp"
	"encoding/json"
	"slices"

	"unitask/internal/bulk"
)

// span is a part of an input, and its replacement.
type span struct {
	from, to int
	with     json.RawMessage
}

// Replaced returns the decoded input with other values at these JSON pointers, which are of values apart. A pointer
// that leads nowhere is left out.
func Replaced(input json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
	defer bulk.Turn(len(input))()
	var spans []span
	size := len(input)
	for pointer, with := range values {
		in := ReaderAt(input, pointer)
		if value := in.Value(); value != nil {
			spans = append(spans, span{in.Pos() - len(value), in.Pos(), with})
			size += len(with) - len(value)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out, at := make(json.RawMessage, 0, size), 0
	for _, s := range spans {
		out = append(bulk.Append(out, input[at:s.from]), s.with...)
		at = s.to
	}
	return bulk.Append(out, input[at:])
}
