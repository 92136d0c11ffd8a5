package account

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"

	"unitask/internal/task"
)

// DefaultKeyPrefix starts every key; the operator may set another.
const DefaultKeyPrefix = "svc"

// Operator is the mode of a key that opens the operator's API and no task.
const Operator task.Mode = "operator"

// validMode reports whether a key may have the mode.
func validMode(m task.Mode) bool { return m == task.Live || m == task.Test || m == Operator }

const (
	base62     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	bodyLength = 32 // 190 random bits
	sumLength  = 6
)

// KeyForm describes a full key of a task mode with the prefix, for people.
func KeyForm(prefix string) string {
	return fmt.Sprintf("%s_%s_ or %s_%s_, %d letters and digits, and %d of checksum", prefix, task.Live, prefix, task.Test, bodyLength, sumLength)
}

// NewKeySecret returns a fresh full key: prefix and mode as in KeyForm, then random letters and digits and their checksum.
func NewKeySecret(prefix string, mode task.Mode) string {
	head := prefix + "_" + string(mode) + "_"
	body := make([]byte, bodyLength)
	size := big.NewInt(int64(len(base62)))
	for i := range body {
		n, err := rand.Int(rand.Reader, size)
		if err != nil {
			panic("account: no randomness: " + err.Error()) // documented never to happen
		}
		body[i] = base62[n.Int64()]
	}
	return head + string(body) + checksum(head+string(body))
}

// ParseKeySecret reports the mode of a well-formed key with a right checksum. It doesn't say whether the key was ever
// issued.
func ParseKeySecret(prefix, secret string) (task.Mode, bool) {
	rest, ok := strings.CutPrefix(secret, prefix+"_")
	if !ok {
		return "", false
	}
	mode, body, ok := strings.Cut(rest, "_")
	if !ok || !validMode(task.Mode(mode)) || len(body) != bodyLength+sumLength {
		return "", false
	}
	for i := range len(body) {
		if strings.IndexByte(base62, body[i]) < 0 {
			return "", false
		}
	}
	at := len(secret) - sumLength
	if checksum(secret[:at]) != secret[at:] {
		return "", false
	}
	return task.Mode(mode), true
}

// ModeOf reads the mode that a full key names, whatever its prefix and checksum are; "" if it names no mode.
func ModeOf(secret string) task.Mode {
	parts := strings.Split(secret, "_")
	if len(parts) != 3 || !validMode(task.Mode(parts[1])) {
		return ""
	}
	return task.Mode(parts[1])
}

// keyLike is a full key of any prefix, or most of one: its random part may lack an end.
var keyLike = regexp.MustCompile(`[a-z0-9]_(live|test|operator)_[0-9A-Za-z]{24}`)

// HoldsSecret reports whether somewhere in a text stands that which looks like a full key. An id and a hint don't.
func HoldsSecret(text string) bool { return keyLike.MatchString(text) }

// HashSecret returns the SHA-256 under which a full key is known.
func HashSecret(secret string) task.Hash {
	var room [64]byte // as long as the longest key: on the stack
	return sha256.Sum256(append(room[:0], secret...))
}

// Hint returns the last four characters of a full key: enough to tell keys apart, not to use one.
func Hint(secret string) string {
	if len(secret) < sumLength {
		return ""
	}
	return secret[len(secret)-4:]
}

// KeyPrefixForm describes a valid prefix, for people.
const KeyPrefixForm = "1 to 16 lower-case letters and digits"

// ValidKeyPrefix reports whether p, of KeyPrefixForm, may start keys.
func ValidKeyPrefix(p string) bool {
	return len(p) >= 1 && len(p) <= 16 && strings.Trim(p, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// checksum is the CRC-32 of the key so far in base 62: it tells a typing error from an unknown key
// without a look into the store.
func checksum(s string) string {
	n := crc32.ChecksumIEEE([]byte(s))
	var out [sumLength]byte
	for i := sumLength - 1; i >= 0; i-- {
		out[i] = base62[n%62]
		n /= 62
	}
	return string(out[:])
}
