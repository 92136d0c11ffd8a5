package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"unitask/internal/api"
	"unitask/internal/backup"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/disk"
	"unitask/internal/hint"
	"unitask/internal/node"
	"unitask/internal/operator"
	"unitask/internal/requestlog"
)

// openStoreOperator opens the store of a data folder that no server runs on, or the database that the settings name.
// The settings are those that UNITASK_CONFIG names.
func openStoreOperator(ctx context.Context, dataDir string) (operatorAPI, func() error, error) {
	settings, directory, err := config.Load(node.NamedSources(""))
	if err != nil {
		return nil, nil, err
	}
	if settings.OneNode() {
		if err := mustHoldData(dataDir); err != nil {
			return nil, nil, err
		}
	}
	settings.DataDir = dataDir
	db, abs, err := node.OpenStore(ctx, node.StoreConfig{Settings: settings})
	if err != nil {
		return nil, nil, err
	}
	return operator.Owner{Operator: &operator.Operator{
		Store: db, Tasks: db, Requests: requestlog.Folder(filepath.Join(abs, node.RequestsName)), Prefix: settings.KeyPrefix,
		Server: api.Info{BaseURL: settings.BaseURL}, Now: node.ClockOf(db),
		DirectoryFunc: func() *catalog.Catalog { return directory },
	}}, db.Close, nil
}

// mustHoldData refuses a folder without a database.
func mustHoldData(dataDir string) error {
	if _, err := os.Stat(filepath.Join(dataDir, backup.DatabaseName)); errors.Is(err, os.ErrNotExist) {
		return &hint.UsageError{
			Message: "no data of unitask in " + dataDir,
			Hint:    "unitask serve --data-dir " + dataDir + " makes it; or check --data-dir",
		}
	}
	return disk.Own(dataDir)
}
