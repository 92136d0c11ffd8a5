package pgstore

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// ending is a task's end.
type ending struct {
	scope task.Scope
	event webhook.Event
}

// writeDeliveries records the deliveries of the tasks that ended, as store.Wants has it, to the endpoints that are there
// when the statement runs: to each that was acknowledged before.
func (x *txn) writeDeliveries(b *pgx.Batch) error {
	if len(x.events) == 0 {
		return nil
	}
	var accounts, modes, capabilities, states, events []string
	var records [][]byte
	var due []time.Time
	for _, e := range x.events {
		o := store.OutgoingOf("", e.event)
		record, err := encodeDelivery(o)
		if err != nil {
			return err
		}
		accounts, modes = append(accounts, e.scope.Account), append(modes, string(e.scope.Mode))
		capabilities, states = append(capabilities, e.event.Capability), append(states, string(e.event.State))
		events, records, due = append(events, e.event.ID), append(records, record), append(due, o.Next)
	}
	b.Queue(x.db.q(`INSERT INTO {s}.deliveries (endpoint, event, state, due, kept, record)
		SELECT e.id, t.event, 'waiting', t.due, t.due, t.record
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::bytea[])
			AS t (account, mode, capability, state, event, due, record)
		JOIN {s}.endpoints e ON e.account = t.account AND e.mode = t.mode
		WHERE e.told AND (e.states = '{}' OR t.state = ANY(e.states)) AND (e.patterns = '{}' OR EXISTS (
			SELECT FROM unnest(e.patterns) p WHERE p IN ('*', t.capability) OR (p LIKE '%.*' AND starts_with(t.capability, left(p, -1)))))
		FOR KEY SHARE OF e RETURNING endpoint`), accounts, modes, capabilities, states, events, due, records).Query(func(rows pgx.Rows) error {
		var endpoint string
		_, err := pgx.ForEachRow(rows, []any{&endpoint}, func() error {
			x.rings = append(x.rings, store.TopicsOfDelivery(endpoint)...)
			return nil
		})
		return err
	})
	return nil
}

// encodeDelivery returns a record: the endpoint stands beside it.
func encodeDelivery(o store.Outgoing) ([]byte, error) {
	o.Endpoint = ""
	return json.Marshal(o)
}

func scanDelivery(row pgx.CollectableRow) (o store.Outgoing, err error) {
	var endpoint string
	var record []byte
	if err = row.Scan(&endpoint, &record); err == nil {
		err = json.Unmarshal(record, &o)
	}
	o.Endpoint = endpoint
	return o, err
}

// optionalTime returns NULL for the zero time.
func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
