package memstore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"unitask/internal/store"
)

// PutPause implements store.Pauses.
func (db *DB) PutPause(ctx context.Context, p store.Pause) error {
	record, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	db.secrets[store.PauseName(p.Supplier)] = record
	return nil
}

// DeletePause implements store.Pauses.
func (db *DB) DeletePause(ctx context.Context, supplier string) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	delete(db.secrets, store.PauseName(supplier))
	return nil
}

// ListPauses implements store.Pauses.
func (db *DB) ListPauses(ctx context.Context) ([]store.Pause, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	var all []store.Pause
	for _, name := range slices.Sorted(maps.Keys(db.secrets)) {
		if !store.IsPause(name) {
			continue
		}
		var p store.Pause
		if err := json.Unmarshal(db.secrets[name], &p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
