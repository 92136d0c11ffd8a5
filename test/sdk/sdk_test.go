package sdk_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
