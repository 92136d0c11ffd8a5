package backup_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/artifact"
	"unitask/internal/backup"
	"unitask/internal/task"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// unsealed takes archives as Write leaves them.
var unsealed = backup.Terms{Unsealed: true}

// database is an image that is always the same; seen is called when it is taken.
type database struct {
	text string
	seen func()
}

func (d database) Image(context.Context) (io.ReadCloser, int64, error) {
	if d.seen != nil {
		d.seen()
	}
	return io.NopCloser(strings.NewReader(d.text)), int64(len(d.text)), nil
}

func mustFolder(t *testing.T, dir string) *artifact.Folder {
	t.Helper()
	f, err := artifact.NewFolder(artifact.FolderConfig{Dir: dir, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// mustPut keeps a file and returns its id.
func mustPut(t *testing.T, f *artifact.Folder, prefix string) string {
	t.Helper()
	id := task.NewID(prefix, now)
	_, err := f.Put(t.Context(), artifact.PutRequest{
		ID: id, Owner: "acct_1", Body: strings.NewReader("\x89PNG\r\n\x1a\n" + id), Limit: 1 << 20, TTL: time.Hour,
		Source: artifact.FromSupplier(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// mustWrite returns an archive of two files.
func mustWrite(t *testing.T) (raw []byte, m backup.Manifest) {
	t.Helper()
	files := mustFolder(t, t.TempDir())
	mustPut(t, files, task.PrefixArtifact)
	mustPut(t, files, task.PrefixInput)
	var out bytes.Buffer
	m, err := backup.Write(t.Context(), &out, source(database{text: "the database"}, files))
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), m
}

func source(d backup.Database, files *artifact.Folder) backup.Source {
	return backup.Source{Database: d, Files: files, Program: "test", Now: func() time.Time { return now }}
}

// tree reads every file below dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if path != dir && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, which lets others in", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	dir, back := t.TempDir(), t.TempDir()
	files := mustFolder(t, filepath.Join(dir, backup.ArtifactsName))
	mustPut(t, files, task.PrefixArtifact)
	mustPut(t, files, task.PrefixInput)
	if err := os.WriteFile(filepath.Join(dir, backup.DatabaseName), []byte("the database"), 0o600); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	pack := gzip.NewWriter(&packed)
	wrote, err := backup.Write(t.Context(), pack, source(database{text: "the database"}, files))
	if err := errors.Join(err, pack.Close()); err != nil {
		t.Fatal(err)
	}
	want := backup.Manifest{
		Format: 1, Program: "test", CreatedAt: now, Database: 12, Files: 2, FileBytes: wrote.FileBytes, SHA256: wrote.SHA256,
	}
	if diff := cmp.Diff(want, wrote); diff != "" || len(wrote.SHA256) != 64 {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	read, err := backup.Unpack(t.Context(), bytes.NewReader(packed.Bytes()), back, unsealed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wrote, read); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(tree(t, dir), tree(t, back)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	// A sweep doesn't read unexpired objects: the times came along.
	n, err := mustFolder(t, filepath.Join(back, backup.ArtifactsName)).Sweep(t.Context(), now.Add(2*time.Hour), 10)
	if n != 2 || err != nil {
		t.Errorf("Sweep: %d, %v", n, err)
	}
}

// TestWriteKeepsWhatTheImageNames deletes a file once the image is taken: it is in the archive all the same.
func TestWriteKeepsWhatTheImageNames(t *testing.T) {
	files := mustFolder(t, t.TempDir())
	id := mustPut(t, files, task.PrefixInput)
	var out bytes.Buffer
	m, err := backup.Write(t.Context(), &out, source(database{text: "x", seen: func() {
		if err := files.Delete(t.Context(), id); err != nil {
			t.Error(err)
		}
	}}, files))
	if err != nil || m.Files != 1 {
		t.Errorf("%d files, %v, want 1", m.Files, err)
	}
	if _, err := files.Stat(t.Context(), id); err == nil {
		t.Error("the file outlives the backup")
	}
}

func TestDamaged(t *testing.T) {
	whole, _ := mustWrite(t)
	if _, err := backup.Verify(bytes.NewReader(whole), unsealed); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	pack := gzip.NewWriter(&packed)
	if _, err := pack.Write(whole); err != nil {
		t.Fatal(err)
	}
	if err := pack.Close(); err != nil {
		t.Fatal(err)
	}
	flip := func(raw []byte, at int) []byte {
		raw = bytes.Clone(raw)
		raw[at] ^= 1
		return raw
	}
	manifest := bytes.LastIndex(whole, []byte(`"sha256"`))
	for name, raw := range map[string][]byte{
		"nothing":               nil,
		"something else":        []byte(strings.Repeat("not an archive ", 100)),
		"cut in a file":         whole[:len(whole)/2],
		"cut at the manifest":   whole[:bytes.LastIndex(whole, []byte("manifest.json"))/512*512],
		"a bit of the database": flip(whole, bytes.Index(whole, []byte("the database"))),
		"a bit of a file":       flip(whole, bytes.Index(whole, []byte("\x89PNG"))+20),
		"a bit of the sum":      flip(whole, manifest+15),
		"more after the end":    append(bytes.Clone(whole[:len(whole)-1024]), whole...),
		"gzip cut":              packed.Bytes()[:packed.Len()-5],
		"gzip's own sum":        flip(packed.Bytes(), packed.Len()-6),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := backup.Verify(bytes.NewReader(raw), unsealed); !errors.Is(err, backup.ErrArchive) {
				t.Errorf("got %v, want ErrArchive", err)
			}
		})
	}
}
