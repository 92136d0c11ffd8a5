package backup_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"unitask/internal/backup"
)

// hostile returns archives with foreign names.
func hostile() map[string][]byte {
	all := map[string][]byte{}
	for _, name := range []string{
		"../evil", "/evil", "unitask.db", "artifacts/../../evil", "artifacts/art/zz/evil", "admin.sock", "artifacts",
	} {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, entry := range []string{"unitask.db", name, "manifest.json"} {
			_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: entry, Size: 2, Mode: 0o777})
			_, _ = w.Write([]byte("{}"))
		}
		_ = w.Close()
		all[name] = out.Bytes()
	}
	return all
}

func TestUnpackRefusesForeignNames(t *testing.T) {
	for name, raw := range hostile() {
		dir := filepath.Join(t.TempDir(), "in")
		if _, err := backup.Unpack(t.Context(), bytes.NewReader(raw), dir, unsealed); !errors.Is(err, backup.ErrArchive) {
			t.Errorf("%q: got %v, want ErrArchive", name, err)
		}
		if got := tree(t, filepath.Dir(dir)); len(got) != 1 || got["in/unitask.db"] != "{}" {
			t.Errorf("%q: written %v", name, got)
		}
	}
}

// FuzzRead: whatever an archive says, no name but one that belongs there would be written, and one that
// passes has as many files as its manifest says.
func FuzzRead(f *testing.F) {
	f.Add([]byte{})
	for _, raw := range hostile() {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		names, m, err := backup.Names(bytes.NewReader(raw))
		for i, name := range names {
			rest, file := strings.CutPrefix(name, backup.ArtifactsName+"/")
			if !filepath.IsLocal(name) || file == (i == 0) || (i == 0 && name != backup.DatabaseName) || strings.Contains(rest, "..") {
				t.Fatalf("entry %d would be written as %q", i, name)
			}
		}
		if err == nil && int64(len(names)-1)/2 != m.Files {
			t.Errorf("%d names, the manifest says %+v", len(names), m)
		}
		if err != nil && !errors.Is(err, backup.ErrArchive) {
			t.Errorf("got %v, want ErrArchive", err)
		}
	})
}
