package node

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"unitask/internal/backup"
	"unitask/internal/config"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/pgstore"
	"unitask/internal/task"
)

// Place is where a whole store is kept: in a data folder, or in a PostgreSQL database.
type Place struct {
	Folder string // absolute; "" for a database

	name string
	url  string
}

// ParsePlace reads the path of a folder, or the address of a database or a reference to it, as the setting store has
// them.
func ParsePlace(ctx context.Context, text string) (Place, error) {
	scheme, _, found := strings.Cut(text, ":")
	reference := found && (scheme == "env" || scheme == "file" || scheme == "keyring")
	if !reference && !strings.Contains(text, "://") {
		abs, err := filepath.Abs(text)
		return FolderPlace(abs), err
	}
	if err := config.CheckDatabase(text); err != nil {
		return Place{}, err
	}
	url, err := storeURL(ctx, text)
	return Place{name: text, url: url}, err
}

// FolderPlace is a data folder.
func FolderPlace(dir string) Place { return Place{Folder: dir, name: dir} }

// String names the place without a password.
func (p Place) String() string { return p.name }

// Source opens the store for reading. It fails while a node works on it.
func (p Place) Source(ctx context.Context) (store.Source, error) {
	if p.Folder != "" {
		return boltstore.OpenOffline(filepath.Join(p.Folder, backup.DatabaseName))
	}
	return pgstore.OpenOffline(ctx, pgstore.Config{URL: p.url})
}

// Target opens the place for a copy. It makes a missing folder.
func (p Place) Target(ctx context.Context, of store.CopyOf) (store.Target, error) {
	if p.Folder == "" {
		return pgstore.OpenTarget(ctx, pgstore.Config{URL: p.url}, of)
	}
	dir, err := makeData(p.Folder)
	if err != nil {
		return nil, err
	}
	return boltstore.OpenTarget(filepath.Join(dir, backup.DatabaseName), of)
}

// EndOpen fails every task of the store that isn't terminal, as store.EndStep does, and returns how many there were. It
// fails while a node works on the store.
func (p Place) EndOpen(ctx context.Context, f task.Failure) (n int, err error) {
	var db interface {
		EndOpen(ctx context.Context, f task.Failure) (int, error)
		Close() error
	}
	if p.Folder == "" {
		db, err = pgstore.Open(ctx, pgstore.Config{URL: p.url})
	} else {
		db, _, err = OpenData(p.Folder, boltstore.Config{})
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.EndOpen(ctx, f)
}
