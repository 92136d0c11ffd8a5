package boltstore

import (
	"context"
	"errors"

	"unitask/internal/store"
)

var _ store.Backlogger = (*DB)(nil)

// Backlog implements store.Backlogger. Rows that can't be read count: the next start mends them.
func (db *DB) Backlog(ctx context.Context) (map[string]store.Backlog, error) {
	all := map[string]store.Backlog{}
	err := db.refusal(ctx, db.view(ctx, func(r *reader) error {
		clear(all)
		return countWaiting(ctx, r, all)
	}))
	if err != nil {
		return nil, err
	}
	return all, nil
}

// countWaiting counts the rows of `waiting`, of which an endpoint's stand together, the oldest task's first.
func countWaiting(ctx context.Context, r *reader, all map[string]store.Backlog) error {
	seen := 0
	for k := range r.ascend(bucketWaiting, nil, nil) {
		if seen++; seen%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		endpoint, _, ok := parseDelivery(k)
		if !ok {
			continue
		}
		b, counted := all[endpoint]
		if !counted {
			if r.get(bucketEndpoints, []byte(endpoint)) == nil { // a sweep removes those of deleted ones
				continue
			}
			var o store.Outgoing
			var bad *unreadableError
			err := getJSON(r, bucketDeliveries, k, &o)
			if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.As(err, &bad) {
				return err
			}
			b.Oldest = o.Event.At
		}
		b.Waiting++
		all[endpoint] = b
	}
	return nil
}
