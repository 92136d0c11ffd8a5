package sdk_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"unitask/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// need returns the path of a program, or says that this part isn't tested here.
func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed, and CI must run this test", tool)
	}
	t.Skipf("%s is not installed: this part isn't tested here", tool)
	return ""
}

// readAll reads the files of a library, so that go test knows that a result from its cache depends on them.
func readAll(t *testing.T, dir string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			_, err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameLicense checks that a library's license is the project's: packers take only a file that lies in the library's folder.
func sameLicense(t *testing.T, file string) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	want, err := os.ReadFile("../../LICENSE")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s isn't the project's license (%v)", file, err)
	}
}

// archived returns the names of the files in an archive, in order.
func archived(t *testing.T, file string) (names []string) {
	t.Helper()
	raw, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	plain, err := gzip.NewReader(raw)
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(plain)
	for {
		h, err := files.Next()
		if err == io.EOF {
			slices.Sort(names)
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}
