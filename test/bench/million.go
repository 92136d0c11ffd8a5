package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store"
	"unitask/internal/store/pgstore"
)

// million is a database with many ended tasks, from which each measurement has a copy of its own.
type million struct {
	testbed *testbed
	name    string
}

// copies are how the rows of many tasks come from that of a real one: each with its id, digest and account.
const copies = `INSERT INTO unitask.ended_tasks
	SELECT part, n.id, decode(md5(n.id), 'hex'), n.account, mode, capability, state, epoch, updated,
		convert_to(replace(convert_from(record, 'UTF8'), t.id, n.id), 'UTF8')
	FROM (SELECT * FROM unitask.ended_tasks LIMIT 1) AS t,
		(SELECT 'task_0' || lpad(i::text, 25, '0') AS id, 'acct_' || i % 100 AS account FROM generate_series(1, $1) AS i) AS n`

// fillMillion makes a database on which a node has carried out one task, and adds so many of its like. nil without a
// server.
func (b *testbed) fillMillion(ctx context.Context, tasks int) (*million, error) {
	d, err := b.openDatabase()
	if d == nil || err != nil {
		return nil, err
	}
	name, err := d.create(ctx, "template1")
	if err != nil {
		return nil, err
	}
	f, err := b.newFleet(ctx, d, d.url(name), 1)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	one, err := dial(ctx, f.chats()[0])
	if err != nil {
		return nil, err
	}
	if err := one.exchange(1); err != nil {
		return nil, err
	}
	one.close()
	if err := f.nodes[0].stop(); err != nil {
		return nil, err
	}
	c, err := d.connect(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close(ctx) }()
	if _, err := c.Exec(ctx, copies, tasks); err != nil {
		return nil, err
	}
	for _, sql := range []string{"VACUUM (ANALYZE) unitask.ended_tasks", "CHECKPOINT"} { // no measurement is to wait for it
		if _, err := c.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	return &million{b, name}, nil
}

// measure loads a node on a copy of the database, and then sends at a fixed rate without and beside a sweep of all the
// tasks that were there.
func (m *million) measure(ctx context.Context, t time.Duration) (figures, error) {
	if m == nil {
		return nil, nil
	}
	b := m.testbed
	return b.onDatabase(m, func(ctx context.Context, d *database, name string, t time.Duration) (figures, error) {
		f, err := b.newFleet(ctx, d, d.url(name), 1)
		if err != nil {
			return nil, err
		}
		defer f.remove()
		found := figures{ready: time.Since(f.nodes[0].started).Seconds()}
		if _, err := saturate(ctx, 64, fleetWarmUp(t), f.chats()...); err != nil {
			return nil, err
		}
		loaded, err := f.saturated(ctx, 64, t)
		if err != nil {
			return nil, err
		}
		quiet, err := b.steady(f.chats()[0], fleetPaced)(ctx, t)
		if err != nil {
			return nil, err
		}
		s, err := newSweeper(ctx, d, name)
		if err != nil {
			return nil, err
		}
		beside, err := s.during(func() (figures, error) { return b.steady(f.chats()[0], fleetPaced)(ctx, t) })
		if err != nil {
			return nil, err
		}
		found[rate], found[anon] = loaded[rate], loaded[anon]
		found[quietP99], found[p99], found[sweepTime] = quiet[p99], beside[p99], s.took.Seconds()
		return found, nil
	})(ctx, t)
}

// sweeper sweeps the first part of the ended tasks.
type sweeper struct {
	db   *pgstore.DB
	conn *pgx.Conn
	took time.Duration
}

// newSweeper lets the first part take no more tasks.
func newSweeper(ctx context.Context, d *database, name string) (*sweeper, error) {
	c, err := d.connect(ctx, name)
	if err != nil {
		return nil, err
	}
	db, err := pgstore.Open(ctx, pgstore.Config{URL: d.url(name)})
	if err != nil {
		return nil, err
	}
	s := &sweeper{db: db, conn: c}
	if _, err := c.Exec(ctx, fmt.Sprintf("UPDATE unitask.parts SET since = now() - interval '%d hours'", int(oldBy.Hours()))); err != nil {
		return nil, err
	}
	_, err = db.Sweep(ctx, store.SweepRequest{Retention: keptFor, Limit: 1})
	return s, err
}

// during removes the part while f measures.
func (s *sweeper) during(f func() (figures, error)) (figures, error) {
	ctx := context.Background()
	if _, err := s.conn.Exec(ctx, fmt.Sprintf("UPDATE unitask.parts SET until = now() - interval '%d hours' WHERE part = 1", int(oldBy.Hours()))); err != nil {
		return nil, err
	}
	var swept sync.WaitGroup
	var sweepErr error
	start := time.Now()
	swept.Go(func() {
		_, sweepErr = s.db.Sweep(ctx, store.SweepRequest{Retention: keptFor, Limit: 1})
		s.took = time.Since(start)
	})
	found, err := f()
	swept.Wait()
	parts := 0
	err = errors.Join(err, sweepErr, s.conn.QueryRow(ctx, "SELECT count(*) FROM unitask.parts").Scan(&parts))
	if err == nil && parts != 1 {
		err = errNothingOld
	}
	return found, errors.Join(err, s.db.Close(), s.conn.Close(ctx))
}
