package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"unitask/internal/config"
	"unitask/internal/server"
)

// openStoreOperator opens the store of a data folder that no server runs on. Its keys begin as the
// settings say that UNITASK_CONFIG names.
func openStoreOperator(_ context.Context, dataDir string) (operator, func() error, error) {
	settings, _, err := config.Load(config.Sources{
		File: os.Getenv("UNITASK_CONFIG"), Getenv: os.Getenv, Kinds: kindNames(),
	})
	if err != nil {
		return nil, nil, err
	}
	db, _, _, err := openData(dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, err
	}
	return &server.Operator{Keys: db, Tasks: db, Prefix: settings.KeyPrefix, Now: time.Now}, db.Close, nil
}
