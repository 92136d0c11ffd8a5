package secret_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"unitask/internal/secret"
)

const passphrase = "four words without sense"

func mustSeal(t *testing.T, dir, phrase string) *secret.Keyring {
	t.Helper()
	ring, err := secret.OpenSealedFast(t.Context(), dir, secret.New(phrase))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestSealed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	ring := mustSeal(t, dir, passphrase)
	if _, err := ring.Get(t.Context(), "work"); !errors.Is(err, secret.ErrNotFound) || secret.IsSealed(dir) {
		t.Errorf("an empty folder: %v, want ErrNotFound", err)
	}
	for _, text := range []string{"first", plain} {
		if err := ring.Set(t.Context(), "work", secret.New(text)); err != nil {
			t.Fatal(err)
		}
		got, err := mustSeal(t, dir, passphrase).Get(t.Context(), "work")
		if err != nil || got.Reveal() != text {
			t.Errorf("read %q, %v, want %q", got.Reveal(), err, text)
		}
	}
	mustBeSealed(t, dir)
	if !secret.IsSealed(dir) {
		t.Error("the folder has a passphrase and doesn't say so")
	}
	for range 2 {
		if err := secret.RemoveSealed(dir, "work"); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if _, err := ring.Get(t.Context(), "work"); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("after removing: %v, want ErrNotFound", err)
	}
}

// mustBeSealed fails if a file of the folder shows a secret, or itself to other users.
func mustBeSealed(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v, want the check item and one secret", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil || bytes.Contains(raw, []byte(plain)) {
			t.Errorf("%s: %v, or it holds the secret in clear", file.Name(), err)
		}
		if info, err := file.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, mode %v, want the user's alone", file.Name(), err, info.Mode())
		}
	}
}

// TestSealedWrongPassphrase: it is told from a secret that isn't there, whether one is asked for or kept.
func TestSealedWrongPassphrase(t *testing.T) {
	dir := t.TempDir()
	if err := mustSeal(t, dir, passphrase).Set(t.Context(), "work", secret.New(plain)); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"another one, not the same", "x"} {
		_, err := secret.OpenSealedFast(t.Context(), dir, secret.New(wrong))
		if e, ok := errors.AsType[*secret.Error](err); !ok || !errors.Is(err, secret.ErrPassphrase) || e.Hint == "" {
			t.Errorf("%q: %v, want ErrPassphrase with a hint", wrong, err)
		}
	}
}

// TestSealedDamaged: a file that was changed anywhere isn't read as another secret.
func TestSealedDamaged(t *testing.T) {
	dir := t.TempDir()
	if err := mustSeal(t, dir, passphrase).Set(t.Context(), "work", secret.New(plain)); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*work.age"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	whole, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	ring := mustSeal(t, dir, passphrase)
	for n := 0; n < len(whole); n += 7 {
		for _, damaged := range [][]byte{whole[:n], append(append(bytes.Clone(whole[:n]), whole[n]^1), whole[n+1:]...)} {
			if err := os.WriteFile(found[0], damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ring.Get(t.Context(), "work")
			if err == nil && got.Reveal() != plain { // the last bits of a base64 text may be unused
				t.Fatalf("byte %d: it was read as %q", n, got.Reveal())
			}
			if err != nil && !errors.Is(err, secret.ErrPassphrase) && !errors.Is(err, secret.ErrNoKeyring) {
				t.Errorf("byte %d: %v", n, err)
			}
		}
	}
}

func TestSealedFolderIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ring, err := secret.OpenSealedFast(t.Context(), file, secret.New(passphrase))
	if err == nil {
		err = ring.Set(t.Context(), "work", secret.New(plain))
	}
	if _, ok := errors.AsType[*secret.Error](err); !ok || errors.Is(err, fs.ErrExist) {
		t.Errorf("%v, want an *Error", err)
	}
}

// TestSealedCosts: trying a passphrase takes scrypt of 2^17 rounds.
func TestSealedCosts(t *testing.T) {
	dir := t.TempDir()
	ring, err := secret.OpenSealed(t.Context(), dir, secret.New(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Set(t.Context(), "work", secret.New(plain)); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "identity.age"))
	if line := regexp.MustCompile(`(?m)^-> scrypt \S+ 17$`); err != nil || !line.Match(raw) {
		t.Errorf("%v, the identity's head is %.80q, want scrypt of 17", err, raw)
	}
}

func TestRenameSealed(t *testing.T) {
	dir := t.TempDir()
	ring := mustSeal(t, dir, passphrase)
	for _, name := range []string{"work", "home"} {
		if err := ring.Set(t.Context(), name, secret.New(plain+name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time there is no file to rename
		if err := secret.RenameSealed(dir, "work", "job"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := mustSeal(t, dir, passphrase).Get(t.Context(), "job")
	if err != nil || got.Reveal() != plain+"work" {
		t.Errorf("%v, want the secret under its new name", err)
	}
	if _, err := ring.Get(t.Context(), "work"); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("%v, want nothing under the old one", err)
	}
}

// TestForgetSealed: a folder that was emptied takes another passphrase.
func TestForgetSealed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := mustSeal(t, dir, passphrase).Set(t.Context(), "work", secret.New(plain)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := secret.ForgetSealed(dir); err != nil || secret.IsSealed(dir) {
			t.Fatalf("%v, sealed: %t", err, secret.IsSealed(dir))
		}
	}
	ring := mustSeal(t, dir, passphrase+" and more")
	if _, err := ring.Get(t.Context(), "work"); !errors.Is(err, secret.ErrNotFound) {
		t.Errorf("%v, want nothing", err)
	}
}
