package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/store/pgstore/pgtest"
)

// database is a PostgreSQL server of the run, as docs/scaling.md sets one up: each commit reaches the disk.
type database struct {
	*pgtest.Server
	made int // databases on it
}

var databaseSettings = map[string]string{
	"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "15min", "track_wal_io_timing": "on",
	"max_connections": "600",
}

// openDatabase starts the server, once. nil: its programs are missing.
func (b *testbed) openDatabase() (*database, error) {
	if b.database != nil {
		return b.database, nil
	}
	s, err := pgtest.New(pgtest.Config{Sync: true, Settings: databaseSettings})
	if s == nil {
		fmt.Fprintln(os.Stderr, "bench: PostgreSQL isn't measured:", err)
		return nil, nil
	}
	b.database = &database{Server: s}
	return b.database, err
}

// onDatabase measures on a fresh database, a copy of the template if one is named, and drops it.
func (b *testbed) onDatabase(
	template *million, measure func(ctx context.Context, d *database, name string, t time.Duration) (figures, error),
) func(context.Context, time.Duration) (figures, error) {
	return func(ctx context.Context, t time.Duration) (found figures, err error) {
		d, err := b.openDatabase()
		if d == nil || err != nil {
			return nil, err
		}
		from := "template1"
		if template != nil {
			from = template.name
		}
		name, err := d.create(ctx, from)
		if err != nil {
			return nil, err
		}
		found, err = measure(ctx, d, name, t)
		if dropped := d.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)"); err == nil {
			err = dropped
		}
		return found, err
	}
}

// create makes a database. It ends in a checkpoint, so that none falls into the measurement.
func (d *database) create(ctx context.Context, template string) (string, error) {
	d.made++
	name := "bench" + strconv.Itoa(d.made)
	return name, d.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy")
}

// url returns the address of a database.
func (d *database) url(name string) string { return "postgres://unitask@/" + name + "?host=" + d.Dir() }

// connect returns a connection to a database.
func (d *database) connect(ctx context.Context, name string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, d.url(name))
}

// synced returns how long the server has synced its log so far, in seconds.
func (d *database) synced(ctx context.Context) (seconds float64, err error) {
	c, err := d.connect(ctx, "postgres")
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close(ctx) }()
	err = c.QueryRow(ctx, "SELECT wal_sync_time / 1000 FROM pg_stat_wal").Scan(&seconds)
	return seconds, err
}
