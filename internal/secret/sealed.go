package secret

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/99designs/keyring"
)

// What the check item holds, by which a wrong passphrase is told from a damaged file. Its name has no
// slash, so that it is no secret's.
const (
	checkItem = "check"
	checkText = "unitask"
)

// MinPassphrase is the least number of characters of a new passphrase: whoever gets the files may try
// passphrases as fast as machines can.
const MinPassphrase = 12

var errPassphrase = errors.New("the passphrase isn't the one that it was encrypted with, or a file is damaged")

// OpenSealed opens a folder of files that a passphrase encrypts, for a machine without a keyring. The
// folder is made at the first Set. A wrong passphrase is ErrPassphrase.
func OpenSealed(ctx context.Context, dir string, passphrase Value) (*Keyring, error) {
	k := &Keyring{service: DefaultService, timeout: callTimeout, what: "encrypted file"}
	files, err := keyring.Open(keyring.Config{
		AllowedBackends: []keyring.BackendType{keyring.FileBackend}, FileDir: dir,
		FilePasswordFunc: keyring.FixedStringPrompt(passphrase.Reveal()),
	})
	if err != nil {
		return nil, k.failure("open", err)
	}
	k.ring = sealedRing{libraryRing{files}, dir}
	text, err := bounded(ctx, k.timeout, func() (string, error) { return k.ring.get(checkItem) })
	if err == nil && text != checkText {
		err = errPassphrase
	}
	if err != nil && !errors.Is(err, errMissing) {
		return nil, k.failure("open", err)
	}
	return k, nil
}

// IsSealed reports whether the folder has secrets, and so a passphrase.
func IsSealed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, checkItem))
	return err == nil
}

// RemoveSealed removes a secret from the folder, which takes no passphrase; one that isn't there is no
// error.
func RemoveSealed(dir, name string) error {
	k := &Keyring{service: DefaultService, timeout: callTimeout, what: "encrypted file"}
	files, err := keyring.Open(keyring.Config{
		AllowedBackends: []keyring.BackendType{keyring.FileBackend}, FileDir: dir, FilePasswordFunc: keyring.FixedStringPrompt(""),
	})
	if err != nil {
		return k.failure("open", err)
	}
	k.ring = sealedRing{libraryRing{files}, dir}
	return k.Delete(context.Background(), name)
}

// sealedRing adds the check item, and says what the library's errors mean.
type sealedRing struct {
	files libraryRing
	dir   string
}

func (s sealedRing) get(item string) (string, error) {
	text, err := s.files.get(item)
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return "", file
	}
	if err != nil && !errors.Is(err, errMissing) {
		return "", errPassphrase // the library's words are those of a cipher
	}
	return text, err
}

func (s sealedRing) set(item, text string) error {
	if !IsSealed(s.dir) {
		if err := s.files.set(checkItem, checkText); err != nil {
			return err
		}
	}
	return s.files.set(item, text)
}

func (s sealedRing) remove(item string) error {
	err := s.files.remove(item)
	if errors.Is(err, fs.ErrNotExist) {
		return errMissing
	}
	return err
}
