package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"unitask/internal/store"
	"unitask/internal/task"
)

// end is the second round trip: it writes and commits. ErrUnknown if the answer was lost.
func (x *txn) end(ctx context.Context) error {
	b := &pgx.Batch{}
	if err := x.writeRows(b); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	x.writeCounters(b)
	x.writeUsage(b)
	x.writeTurns(b)
	if err := x.writeDeliveries(b); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	for node, number := range x.claims {
		b.Queue(x.db.q(`UPDATE {s}.nodes SET claim = $2 WHERE name = $1`), node, number)
	}
	b.Queue("COMMIT")
	err := x.conn.SendBatch(ctx, b).Close()
	if err == nil || refused(err) {
		return known(err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, err)
}

// columns are the rows of a statement, column by column.
type columns struct {
	ids, accounts, modes, capabilities, classes, states, nodes, places []string
	digests, records, inputs                                           [][]byte
	epochs, claims                                                     []int64
	deadlines, pauses                                                  []pgtype.Timestamptz
	updated                                                            []time.Time
	cancels                                                            []bool
	parts, nths                                                        []int
}

func (c *columns) add(r *row) error {
	record, input, err := encode(r.t)
	if err != nil {
		return err
	}
	c.ids, c.accounts, c.modes = append(c.ids, r.t.ID), append(c.accounts, r.t.Scope.Account), append(c.modes, string(r.t.Scope.Mode))
	c.capabilities, c.classes = append(c.capabilities, r.t.Capability), append(c.classes, classOf(&r.t))
	c.states, c.nodes, c.places = append(c.states, string(r.t.State)), append(c.nodes, r.node), append(c.places, joined(r.place))
	c.digests, c.records, c.inputs = append(c.digests, r.digest[:]), append(c.records, record), append(c.inputs, input)
	c.epochs, c.claims, c.nths = append(c.epochs, r.epoch), append(c.claims, r.claim), append(c.nths, r.nth)
	c.deadlines, c.pauses = append(c.deadlines, stamp(r.t.DeadlineAt)), append(c.pauses, stamp(r.pause))
	c.updated, c.parts, c.cancels = append(c.updated, r.t.UpdatedAt), append(c.parts, r.part), append(c.cancels, r.t.CancelRequested)
	return nil
}

// writeRows brings the changed rows to their tables.
func (x *txn) writeRows(b *pgx.Batch) error {
	var inserted, updated, ended, reopened, shown columns
	for _, r := range x.changed() {
		to := &updated
		switch terminal := r.t.State.Terminal(); {
		case r.stands == nowhere:
			to = &inserted
		case r.stands == inOpen && terminal:
			to, r.part = &ended, x.part
		case r.stands == inEnded && !terminal:
			to = &reopened
		case r.stands == inEnded:
			to = &shown
		}
		if err := to.add(r); err != nil {
			return err
		}
	}
	x.insertOpen(b, &inserted)
	x.insertOpen(b, &reopened)
	x.updateOpen(b, &updated)
	if len(reopened.ids) > 0 {
		b.Queue(x.db.q(`DELETE FROM {s}.ended_tasks WHERE id = ANY($1)`), reopened.ids)
	}
	if len(ended.ids) > 0 {
		b.Queue(x.db.q(`DELETE FROM {s}.open_tasks WHERE id = ANY($1)`), ended.ids)
		b.Queue(x.db.q(`INSERT INTO {s}.ended_tasks (part, id, digest, account, mode, capability, state, epoch, updated, record)
			SELECT * FROM unnest($1::int[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
				$9::timestamptz[], $10::bytea[])`),
			ended.parts, ended.ids, ended.digests, ended.accounts, ended.modes, ended.capabilities, ended.states, ended.epochs,
			ended.updated, ended.records)
	}
	if len(shown.ids) > 0 {
		b.Queue(x.db.q(`UPDATE {s}.ended_tasks e SET record = t.record FROM unnest($1::text[], $2::bytea[]) AS t (id, record)
			WHERE e.id = t.id`), shown.ids, shown.records)
	}
	return nil
}

func (x *txn) insertOpen(b *pgx.Batch, c *columns) {
	if len(c.ids) == 0 {
		return
	}
	b.Queue(x.db.q(`INSERT INTO {s}.open_tasks (id, digest, account, mode, capability, class, state, deadline, pause, node, epoch, claim, nth,
			cancel, place, record, input)
		SELECT id, digest, account, mode, capability, class, state, deadline, pause, nullif(node, ''), epoch, claim, nth, cancel,
			string_to_array(nullif(place, ''), E'\n'), record, input
		FROM unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
			$9::timestamptz[], $10::text[], $11::bigint[], $12::bigint[], $13::int[], $14::boolean[], $15::text[],
			$16::bytea[], $17::bytea[]) AS t (id, digest, account, mode, capability, class, state, deadline, pause, node, epoch, claim, nth,
			cancel, place, record, input)`),
		c.ids, c.digests, c.accounts, c.modes, c.capabilities, c.classes, c.states, c.deadlines, c.pauses, c.nodes, c.epochs, c.claims,
		c.nths, c.cancels, c.places, c.records, c.inputs)
}

func (x *txn) updateOpen(b *pgx.Batch, c *columns) {
	if len(c.ids) == 0 {
		return
	}
	b.Queue(x.db.q(`UPDATE {s}.open_tasks o SET class = t.class, state = t.state, pause = t.pause, node = nullif(t.node, ''), epoch = t.epoch,
			claim = t.claim, nth = t.nth, cancel = t.cancel, place = string_to_array(nullif(t.place, ''), E'\n'), record = t.record
		FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::bigint[], $7::bigint[], $8::int[], $9::boolean[], $10::text[],
			$11::bytea[]) AS t (id, class, state, pause, node, epoch, claim, nth, cancel, place, record)
		WHERE o.id = t.id`),
		c.ids, c.classes, c.states, c.pauses, c.nodes, c.epochs, c.claims, c.nths, c.cancels, c.places, c.records)
}

// classOf returns the class in which a task waits: that of its mode and capability, or that of any worker's.
func classOf(t *task.Task) string {
	if t.OpenAttempt() != nil || t.CancelRequested {
		return ""
	}
	return lineOf(t.Scope.Mode, t.Capability)
}

func lineOf(mode task.Mode, capability string) string { return string(mode) + " " + capability }

// writeTurns records the accounts' turns, and forgets those of accounts without open tasks.
func (x *txn) writeTurns(b *pgx.Batch) {
	if len(x.turns) > 0 {
		var accounts []string
		var turns []int64
		for a, n := range x.turns {
			accounts, turns = append(accounts, a), append(turns, n)
		}
		b.Queue(x.db.q(`INSERT INTO {s}.turns AS t SELECT * FROM unnest($1::text[], $2::bigint[]) ON CONFLICT (account) DO UPDATE SET turn = excluded.turn`),
			accounts, turns)
	}
	var ended []string
	for _, r := range x.rows {
		if r.dirty && r.stands == inOpen && r.t.State.Terminal() {
			ended = append(ended, r.t.Scope.Account)
		}
	}
	if len(ended) > 0 {
		b.Queue(x.db.q(`DELETE FROM {s}.turns t WHERE account = ANY($1) AND NOT EXISTS (SELECT 1 FROM {s}.open_tasks o WHERE o.account = t.account)`),
			ended)
	}
}
