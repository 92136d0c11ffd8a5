package boltstore

import (
	"crypto/sha256"
	"strings"

	"unitask/internal/task"
)

// alphabet is the one of task.NewID; a test holds the two together.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const (
	rowSize   = 16
	idLetters = 26
)

// rowID is the 16 bytes that a task's id encodes: they sort by time, as the id does.
type rowID [rowSize]byte

var letterValue = func() (values [256]int8) {
	for i := range values {
		values[i] = int8(strings.IndexByte(alphabet, byte(i)))
	}
	return values
}()

// parseID returns the row of a task's id; false if no id encodes so.
func parseID(id string) (row rowID, ok bool) {
	body, ok := strings.CutPrefix(id, task.PrefixTask)
	if !ok || len(body) != idLetters {
		return row, false
	}
	var acc, bits uint
	at := 0
	for i := range len(body) {
		v := letterValue[body[i]]
		if v < 0 {
			return row, false
		}
		acc, bits = acc<<5|uint(v), bits+5
		if bits >= 8 {
			bits -= 8
			row[at] = byte(acc >> bits)
			at++
			acc &= 1<<bits - 1
		}
	}
	return row, acc == 0 // the unused bits: each task has one spelling
}

// String returns the task's id.
func (r rowID) String() string {
	out := make([]byte, 0, len(task.PrefixTask)+idLetters)
	out = append(out, task.PrefixTask...)
	var acc, bits uint
	for _, b := range r {
		acc, bits = acc<<8|uint(b), bits+8
		for bits >= 5 {
			bits -= 5
			out = append(out, alphabet[acc>>bits&31])
			acc &= 1<<bits - 1
		}
	}
	return string(append(out, alphabet[acc<<(5-bits)&31]))
}

// next returns the row after r, and the last one itself.
func (r rowID) next() rowID {
	for i := rowSize - 1; i >= 0; i-- {
		if r[i]++; r[i] != 0 {
			return r
		}
	}
	return lastRow
}

// between returns a row after low and no later than high, which is after low: half way, between tasks.
func between(low, high rowID) (mid rowID) {
	carry := uint(1) // rounded up
	for i := rowSize - 1; i >= 0; i-- {
		sum := uint(low[i]) + uint(high[i]) + carry
		mid[i], carry = byte(sum), sum>>8
	}
	for i, b := range mid {
		mid[i], carry = b>>1|byte(carry)<<7, uint(b&1)
	}
	return mid
}

// digest names a scope, or an idempotency hash within one.
type digest [16]byte

func scopeDigest(s task.Scope) digest {
	sum := sha256.Sum256(appendScope(make([]byte, 0, scopeRoom), s))
	return digest(sum[:len(digest{})])
}

func idemDigest(s task.Scope, hash task.Hash) digest {
	sum := sha256.Sum256(append(append(appendScope(make([]byte, 0, scopeRoom), s), 0), hash[:]...))
	return digest(sum[:len(digest{})])
}

// scopeRoom is the usual size of a digest's input.
const scopeRoom = 128

func appendScope(b []byte, s task.Scope) []byte {
	return append(append(append(b, s.Mode...), 0), s.Account...)
}

// scopeRow is a key of by_scope.
type scopeRow [len(digest{}) + rowSize]byte

func scopeRowOf(s task.Scope, row rowID) (key scopeRow) {
	d := scopeDigest(s)
	copy(key[copy(key[:], d[:]):], row[:])
	return key
}
