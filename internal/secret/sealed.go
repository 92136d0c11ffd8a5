package secret

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"filippo.io/age"
)

// The folder holds age files: an identity that a passphrase encrypts by scrypt, and each secret encrypted to
// that identity, so that one slow step opens all of them.
const (
	identityFile = "identity.age"
	sealedSuffix = ".age"
	scryptWork   = 17                // 2^17 rounds with 128 MB, about half a second
	sealedTime   = time.Minute       // of a call; a slow machine takes seconds
	maxSealed    = fileLimit + 1<<10 // bytes of one file: the secret and age's own
)

// MinPassphrase is the least number of characters of a new passphrase: whoever gets the files may try
// passphrases as fast as machines can.
const MinPassphrase = 12

var errPassphrase = errors.New("the passphrase isn't the one that it was encrypted with, or a file is damaged")

// OpenSealed opens a folder of files that a passphrase encrypts, for a machine without a keyring. The
// folder is made at the first Set. A wrong passphrase is ErrPassphrase.
func OpenSealed(ctx context.Context, dir string, passphrase Value) (*Keyring, error) {
	return openSealed(ctx, dir, passphrase, scryptWork)
}

func openSealed(ctx context.Context, dir string, passphrase Value, work int) (*Keyring, error) {
	s := &sealedRing{dir: dir, phrase: passphrase, work: work}
	k := &Keyring{service: DefaultService, timeout: sealedTime, what: "encrypted file", limit: fileLimit, ring: s}
	if _, err := bounded(ctx, k.timeout, func() (struct{}, error) { return struct{}{}, s.open() }); err != nil {
		return nil, k.failure("open", err)
	}
	return k, nil
}

// IsSealed reports whether the folder has secrets, and so a passphrase.
func IsSealed(dir string) bool { return isFile(filepath.Join(dir, identityFile)) }

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// RemoveSealed removes a secret from the folder, which takes no passphrase; one that isn't there is no
// error.
func RemoveSealed(dir, name string) error {
	k := &Keyring{service: DefaultService, timeout: sealedTime, what: "encrypted file", ring: &sealedRing{dir: dir}}
	return k.Delete(context.Background(), name)
}

// RenameSealed gives a secret of the folder another name, which takes no passphrase. A secret of that name is
// replaced; a secret that isn't there is no error.
func RenameSealed(dir, from, to string) error {
	err := os.Rename(filepath.Join(dir, sealedName(from)), filepath.Join(dir, sealedName(to)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ForgetSealed removes all secrets of the folder and with them its passphrase.
func ForgetSealed(dir string) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, file := range files {
		errs = append(errs, os.Remove(filepath.Join(dir, file.Name())))
	}
	return errors.Join(errs...)
}

// sealedRing is the folder as a back end.
type sealedRing struct {
	dir    string
	phrase Value
	work   int

	mu       sync.Mutex
	identity *age.X25519Identity // nil if the folder has none yet
}

// open finds out whether the passphrase is right, if there is anything that it opens.
func (s *sealedRing) open() error {
	if !IsSealed(s.dir) {
		return nil
	}
	text, err := s.decrypt(identityFile, func() (age.Identity, error) { return age.NewScryptIdentity(s.phrase.Reveal()) })
	if err != nil {
		return err
	}
	if s.identity, err = age.ParseX25519Identity(text); err != nil {
		return errPassphrase
	}
	return nil
}

func (s *sealedRing) Get(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.identity == nil || !isFile(filepath.Join(s.dir, sealedName(name))) {
		return "", errMissing
	}
	return s.decrypt(sealedName(name), func() (age.Identity, error) { return s.identity, nil })
}

func (s *sealedRing) Set(name, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.identity == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	return s.encrypt(sealedName(name), text, s.identity.Recipient())
}

// begin makes the identity of the folder.
func (s *sealedRing) begin() error {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	lock, err := age.NewScryptRecipient(s.phrase.Reveal())
	if err != nil {
		return err
	}
	lock.SetWorkFactor(s.work)
	if err := s.encrypt(identityFile, identity.String(), lock); err != nil {
		return err
	}
	s.identity = identity
	return nil
}

func (s *sealedRing) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := os.Remove(filepath.Join(s.dir, sealedName(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return errMissing
	}
	return err
}

// sealedName is the file of a secret.
func sealedName(name string) string { return url.PathEscape(DefaultService+"/"+name) + sealedSuffix }

// encrypt writes a file of the folder in one step, for its user alone.
func (s *sealedRing) encrypt(name, text string, to age.Recipient) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, to)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, ".sealed-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already after a rename
	_, err = f.Write(sealed.Bytes())
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(s.dir, name))
}

// decrypt reads a file of the folder.
func (s *sealedRing) decrypt(name string, with func() (age.Identity, error)) (string, error) {
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	identity, err := with()
	if err != nil {
		return "", errPassphrase // an empty one
	}
	r, err := age.Decrypt(io.LimitReader(f, maxSealed), identity)
	if err != nil {
		return "", errPassphrase
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return "", errPassphrase
	}
	return string(text), nil
}
