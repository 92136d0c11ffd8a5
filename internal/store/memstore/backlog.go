package memstore

import (
	"context"

	"unitask/internal/store"
	"unitask/internal/webhook"
)

var _ store.Backlogger = (*DB)(nil)

// Backlog implements store.Backlogger.
func (db *DB) Backlog(ctx context.Context) (map[string]store.Backlog, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	all := map[string]store.Backlog{}
	for id := range db.endpoints {
		for _, o := range db.deliveriesTo(id) {
			if o.State != webhook.Waiting {
				continue
			}
			b := all[id]
			if b.Waiting == 0 {
				b.Oldest = o.Event.At
			}
			b.Waiting++
			all[id] = b
		}
	}
	return all, nil
}
