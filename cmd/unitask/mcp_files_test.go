package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOffered: a tool sends files of the offered folders alone, whatever path or link leads elsewhere.
func TestOffered(t *testing.T) {
	base := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("in/a.txt", "a text")
	write("in/empty.txt", "")
	write("in/deep/b.txt", "a text")
	write("also/c.txt", "a text")
	write("out/secret.txt", "a secret")
	for link, to := range map[string]string{"in/link.txt": "../out/secret.txt", "in/folder": "../out", "in/inner.txt": "a.txt"} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Skip(err) // Windows may not allow it
		}
	}
	o := offered{filepath.Join(base, "in"), filepath.Join(base, "also")}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"a.txt": true, "deep/b.txt": true, "c.txt": true, "inner.txt": true,
		filepath.Join(base, "in/a.txt"): true, filepath.Join(base, "also/c.txt"): true,
		"": false, ".": false, "empty.txt": false, "none.txt": false, "link.txt": false, "folder/secret.txt": false,
		"../out/secret.txt": false, filepath.Join(base, "out/secret.txt"): false, filepath.Join(base, "in/../out/secret.txt"): false, "/etc/hostname": false,
	} {
		f, err := o.open(path)
		if (err == nil) != want {
			t.Errorf("%q: %v, want taken: %t", path, err, want)
		}
		if f != nil {
			_ = f.open.Close()
		}
	}
	for _, dir := range []string{filepath.Join(base, "none"), filepath.Join(base, "in/a.txt")} {
		if (offered{dir}).check() == nil {
			t.Errorf("%s is a folder", dir)
		}
	}
}
