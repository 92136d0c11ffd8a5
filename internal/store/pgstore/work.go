package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Renew implements store.Store.
func (db *DB) Renew(ctx context.Context, node string, term time.Duration) error {
	return db.read(ctx, func(ctx context.Context) error { // to do it again does no harm
		tag, err := db.pool.Exec(ctx, db.q(`INSERT INTO {s}.nodes AS n (name, until)
			VALUES ($1, coalesce($2, clock_timestamp()) + make_interval(secs => $3))
			ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE n.until > coalesce($2, clock_timestamp()) AND NOT n.freed`),
			node, db.at(), term.Seconds())
		if err == nil && tag.RowsAffected() == 0 {
			return store.ErrFenced
		}
		return err
	})
}

// BeginAttempt implements store.Store.
func (db *DB) BeginAttempt(ctx context.Context, ref store.LeaseRef, p task.Plan) (task.Task, error) {
	return db.creates.write(ctx, ref, takesOfCaps(p.Caps), func(x *txn, r *row) (task.Task, error) {
		t, err := store.Begin(r.t, p, x.now)
		if err != nil {
			return t, err
		}
		if !store.Room(p.Caps, x.inFlight) {
			return t, store.ErrRouteFull
		}
		ref.Sign(&t)
		x.save(r, t)
		return t, nil
	})
}

// Advance implements store.Store.
func (db *DB) Advance(ctx context.Context, ref store.LeaseRef, s store.Step) (task.Task, error) {
	return db.steps.write(ctx, ref, nil, func(x *txn, r *row) (task.Task, error) {
		t, changed, err := s.Apply(r.t, x.now)
		if err != nil {
			return t, err
		}
		if s.Release != nil {
			x.release(r, x.now.Add(*s.Release))
			x.rings = append(x.rings, store.TopicQueue)
		}
		if changed {
			ref.Sign(&t)
			x.save(r, t)
		}
		return t, nil
	})
}

// write makes one write under a lease, or answers one that was made already.
func (l *lane) write(
	ctx context.Context, ref store.LeaseRef, takes []take, do func(*txn, *row) (task.Task, error),
) (task.Task, error) {
	var t task.Task
	err := l.do(ctx, &op{
		needs: func(n *needs) { n.ids, n.takes = append(n.ids, ref.TaskID), append(n.takes, takes...) },
		run: func(x *txn) error {
			r, repeated, err := x.leased(ref)
			if err != nil {
				return err
			}
			if t = r.t; !repeated {
				t, err = do(x, r)
			}
			return err
		},
	})
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// RequestCancel implements store.Store.
func (db *DB) RequestCancel(ctx context.Context, s task.Scope, id string) (task.Task, error) {
	var t task.Task
	err := db.alone(ctx, &op{
		needs: func(n *needs) { n.ids = append(n.ids, id) },
		run: func(x *txn) error {
			r := x.rows[id]
			if r != nil && r.broken != nil {
				return r.broken
			}
			if r == nil || r.t.Scope != s {
				return store.ErrNotFound
			}
			after, changed, err := store.Cancel(r.t, r.node != "" && x.alive(r.node), x.now)
			if err != nil {
				return err
			}
			if changed {
				x.save(r, after)
			}
			t = after
			return nil
		},
	})
	if err != nil {
		return task.Task{}, err
	}
	return t, nil
}

// Announce implements store.Fleet.
func (db *DB) Announce(ctx context.Context, node, runs string) error {
	return db.read(ctx, func(ctx context.Context) error { // to do it again does no harm
		tag, err := db.pool.Exec(ctx, db.q(`UPDATE {s}.nodes SET runs = $2 WHERE name = $1 AND until > coalesce($3, clock_timestamp())`),
			node, runs, db.at())
		if err == nil && tag.RowsAffected() == 0 {
			return store.ErrFenced
		}
		return err
	})
}

// Nodes implements store.Fleet.
func (db *DB) Nodes(ctx context.Context) (map[string]string, error) {
	nodes := map[string]string{}
	err := db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(`SELECT name, runs FROM {s}.nodes WHERE until > coalesce($1, clock_timestamp())`), db.at())
		if err != nil {
			return err
		}
		var name, runs string
		_, err = pgx.ForEachRow(rows, []any{&name, &runs}, func() error {
			nodes[name] = runs
			return nil
		})
		return err
	})
	return nodes, err
}

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

// MarkShown implements store.Store.
func (db *DB) MarkShown(ctx context.Context, shown []task.Task) error {
	var digests []digest
	for _, t := range shown {
		if task.ValidID(task.PrefixTask, t.ID) {
			digests = append(digests, digestOf(t.Scope, t.IdempotencyHash))
		}
	}
	if len(digests) == 0 {
		return nil
	}
	return db.alone(ctx, &op{
		needs: func(n *needs) { n.digests = append(n.digests, digests...) },
		run: func(x *txn) error {
			for i := range shown {
				r := x.rows[shown[i].ID]
				if r == nil {
					continue
				}
				if after, changed := store.Show(r.t, shown[i]); changed {
					x.save(r, after)
				}
			}
			return nil
		},
	})
}
