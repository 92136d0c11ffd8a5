package node

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"unitask/internal/config"
	"unitask/internal/hint"
	"unitask/internal/secret"
	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/store/pgstore"
)

// Database is an engine with what monitoring reads of it.
type Database interface {
	Engine
	store.Gauger
	store.Loader
}

// StoreConfig configures OpenStore. Settings are required.
type StoreConfig struct {
	Settings config.Config
	OnCommit func(ops int, took time.Duration) // nil: no hook
	Logger   *slog.Logger                      // nil: discarded
}

// OpenStore opens the store that the settings name, and returns the absolute path of the data folder, which it makes.
func OpenStore(ctx context.Context, c StoreConfig) (db Database, dir string, err error) {
	if c.Settings.OneNode() {
		return openBolt(c)
	}
	if dir, err = makeData(c.Settings.DataDir); err != nil {
		return nil, "", err
	}
	url, err := storeURL(ctx, c.Settings.Store)
	if err != nil {
		return nil, "", err
	}
	open, err := pgstore.Open(ctx, pgstore.Config{URL: url, OnCommit: c.OnCommit, Machine: wallClock, Logger: c.Logger})
	if _, half := errors.AsType[*store.UnfinishedError](err); err != nil && !half { // what to do about a half copy is known
		err = hint.With(err, "the setting store names the database; unitask doctor checks it")
	}
	if err != nil {
		return nil, "", err
	}
	return open, dir, nil
}

// ClockOf returns the clock of all nodes on a store: the database's if it has one that they share, else the machine's.
func ClockOf(db any) func() time.Time {
	if shared, ok := db.(store.Timer); ok {
		return shared.Now
	}
	return wallClock
}

// CheckDatabase connects to the PostgreSQL database that the settings name, changes nothing and says what it found.
func CheckDatabase(ctx context.Context, set config.Config) (found string, err error) {
	url, err := storeURL(ctx, set.Store)
	if err != nil {
		return "", err
	}
	return pgstore.Check(ctx, pgstore.Config{URL: url})
}

func openBolt(c StoreConfig) (Database, string, error) {
	db, dir, err := OpenData(c.Settings.DataDir, boltstore.Config{
		MaxSize: int64(c.Settings.Limits.Database), OnCommit: c.OnCommit, Logger: c.Logger,
	})
	if err != nil {
		return nil, "", err
	}
	return db, dir, nil
}

// storeURL returns the database's address, which the setting may only refer to.
func storeURL(ctx context.Context, setting string) (string, error) {
	ref, err := secret.ParseRef(setting)
	if err != nil {
		return setting, nil //nolint:nilerr // it is the address itself
	}
	value, err := ref.Resolve(ctx)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(value.Reveal()), nil
}
