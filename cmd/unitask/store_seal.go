package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"unitask/internal/backup"
	"unitask/internal/disk"
	"unitask/internal/secret"
)

// sealFlags name the file of the key that seals backups.
type sealFlags struct{ keyFile string }

func (f *sealFlags) add(cmd *cobra.Command, does string) {
	cmd.Flags().StringVar(&f.keyFile, "key-file", "",
		"the `file` of the key that seals backups; "+does+" (UNITASK_BACKUP_KEY_FILE, else backup.key in the data folder)")
}

func (f *sealFlags) path(dir string) string {
	return cmp.Or(f.keyFile, os.Getenv("UNITASK_BACKUP_KEY_FILE"), filepath.Join(dir, backup.KeyName))
}

// key reads the key; errors.Is(err, fs.ErrNotExist) without one.
func (f *sealFlags) key(dir string) (backup.Key, error) {
	path, err := filepath.Abs(f.path(dir))
	if err != nil {
		return backup.Key{}, err
	}
	if _, err := os.Stat(path); err != nil {
		return backup.Key{}, err
	}
	ref, err := secret.ParseRef("file:" + path)
	if err != nil {
		return backup.Key{}, err
	}
	text, err := ref.Resolve(context.Background())
	if err != nil {
		return backup.Key{}, err
	}
	key, err := backup.ParseKey(text.Reveal())
	if err != nil {
		return backup.Key{}, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// ownKey returns the key of the data folder, or a fresh one if it is missing.
func (f *sealFlags) ownKey(dir string) (key backup.Key, fresh bool, err error) {
	if key, err = f.key(dir); errors.Is(err, fs.ErrNotExist) {
		return backup.NewKey(), true, nil
	}
	return key, false, err
}

// writeKey makes a key's file, which must not be there.
func writeKey(path string, key backup.Key) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(key.Text() + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path)) // half a key would be taken for the key
	}
	return disk.SyncDir(filepath.Dir(path))
}
