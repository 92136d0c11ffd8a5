package backup

import (
	"archive/tar"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"
)

// KeyName is the file of a data folder that holds the operator's key. It is no part of an archive.
const KeyName = "backup.key"

const (
	sealName  = "seal.json"
	sealScope = "unitask backup seal 1\n" // so that no other use of the key makes a seal
	maxSeal   = 1 << 10                   // bytes

	keyPrefix = "unitask_backup_key_"
	keySize   = 32
)

// ErrNoKey reports that no key is at hand, ErrNoSeal an archive without a seal, ErrSeal one that differs from the
// archive that the key sealed.
var (
	ErrNoKey  = errors.New("there is no key to check the archive's seal with")
	ErrNoSeal = errors.New("the archive has no seal")
	ErrSeal   = errors.New("the archive isn't what the key has sealed")
)

// Key seals archives and checks their seals: 256 random bits. The zero Key seals and checks no archive.
type Key struct{ raw string }

// NewKey returns a new key.
func NewKey() Key {
	raw := make([]byte, keySize)
	_, _ = rand.Read(raw) // never fails
	return Key{string(raw)}
}

// ParseKey is the inverse of Text.
func ParseKey(text string) (Key, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(text), keyPrefix)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if !ok || err != nil || len(raw) != keySize {
		return Key{}, errors.New("not a key of unitask's backups")
	}
	return Key{string(raw)}, nil
}

// Text is the key as a file holds it: one line of letters that can be copied.
func (k Key) Text() string { return keyPrefix + base64.RawURLEncoding.EncodeToString([]byte(k.raw)) }

// String is the key's name, which tells keys apart and isn't secret.
func (k Key) String() string {
	sum := sha256.Sum256([]byte(sealScope + k.raw))
	return hex.EncodeToString(sum[:4])
}

// GoString keeps the key out of %#v.
func (k Key) GoString() string { return k.String() }

// IsZero reports whether k is no key.
func (k Key) IsZero() bool { return k.raw == "" }

// seal is the last entry of an archive. It covers the manifest, by whose checksum the names, sizes and
// bytes of all others, and their times.
type seal struct {
	Key  string `json:"key"` // Key.String
	HMAC []byte `json:"hmac_sha256"`
}

func (k Key) seal(times hash.Hash, manifest []byte) seal {
	mac := hmac.New(sha256.New, []byte(k.raw))
	_, _ = io.WriteString(mac, sealScope)
	_, _ = mac.Write(times.Sum(nil))
	_, _ = mac.Write(manifest)
	return seal{Key: k.String(), HMAC: mac.Sum(nil)}
}

// check compares an archive's seal, which may be nil, with the one that the key makes.
func (k Key) check(got *seal, times hash.Hash, manifest []byte) error {
	if k.IsZero() { // anybody could seal with it
		return ErrNoKey
	}
	if got == nil {
		return fmt.Errorf("%w: %w", ErrArchive, ErrNoSeal)
	}
	want := k.seal(times, manifest)
	if hmac.Equal(got.HMAC, want.HMAC) {
		return nil
	}
	err := fmt.Errorf("%w: %w", ErrArchive, ErrSeal)
	if got.Key != want.Key {
		err = fmt.Errorf("%w: it names the key %.8q, and this one is %q", err, got.Key, want.Key)
	}
	return err
}

// Seal copies an archive that has no seal, verifies it on the way and adds the key's seal.
func Seal(w io.Writer, r io.Reader, key Key) (Manifest, error) {
	to := &writer{tar: tar.NewWriter(w), sum: sha256.New()}
	entries, err := read(r, sealing{to}, Terms{Unsealed: true})
	if err != nil {
		return Manifest{}, err
	}
	at := entries.manifest.CreatedAt
	if err := to.add(manifestName, int64(len(entries.raw)), at, strings.NewReader(string(entries.raw))); err != nil {
		return Manifest{}, err
	}
	raw, err := json.Marshal(key.seal(entries.times, entries.raw))
	if err != nil {
		return Manifest{}, err
	}
	if err := to.add(sealName, int64(len(raw)), at, strings.NewReader(string(raw))); err != nil {
		return Manifest{}, err
	}
	return entries.manifest, to.tar.Close()
}

// sealing takes the entries of an archive and writes them into another.
type sealing struct{ to *writer }

func (s sealing) create(name string, size int64, at time.Time) (io.WriteCloser, error) {
	return nopCloser{s.to.tar}, s.to.header(name, size, at)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
