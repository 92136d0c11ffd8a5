package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
)

// Exchange implements store.Fleet.
func (db *DB) Exchange(ctx context.Context, node string, note []byte) (others map[string][]byte, err error) {
	if err := store.CheckNote(note); err != nil {
		return nil, err
	}
	err = db.read(ctx, func(ctx context.Context) error { // to do it again does no harm
		rows, err := db.pool.Query(ctx, db.q(exchange), node, note, db.at())
		if err != nil {
			return err
		}
		others = map[string][]byte{}
		alive := false
		var name string
		var said []byte
		_, err = pgx.ForEachRow(rows, []any{&name, &said}, func() error {
			if name == node {
				alive = true
			} else {
				others[name] = said
			}
			said = nil
			return nil
		})
		if err == nil && !alive {
			return store.ErrFenced
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return others, nil
}

// exchange writes a note, unless it is the one that is there, and returns the nodes with a session and the others' notes.
const exchange = `
WITH alive AS (SELECT name FROM {s}.nodes WHERE until > coalesce($3, clock_timestamp()) AND NOT freed),
own AS (INSERT INTO {s}.notes AS n (node, note) SELECT name, coalesce($2::bytea, '') FROM alive WHERE name = $1
	ON CONFLICT (node) DO UPDATE SET note = excluded.note WHERE n.note <> excluded.note)
SELECT a.name, n.note FROM alive a LEFT JOIN {s}.notes n ON n.node = a.name AND a.name <> $1`

// ListCanceled implements store.Fleet.
func (db *DB) ListCanceled(ctx context.Context, node string) (ids []string, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(`SELECT id FROM {s}.open_tasks WHERE cancel AND node = $1`), node)
		if err == nil {
			ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return ids, err
}

// Worker implements store.Fleet.
func (db *DB) Worker(ctx context.Context, id string) (node string, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		err := db.pool.QueryRow(ctx, db.q(`SELECT coalesce(node, '') FROM {s}.open_tasks WHERE id = $1`), id).Scan(&node)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return node, err
}
