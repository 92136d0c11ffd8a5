package pgstore

import (
	"context"
	"encoding/json"

	"unitask/internal/store"
)

// PutPause implements store.Pauses.
func (db *DB) PutPause(ctx context.Context, p store.Pause) error {
	record, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return db.exec(ctx, false, `INSERT INTO {s}.secrets VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
		store.PauseName(p.Supplier), record)
}

// DeletePause implements store.Pauses.
func (db *DB) DeletePause(ctx context.Context, supplier string) error {
	return db.exec(ctx, false, `DELETE FROM {s}.secrets WHERE name = $1`, store.PauseName(supplier))
}

// ListPauses implements store.Pauses.
func (db *DB) ListPauses(ctx context.Context) ([]store.Pause, error) {
	return readRecords[store.Pause](ctx, db, `SELECT value FROM {s}.secrets WHERE name >= $1 AND name < $2 ORDER BY name`,
		store.PauseName(""), store.PausesEnd)
}
