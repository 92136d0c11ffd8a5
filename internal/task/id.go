package task

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// The prefixes of ids.
const (
	PrefixTask     = "task_"
	PrefixRequest  = "req_"
	PrefixArtifact = "art_"
	PrefixInput    = "in_"
	PrefixCall     = "call_" // of a tool
	PrefixKey      = "key_"
	PrefixAccount  = "acct_"
)

// alphabet is base 32 in an order that sorts like the bits, without letters that look alike.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const idLength = 26 // 130 bits: 48 of milliseconds, 80 random, 2 unused

// NewID returns a fresh id: the prefix and 26 characters that sort by time, safe in a path and a
// file name. now gives the millisecond; 80 bits are random.
func NewID(prefix string, now time.Time) string {
	var raw [16]byte
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		raw[i] = byte(ms >> (40 - 8*i))
	}
	_, _ = rand.Read(raw[6:]) // never fails, by its documentation
	var out [idLength]byte
	var acc, bits uint
	at := 0
	for _, b := range raw {
		acc, bits = acc<<8|uint(b), bits+8
		for bits >= 5 {
			bits -= 5
			out[at] = alphabet[acc>>bits&31]
			at++
		}
		acc &= 1<<bits - 1
	}
	out[at] = alphabet[acc<<(5-bits)&31]
	return prefix + string(out[:])
}

// timeCharacters is how much of an id tells its millisecond.
const timeCharacters = 10

// DeriveID returns the id that belongs to another id and a salt: always the same one, with the
// other's time. Work that is done again keeps its results under the ids of the first time.
func DeriveID(prefix, from, salt string) string {
	_, body, _ := strings.Cut(from, "_")
	sum := sha256.Sum256([]byte(from + "\n" + salt))
	out := []byte(body[:min(timeCharacters, len(body))])
	for len(out) < idLength {
		out = append(out, alphabet[sum[len(out)]&31])
	}
	return prefix + string(out)
}

// IDTime returns the millisecond in an id, 1970 for a text that is no id.
func IDTime(id string) time.Time {
	_, body, _ := strings.Cut(id, "_")
	var bits int64
	for _, c := range []byte(body[:min(timeCharacters, len(body))]) {
		bits = bits<<5 | int64(max(strings.IndexByte(alphabet, c), 0))
	}
	return time.UnixMilli(bits >> 2).UTC() // 50 bits, of which 48 tell the time
}

// FirstID returns the lowest id of a time and later: ids that were made before are lower. It is the id of no task.
func FirstID(prefix string, at time.Time) string {
	ms := at.UnixMilli()
	if at.After(time.UnixMilli(ms)) {
		ms++ // an id tells whole milliseconds
	}
	bits := min(max(ms, 0), 1<<48-1) << 2 // 50 bits, of which 48 tell the time
	var out [idLength]byte
	for i := range out {
		out[i] = alphabet[0]
	}
	for i := range timeCharacters {
		out[i] = alphabet[bits>>(5*(timeCharacters-1-i))&31]
	}
	return prefix + string(out[:])
}

// ValidID reports whether s is an id with the given prefix.
func ValidID(prefix, s string) bool {
	body, ok := strings.CutPrefix(s, prefix)
	if !ok || len(body) != idLength {
		return false
	}
	for i := range len(body) {
		if strings.IndexByte(alphabet, body[i]) < 0 {
			return false
		}
	}
	return true
}

// Hash is a SHA-256; in JSON it is 64 hexadecimal digits.
type Hash [32]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hexadecimal form.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads the hexadecimal form.
func (h *Hash) UnmarshalText(b []byte) error {
	var raw Hash
	if len(b) != hex.EncodedLen(len(raw)) {
		return fmt.Errorf("task: %q is no SHA-256", b)
	}
	if _, err := hex.Decode(raw[:], b); err != nil {
		return fmt.Errorf("task: %q is no SHA-256", b)
	}
	*h = raw
	return nil
}
