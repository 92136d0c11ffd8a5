package disk_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"

	"unitask/internal/disk"
)

// TestSyncDir is about folders that are there and not; test/power takes the power away.
func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := disk.SyncDir(dir); err != nil {
		t.Errorf("SyncDir: %v", err)
	}
	if err := disk.SyncDir(filepath.Join(dir, "gone")); runtime.GOOS != "windows" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SyncDir of a folder that isn't there: got %v, want fs.ErrNotExist", err)
	}
}
