package pgstore

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
)

var _ store.Backlogger = (*DB)(nil)

// Backlog implements store.Backlogger.
func (db *DB) Backlog(ctx context.Context) (map[string]store.Backlog, error) {
	var all map[string]store.Backlog
	err := db.read(ctx, func(ctx context.Context) error {
		all = map[string]store.Backlog{}
		rows, err := db.pool.Query(ctx, db.q(`SELECT w.endpoint, w.waiting, d.record
			FROM (SELECT endpoint, count(*) AS waiting, min(event) AS event FROM {s}.deliveries WHERE due IS NOT NULL GROUP BY endpoint) w
			JOIN {s}.deliveries d ON d.endpoint = w.endpoint AND d.event = w.event`))
		if err != nil {
			return err
		}
		var endpoint string
		var record []byte
		var b store.Backlog
		_, err = pgx.ForEachRow(rows, []any{&endpoint, &b.Waiting, &record}, func() error {
			var o store.Outgoing
			err := json.Unmarshal(record, &o)
			b.Oldest = o.Event.At
			all[endpoint] = b
			return err
		})
		return err
	})
	return all, err
}
