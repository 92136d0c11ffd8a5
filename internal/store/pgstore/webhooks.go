package pgstore

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

const endpointColumns = `id, account, mode, told, addressed, patterns, states, expires, record`

// endpointRow returns the values of endpointColumns.
func endpointRow(e webhook.Endpoint) ([]any, error) {
	states := make([]string, len(e.States))
	for i, s := range e.States {
		states[i] = string(s)
	}
	record, err := json.Marshal(e)
	return []any{
		e.ID, e.Scope.Account, string(e.Scope.Mode), e.Disabled == "", e.URL != "", append([]string{}, e.Capabilities...), states, e.ExpiresAt, record,
	}, err
}

// PutEndpoint implements store.Webhooks. The account's row is locked, so that two at once count each other.
func (db *DB) PutEndpoint(ctx context.Context, e webhook.Endpoint) error {
	row, err := endpointRow(e)
	if err != nil {
		return err
	}
	return db.change(ctx, false, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, db.q(`SELECT id FROM {s}.accounts WHERE id = $1 FOR NO KEY UPDATE`), e.Scope.Account).Scan(nil); err != nil {
			return err
		}
		var taken bool
		var others int
		if err := tx.QueryRow(ctx, db.q(`SELECT EXISTS (SELECT FROM {s}.endpoints WHERE id = $4), (SELECT count(*) FROM {s}.endpoints
			WHERE account = $1 AND mode = $2 AND (expires IS NULL OR expires >= coalesce($3::timestamptz, clock_timestamp())))`),
			e.Scope.Account, string(e.Scope.Mode), db.at(), e.ID).Scan(&taken, &others); err != nil {
			return err
		}
		switch {
		case taken:
			return store.ErrExists
		case others >= webhook.MaxEndpoints:
			return store.ErrMost
		}
		return execute(ctx, tx, db.q(`INSERT INTO {s}.endpoints (`+endpointColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`), row...)
	})
}

// GetEndpoint implements store.Webhooks.
func (db *DB) GetEndpoint(ctx context.Context, s task.Scope, id string) (webhook.Endpoint, error) {
	return readRecord[webhook.Endpoint](ctx, db, `SELECT record FROM {s}.endpoints WHERE id = $1 AND account = $2 AND mode = $3`,
		id, s.Account, string(s.Mode))
}

// ListEndpoints implements store.Webhooks.
func (db *DB) ListEndpoints(ctx context.Context, s task.Scope) ([]webhook.Endpoint, error) {
	all, err := readRecords[webhook.Endpoint](ctx, db, `SELECT record FROM {s}.endpoints
		WHERE $1 = '' OR (account = $1 AND mode = $2) ORDER BY id`, s.Account, string(s.Mode))
	return append([]webhook.Endpoint{}, all...), err
}

// UpdateEndpoint implements store.Webhooks.
func (db *DB) UpdateEndpoint(ctx context.Context, id string, change func(*webhook.Endpoint) error) (webhook.Endpoint, error) {
	var e webhook.Endpoint
	err := db.change(ctx, false, func(tx pgx.Tx) (err error) {
		e, err = db.changeEndpoint(ctx, tx, id, change)
		return err
	})
	if err != nil {
		return webhook.Endpoint{}, err
	}
	db.bell.Ring(store.TopicsOfDelivery(id)...)
	return e, nil
}

// changeEndpoint changes an endpoint within a transaction.
func (db *DB) changeEndpoint(ctx context.Context, tx pgx.Tx, id string, change func(*webhook.Endpoint) error) (e webhook.Endpoint, _ error) {
	var record []byte
	if err := tx.QueryRow(ctx, db.q(`SELECT record FROM {s}.endpoints WHERE id = $1 FOR NO KEY UPDATE`), id).Scan(&record); err != nil {
		return e, err
	}
	if err := json.Unmarshal(record, &e); err != nil {
		return e, err
	}
	if err := store.ChangeEndpoint(&e, change); err != nil {
		return e, err
	}
	row, err := endpointRow(e)
	if err != nil {
		return e, err
	}
	return e, execute(ctx, tx, db.q(`UPDATE {s}.endpoints SET (`+endpointColumns+`) = ($1, $2, $3, $4, $5, $6, $7, $8, $9) WHERE id = $1`), row...)
}

// deleteBatch is how many deliveries one commit of DeleteEndpoint removes: a long one would hold up the ends of tasks.
const deleteBatch = 2000

// DeleteEndpoint implements store.Webhooks.
func (db *DB) DeleteEndpoint(ctx context.Context, id string) error {
	for gone := int64(deleteBatch); gone == deleteBatch; {
		err := db.change(ctx, false, func(tx pgx.Tx) error {
			done, err := tx.Exec(ctx, db.q(`DELETE FROM {s}.deliveries WHERE ctid = ANY(ARRAY(
				SELECT ctid FROM {s}.deliveries WHERE endpoint = $1 LIMIT $2))`), id, deleteBatch)
			gone = done.RowsAffected()
			return err
		})
		if err != nil {
			return err
		}
	}
	return db.change(ctx, false, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, db.q(`DELETE FROM {s}.endpoints WHERE id = $1 RETURNING id`), id).Scan(&id)
	})
}

// Tell implements store.Webhooks. The endpoint's row is locked first, so that of two nodes with one notice the later
// statement sees the mark.
func (db *DB) Tell(ctx context.Context, n store.Notice) error {
	told := n.Told()
	var due bool
	err := db.change(ctx, false, func(tx pgx.Tx) error {
		var now time.Time
		err := tx.QueryRow(ctx, db.q(`SELECT coalesce($2::timestamptz, clock_timestamp()), told FROM {s}.endpoints WHERE id = $1 FOR NO KEY UPDATE`),
			n.Endpoint, db.at()).Scan(&now, &due)
		if err != nil || !due {
			return err
		}
		made, err := tx.Exec(ctx, db.q(`INSERT INTO {s}.counters (scope, kind, shard, amount, ends) SELECT $1, $2, 0, 1, $3
			WHERE NOT EXISTS (SELECT FROM {s}.counters WHERE scope = $1 AND kind = $2)`), told.Scope, string(told.Kind), now.Add(n.Lasts))
		if due = made.RowsAffected() > 0; err != nil || !due {
			return err
		}
		o := n.OutgoingAt(now)
		record, err := encodeDelivery(o)
		if err != nil {
			return err
		}
		return execute(ctx, tx, db.q(`INSERT INTO {s}.deliveries (endpoint, event, state, due, kept, record) VALUES ($1, $2, 'waiting', $3, $3, $4)`),
			n.Endpoint, n.Event.ID, o.Next, record)
	})
	if err == nil && due {
		db.bell.Ring(store.TopicsOfDelivery(n.Endpoint)...)
	}
	return err
}

// deliveryLock is the advisory lock of those who claim deliveries, of all with an address or of one listener: so the most
// of an endpoint are counted by one at a time.
const deliveryLock = 0x756e6903

// dueDelivery is one that can be claimed.
type dueDelivery struct {
	store.Outgoing
	to webhook.Endpoint
}

// ClaimDeliveries implements store.Webhooks.
func (db *DB) ClaimDeliveries(ctx context.Context, c store.DeliveryClaim) ([]store.Claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, groupTime)
	defer cancel()
	var claimed []store.Claimed
	err := db.change(ctx, false, func(tx pgx.Tx) error {
		claimed = nil
		var now time.Time
		if err := tx.QueryRow(ctx, db.q(`SELECT coalesce($1::timestamptz, clock_timestamp())
			FROM (SELECT pg_advisory_xact_lock($2, hashtext('{s}' || $3))) AS l`), db.at(), int32(deliveryLock), c.Endpoint).Scan(&now); err != nil {
			return err
		}
		queues, err := db.dueDeliveries(ctx, tx, c, now)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		for _, d := range store.TakeTurns(c, queues, func(d dueDelivery) time.Time { return d.Due() }) {
			o := d.Claim(now.UTC(), c.Lease)
			if err := db.putDelivery(b, o); err != nil {
				return err
			}
			claimed = append(claimed, store.Claimed{Ref: o.Ref(), Delivery: o.Delivery, Endpoint: d.to})
		}
		if b.Len() == 0 {
			return nil
		}
		return tx.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

// dueDeliveries returns the deliveries that a claim may take, by endpoint.
func (db *DB) dueDeliveries(ctx context.Context, tx pgx.Tx, c store.DeliveryClaim, now time.Time) (queues []store.Queue[dueDelivery], _ error) {
	rows, err := tx.Query(ctx, db.q(`SELECT e.id, e.record, d.record FROM {s}.endpoints e CROSS JOIN LATERAL (
			SELECT due, event, record FROM {s}.deliveries WHERE endpoint = e.id AND due <= $1 ORDER BY due, event
			LIMIT greatest(0, least($2, $3 - (SELECT count(*) FROM {s}.deliveries l WHERE l.endpoint = e.id AND l.until > $1))) FOR UPDATE) d
		WHERE e.told AND ((e.id = $4) OR ($4 = '' AND e.addressed)) AND e.id <> ALL ($5) ORDER BY e.id, d.due, d.event`),
		now, c.Limit, c.Each, c.Endpoint, append([]string{}, c.Skip...))
	if err != nil {
		return nil, err
	}
	var id string
	var to, record []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &to, &record}, func() error {
		var d dueDelivery
		err := errors.Join(json.Unmarshal(to, &d.to), json.Unmarshal(record, &d.Outgoing))
		d.Endpoint = id
		if n := len(queues); n == 0 || queues[n-1].Due[0].Endpoint != id {
			queues = append(queues, store.Queue[dueDelivery]{Account: d.to.Scope.Account})
		}
		last := &queues[len(queues)-1]
		last.Due = append(last.Due, d)
		return err
	})
	return queues, err
}

// putDelivery changes a delivery's row.
func (db *DB) putDelivery(b *pgx.Batch, o store.Outgoing) error {
	record, err := encodeDelivery(o)
	if err == nil {
		b.Queue(db.q(`UPDATE {s}.deliveries SET state = $3, due = $4, until = $5, kept = $6, record = $7 WHERE endpoint = $1 AND event = $2`),
			o.Endpoint, o.Event.ID, string(o.State), optionalTime(o.Due()), optionalTime(o.Until), o.KeptFrom(), record)
	}
	return err
}

// EndDelivery implements store.Webhooks.
func (db *DB) EndDelivery(ctx context.Context, ref store.DeliveryRef, out store.DeliveryOutcome) error {
	return db.changeDelivery(ctx, ref.Endpoint, ref.Event, `true`, nil, func(o store.Outgoing, now time.Time) (store.Outgoing, error) {
		return o.End(ref, out, now)
	})
}

// Replay implements store.Webhooks.
func (db *DB) Replay(ctx context.Context, s task.Scope, endpoint, event string) error {
	err := db.changeDelivery(ctx, endpoint, event, `EXISTS (SELECT FROM {s}.endpoints WHERE id = $1 AND account = $4 AND mode = $5)`,
		[]any{s.Account, string(s.Mode)}, func(o store.Outgoing, now time.Time) (store.Outgoing, error) { return o.Replay(now), nil })
	if err == nil {
		db.bell.Ring(store.TopicsOfDelivery(endpoint)...)
	}
	return err
}

// changeDelivery changes a delivery under a condition.
func (db *DB) changeDelivery(
	ctx context.Context, endpoint, event, condition string, args []any, change func(store.Outgoing, time.Time) (store.Outgoing, error),
) error {
	return db.change(ctx, false, func(tx pgx.Tx) error {
		var now time.Time
		var record []byte
		err := tx.QueryRow(ctx, db.q(`SELECT coalesce($3::timestamptz, clock_timestamp()), record FROM {s}.deliveries
			WHERE endpoint = $1 AND event = $2 AND `+condition+` FOR UPDATE`), append([]any{endpoint, event, db.at()}, args...)...).Scan(&now, &record)
		if err != nil {
			return err
		}
		var o store.Outgoing
		if err := json.Unmarshal(record, &o); err != nil {
			return err
		}
		o.Endpoint = endpoint
		if o, err = change(o, now.UTC()); err != nil {
			return err
		}
		b := &pgx.Batch{}
		if err := db.putDelivery(b, o); err != nil {
			return err
		}
		return tx.SendBatch(ctx, b).Close()
	})
}

// ListDeliveries implements store.Webhooks.
func (db *DB) ListDeliveries(ctx context.Context, q store.DeliveryQuery) (page store.DeliveryPage, _ error) {
	err := db.read(ctx, func(ctx context.Context) error {
		last, err := db.lastLooked(ctx, q)
		if err != nil {
			return err
		}
		page = store.DeliveryPage{Next: last}
		rows, err := db.pool.Query(ctx, db.q(`SELECT d.endpoint, d.record FROM {s}.deliveries d JOIN {s}.endpoints e ON e.id = d.endpoint
			WHERE d.endpoint = $1 AND e.account = $2 AND e.mode = $3 AND ($4 = '' OR d.event < $4) AND ($5 = '' OR d.state = $5) AND d.event >= $7
			ORDER BY d.event DESC LIMIT $6`), q.Endpoint, q.Scope.Account, string(q.Scope.Mode), q.Cursor, string(q.State), q.PageSize()+1, last)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, scanDelivery)
		for i, o := range all {
			if i == q.PageSize() {
				page.Next = page.Deliveries[i-1].Event.ID
				break
			}
			page.Deliveries = append(page.Deliveries, o.Delivery)
		}
		return err
	})
	return page, err
}

// lastLooked returns the last delivery that the query's page looks at, "" if it may look at all.
func (db *DB) lastLooked(ctx context.Context, q store.DeliveryQuery) (event string, _ error) {
	most, bounded := q.Looks()
	if !bounded {
		return "", nil
	}
	err := db.pool.QueryRow(ctx, db.q(`SELECT coalesce((SELECT max(event) FROM (SELECT d.event FROM {s}.deliveries d JOIN {s}.endpoints e ON e.id = d.endpoint
		WHERE d.endpoint = $1 AND e.account = $2 AND e.mode = $3 AND ($4 = '' OR d.event < $4)
		ORDER BY d.event DESC OFFSET $5 LIMIT 2) AS two HAVING count(*) = 2), '')`),
		q.Endpoint, q.Scope.Account, string(q.Scope.Mode), q.Cursor, most-1).Scan(&event)
	return event, err
}

// disableFull disables the endpoints for which too many deliveries wait. Of an endpoint's, no more are counted than decide.
func (s *sweep) disableFull(ctx context.Context, r store.SweepRequest) error {
	rows, err := s.conn.Query(ctx, s.db.q(`SELECT id, waiting FROM {s}.endpoints e, LATERAL (SELECT count(*) AS waiting
			FROM (SELECT FROM {s}.deliveries d WHERE d.endpoint = e.id AND d.due IS NOT NULL LIMIT 2 * $1 + 1) AS few) AS counted
		WHERE e.told AND waiting > $1 ORDER BY id`), r.Waiting)
	if err != nil {
		return err
	}
	full := map[string]int{}
	var id string
	var waiting int
	if _, err = pgx.ForEachRow(rows, []any{&id, &waiting}, func() error { full[id] = waiting; return nil }); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(full)) {
		disabled := false
		err := pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
			_, err := s.db.changeEndpoint(ctx, tx, id, func(e *webhook.Endpoint) error {
				if disabled = r.TooFull(*e, full[id], s.now); disabled {
					e.SetDisabled(webhook.DisabledFull, s.now.UTC())
				}
				return nil
			})
			return err
		})
		switch {
		case errors.Is(err, pgx.ErrNoRows): // it was deleted meanwhile
		case err != nil:
			return err
		case disabled:
			s.disabled = append(s.disabled, id)
		}
	}
	return nil
}
