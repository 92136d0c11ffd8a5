package boltstore

import (
	"context"
	"encoding/json"

	"unitask/internal/store"
)

// PutPause implements store.Pauses.
func (db *DB) PutPause(ctx context.Context, p store.Pause) error {
	record, err := json.Marshal(p) // bare: rows of this bucket are copied to other engines as they are
	if err != nil {
		return err
	}
	return db.do(ctx, &op{writes: true, run: func(x *txn) error { return x.put(bucketSecrets, store.PauseName(p.Supplier), record) }})
}

// DeletePause implements store.Pauses.
func (db *DB) DeletePause(ctx context.Context, supplier string) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if name := store.PauseName(supplier); x.has(bucketSecrets, []byte(name)) {
			return x.del(bucketSecrets, name)
		}
		return nil
	}})
}

// ListPauses implements store.Pauses.
func (db *DB) ListPauses(ctx context.Context) ([]store.Pause, error) {
	var all []store.Pause
	err := db.view(ctx, func(r *reader) error {
		all = nil
		for _, raw := range r.ascend(bucketSecrets, []byte(store.PauseName("")), []byte(store.PausesEnd)) {
			var p store.Pause
			if err := json.Unmarshal(raw, &p); err != nil {
				return err
			}
			all = append(all, p)
		}
		return nil
	})
	return all, err
}
