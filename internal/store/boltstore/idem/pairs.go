package idem

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	// PairSize is how many bytes a digest and its row take.
	PairSize = len(Digest{}) + len(Row{})

	sumSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendPair appends a pair to a row of the log.
func AppendPair(b []byte, d Digest, row Row) []byte { return append(append(b, d[:]...), row[:]...) }

// Sum appends the sum of a row of the log, after its last pair.
func Sum(pairs []byte) []byte {
	return binary.BigEndian.AppendUint32(pairs, crc32.Checksum(pairs, castagnoli))
}

// parsePairs returns the pairs of a row of the log, false if it was damaged. Older versions wrote no sum.
func parsePairs(v []byte) ([]byte, bool) {
	switch pairs := v[:len(v)/PairSize*PairSize]; len(v) - len(pairs) {
	case 0:
		return pairs, len(pairs) > 0
	case sumSize:
		return pairs, binary.BigEndian.Uint32(v[len(pairs):]) == crc32.Checksum(pairs, castagnoli)
	}
	return nil, false
}
