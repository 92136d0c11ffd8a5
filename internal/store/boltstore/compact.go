package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/disk"
	"unitask/internal/store"
)

const (
	compactSuffix = ".compact"
	compactCommit = 4 << 20  // bytes that one commit copies
	compactGrowth = 64 << 10 // bytes by which the new file grows: little is left over
)

// Compact writes the file anew without its free pages, and returns its size in bytes before and
// after. The new file takes the old one's place whole, once it is on the disk: a crash leaves one of
// them. A *LockedError says who works on it; ErrFull that there is no room for both files.
func Compact(path string) (before, after int64, err error) {
	if _, err := os.Stat(path); err != nil {
		return 0, 0, err
	}
	old, err := openFile(path, Config{}.options())
	if err != nil {
		return 0, 0, err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, old.Close())
		}
	}()
	if err := allValid(path); err != nil {
		return 0, 0, err
	}
	if err := settle(old, path); err != nil {
		return 0, 0, err
	}
	if before, err = compactRoom(old, path); err != nil {
		return 0, 0, err
	}
	fresh := path + compactSuffix
	defer func() { _ = os.Remove(fresh) }() // gone already after a rename
	_ = os.Remove(fresh)                    // bbolt would continue a file that is there, or follow a link
	if err := guarded(path, func() error { return compactInto(fresh, old) }); err != nil {
		return 0, 0, fmt.Errorf("boltstore: compact %s: %w", path, err)
	}
	if runtime.GOOS == "windows" { // an open file can't be replaced there
		open = false
		if err := old.Close(); err != nil {
			return 0, 0, err
		}
	}
	if err := os.Rename(fresh, path); err != nil {
		return 0, 0, err
	}
	if err := disk.SyncDir(filepath.Dir(path)); err != nil {
		return 0, 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	return before, info.Size(), nil
}

// compactRoom returns the size of the file, once it is sure that another one fits beside it.
func compactRoom(old *bolt.DB, path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	tx, err := old.Begin(true) // only a writer counts the free pages
	if err != nil {
		return 0, err
	}
	used := tx.Size()
	_, err = schemaOf(tx, path)
	if err := errors.Join(err, tx.Rollback()); err != nil {
		return 0, err
	}
	stats := old.Stats()
	used -= int64(stats.FreePageN+stats.PendingPageN) * int64(old.Info().PageSize)
	if free, _, ok := diskSpace(filepath.Dir(path)); ok && free < used+compactGrowth {
		return 0, fmt.Errorf("%w: the new file needs up to %d bytes, %d are free", store.ErrFull, used+compactGrowth, free)
	}
	return info.Size(), nil
}

// compactInto copies the rows into a new file and syncs it.
func compactInto(fresh string, old *bolt.DB) error {
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) { // a crash left it
		return err
	}
	o := Config{NoSync: true}.options() // one sync at the end is enough
	o.NoFreelistSync, o.InitialMmapSize = false, 0
	b, err := bolt.Open(fresh, 0o600, o)
	if err != nil {
		return err
	}
	b.AllocSize = compactGrowth
	return errors.Join(bolt.Compact(b, old, compactCommit), b.Sync(), b.Close())
}
