package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/node"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// image is a database as it is, whatever it is.
type image []byte

func (i image) Image(context.Context) (io.ReadCloser, int64, error) {
	return io.NopCloser(bytes.NewReader(i)), int64(len(i)), nil
}

// mustArchive writes a sealed archive of a database.
func mustArchive(t *testing.T, path string, database []byte, key backup.Key) {
	t.Helper()
	files, err := artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var raw, sealed bytes.Buffer
	if _, err := backup.Write(t.Context(), &raw, backup.Source{Database: image(database), Files: files, Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Seal(&sealed, &raw, key); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, sealed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// mustDatabase returns a database with so many keys that its trees have branches.
func mustDatabase(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	db, _, err := node.OpenData(dir, boltstore.Config{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	owner := account.Account{ID: task.NewID(task.PrefixAccount, now), Name: "default", CreatedAt: now}
	err = db.PutAccount(t.Context(), owner)
	for i := range 200 {
		err = errors.Join(err, db.PutKey(t.Context(), account.Key{
			ID: task.NewID(task.PrefixKey, now), Hash: [32]byte{byte(i)}, Account: owner.ID, Name: fmt.Sprint("key ", i), Mode: task.Live, CreatedAt: now,
		}))
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, backup.DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// damagesOf returns the damages that a disk may do to a database, by name.
func damagesOf(whole []byte) map[string]func(raw []byte) []byte {
	const page, pageHead = 4096, 16
	damages := map[string]func(raw []byte) []byte{
		"no damage":  func(raw []byte) []byte { return raw },
		"empty":      func([]byte) []byte { return nil },
		"cut short":  func(raw []byte) []byte { return raw[:len(raw)/2/page*page] },
		"three KB":   func(raw []byte) []byte { return raw[:3000] },
		"both metas": func(raw []byte) []byte { clear(raw[:2*page]); return raw },
	}
	used := len(bytes.TrimRight(whole, "\x00"))/page + 1
	for i := 2; i < min(used, 12); i++ {
		damages[fmt.Sprint("page zeroed ", i)] = func(raw []byte) []byte { clear(raw[i*page : (i+1)*page]); return raw }
	}
	for i := 2; i < min(used, 7); i++ {
		damages[fmt.Sprint("page of random bytes ", i)] = func(raw []byte) []byte { return overwritten(raw, i*page, (i+1)*page) }
		damages[fmt.Sprint("page of random rows ", i)] = func(raw []byte) []byte { return overwritten(raw, i*page+pageHead, (i+1)*page) }
	}
	for at := 2 * page; at < len(whole); at += page {
		if binary.NativeEndian.Uint16(whole[at+8:]) == 1 && binary.NativeEndian.Uint64(whole[at:]) == uint64(at/page) { // a branch
			damages[fmt.Sprint("page leads back to itself ", at/page)] = func(raw []byte) []byte {
				binary.NativeEndian.PutUint64(raw[at+pageHead+8:], uint64(at/page))
				return raw
			}
		}
	}
	return damages
}

// overwritten fills a part with random bytes, the same ones each time.
func overwritten(raw []byte, from, to int) []byte {
	_, _ = rand.NewChaCha8([32]byte{byte(from), byte(from >> 8)}).Read(raw[from:to]) // never fails
	return raw
}

// unitaskRun runs the program in a process of its own.
func unitaskRun(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Args[0] = "unitask"
	var notes strings.Builder
	cmd.Stderr = &notes
	if err := cmd.Run(); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); !ended {
			t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode(), notes.String()
}

// TestRestoreOfADamagedDatabase: a database that was damaged when it was backed up and sealed is refused in words, or
// it is whole; no damage ends the process or reaches the data folder.
func TestRestoreOfADamagedDatabase(t *testing.T) {
	whole, key := mustDatabase(t), backup.NewKey()
	damages := damagesOf(whole)
	refused := 0
	for name, damage := range damages {
		dir := t.TempDir()
		archive, keyFile, data := filepath.Join(dir, "b.tar"), filepath.Join(dir, "key"), filepath.Join(dir, "data")
		mustArchive(t, archive, damage(bytes.Clone(whole)), key)
		if err := writeKey(keyFile, key); err != nil {
			t.Fatal(err)
		}
		code, stderr := unitaskRun(t, "store", "restore", archive, "--key-file", keyFile, "--data-dir", data)
		_, err := os.Stat(filepath.Join(data, backup.DatabaseName))
		placed := !errors.Is(err, fs.ErrNotExist)
		switch {
		case code != exitOK && code != exitError, strings.Contains(stderr, "goroutine "):
			t.Errorf("%s: the restore ended with %d:\n%s", name, code, stderr)
		case placed != (code == exitOK):
			t.Errorf("%s: code %d, and a database was placed: %t", name, code, placed)
		case code == exitError && !strings.Contains(stderr, "not a whole archive of unitask: its database is damaged"):
			t.Errorf("%s: refused with %s", name, stderr)
		case code == exitOK:
			if code, stderr := unitaskRun(t, "store", "check", "--data-dir", data); code != exitOK && code != exitError {
				t.Errorf("%s: was placed, and its check ends with %d: %s", name, code, stderr)
			}
		default:
			refused++
		}
		if left, err := filepath.Glob(filepath.Join(data, ".restore-*")); len(left) > 0 || err != nil {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
	if t.Logf("%d of %d refused", refused, len(damages)); refused < 16 {
		t.Errorf("%d damaged databases of %d were refused, want at least 16", refused, len(damages))
	}
}

// TestCheckOfADamagedDatabase: a check of a data folder whose database was damaged, and a repair, return an error, or
// find no fault; both never panic, take all memory or loop.
func TestCheckOfADamagedDatabase(t *testing.T) {
	whole := mustDatabase(t)
	found, circles, all := 0, 0, damagesOf(whole)
	for name, damage := range all {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, backup.DatabaseName), damage(bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		how := []string{"store", "check", "--data-dir", data}
		if strings.HasPrefix(name, "page leads back") {
			circles++
			code, stderr := unitaskRun(t, append(how, "--repair")...)
			if code != exitError || !strings.Contains(stderr, "is named twice") {
				t.Errorf("%s: a repair ended with %d: %.2000s", name, code, stderr)
			}
		}
		code, stderr := unitaskRun(t, how...)
		if code != exitOK && code != exitError || strings.Contains(stderr, "goroutine ") {
			t.Errorf("%s: the check ended with %d: %.2000s", name, code, stderr)
		}
		if code == exitError {
			found++
		}
	}
	if t.Logf("%d of %d found something, %d circles", found, len(all), circles); found < 16 || circles == 0 {
		t.Errorf("%d checks found something, want at least 16; %d circles", found, circles)
	}
}

// addKey puts the database of another data folder into an archive, its manifest made anew, as
// somebody would who may write to the archives.
func addKey(t *testing.T, archive string, database []byte) {
	t.Helper()
	raw, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	var last []byte // the old seal
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		}
		if last, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	mustArchive(t, archive, database, backup.NewKey())
	forged, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(forged, []byte(`{"key":`))
	copy(forged[at:], last) // the same length
	if err := os.WriteFile(archive, forged, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRestoreNoticesAnAddedKey: whoever may write to the archives but not to the data folder adds API keys and makes
// all checksums anew; the restore reports it, and writes no file unless it is told to go on.
func TestRestoreNoticesAnAddedKey(t *testing.T) {
	dir := t.TempDir()
	data, archive := filepath.Join(dir, "data"), filepath.Join(dir, "b.tar")
	db, _, err := node.OpenData(data, boltstore.Config{NoSync: true})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if code, stderr := unitaskRun(t, "store", "backup", archive, "--data-dir", data); code != exitOK || !strings.Contains(stderr, "Keep a copy") {
		t.Fatalf("backup: %d, %s", code, stderr)
	}
	addKey(t, archive, mustDatabase(t))
	elsewhere := filepath.Join(dir, "elsewhere")
	restore := []string{"store", "restore", archive, "--data-dir", elsewhere}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no key":  {restore, "there is no key to check the archive's seal with"},
		"the key": {append(restore, "--key-file", filepath.Join(data, backup.KeyName)), "the archive isn't what the key has sealed"},
	} {
		code, stderr := unitaskRun(t, tt.args...)
		if code != exitError || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: code %d, %s, want %q", name, code, stderr, tt.want)
		}
		if backup.Occupied(elsewhere) {
			t.Errorf("%s: the archive was restored", name)
		}
	}
	code, stderr := unitaskRun(t, append(restore, "--skip-seal")...)
	if code != exitOK || !strings.Contains(stderr, "warning: the seal was not checked") || !strings.Contains(stderr, "unitask keys list") {
		t.Errorf("--skip-seal: code %d, %s, want a warning", code, stderr)
	}
}
