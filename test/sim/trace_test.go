package sim_test

import (
	"encoding/binary"
	"hash/fnv"

	"unitask/internal/api"
	"unitask/test/crash/invariant"
)

// trace sums up all that was seen, times included, but for the random part of ids.
func trace(o invariant.Observation) uint64 {
	var raw []byte
	h := fnv.New64a()
	for _, t := range o.Tasks {
		raw = texts(raw[:0], t.Key, string(t.Final.State))
		raw = texts(raw, t.Seen...)
		raw = numbers(raw, t.Posts, len(t.Acknowledged), len(t.Files))
		for _, m := range t.Ledger.Timeline {
			raw = numbers(texts(raw, m.State), nanoseconds(&m.At))
		}
		for _, a := range t.Ledger.Attempts {
			raw = numbers(texts(raw, a.Supplier, string(a.State), a.Cost), nanoseconds(&a.StartedAt), nanoseconds(a.ClosedAt))
		}
		_, _ = h.Write(raw)
	}
	for _, s := range o.Submissions {
		raw = numbers(texts(raw[:0], s.Key, s.Supplier, tail(s.SubmitKey)), s.Charge)
		_, _ = h.Write(raw)
	}
	return h.Sum64()
}

func nanoseconds(at *api.Timestamp) int64 {
	if at == nil {
		return 0
	}
	return at.UnixNano()
}

func texts[T ~string](b []byte, all ...T) []byte {
	for _, s := range all {
		b = append(append(b, s...), 0)
	}
	return b
}

func numbers[T ~int | ~int64](b []byte, all ...T) []byte {
	for _, n := range all {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}
