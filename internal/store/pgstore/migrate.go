package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// migrations bring a schema from each version to the next, each in a transaction of its own. They are never changed
// once a release has them.
var migrations = []string{
	`
CREATE TABLE {s}.open_tasks (
	id         text COLLATE "C" PRIMARY KEY,
	digest     bytea NOT NULL UNIQUE,         -- of scope and idempotency key
	account    text COLLATE "C" NOT NULL,
	mode       text COLLATE "C" NOT NULL,
	capability text COLLATE "C" NOT NULL,
	class      text COLLATE "C" NOT NULL,     -- of those that wait together: mode and capability, '' for any worker's
	state      text NOT NULL,
	deadline   timestamptz NOT NULL,
	pause      timestamptz NOT NULL,          -- not claimable before
	node       text COLLATE "C",              -- session of the lease; NULL without one
	epoch      bigint NOT NULL,
	claim      bigint NOT NULL,               -- number of the claim in its session, 0 for another lease
	nth        int NOT NULL,                  -- of the claim's leases it is, from 0
	cancel     boolean NOT NULL,              -- its cancellation was requested
	place      text[],                        -- caps that the lease counts against until it begins an attempt
	record     bytea NOT NULL,                -- the task in JSON, without its input
	input      bytea
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1);
CREATE INDEX open_tasks_listed ON {s}.open_tasks (account, mode, id);
CREATE INDEX open_tasks_waiting ON {s}.open_tasks (class, account, id) WHERE node IS NULL;
CREATE INDEX open_tasks_leased ON {s}.open_tasks (node) WHERE node IS NOT NULL;
CREATE INDEX open_tasks_canceled ON {s}.open_tasks (node) WHERE cancel AND node IS NOT NULL;
CREATE INDEX open_tasks_late ON {s}.open_tasks (deadline) WHERE node IS NULL AND class <> '';

CREATE TABLE {s}.ended_tasks (
	part       int NOT NULL,
	id         text COLLATE "C" NOT NULL,
	digest     bytea NOT NULL,
	account    text COLLATE "C" NOT NULL,
	mode       text COLLATE "C" NOT NULL,
	capability text COLLATE "C" NOT NULL,
	state      text NOT NULL,
	epoch      bigint NOT NULL,
	updated    timestamptz NOT NULL,
	record     bytea NOT NULL
) PARTITION BY LIST (part);
CREATE INDEX ON {s}.ended_tasks (id);
CREATE INDEX ON {s}.ended_tasks (digest);
CREATE INDEX ON {s}.ended_tasks (account, mode, id);
CREATE TABLE {s}.parts (
	part   int PRIMARY KEY,
	since  timestamptz,                       -- NULL before the first sweep
	until  timestamptz                        -- it takes no more; NULL for the present one
);
CREATE TABLE {s}.ended_tasks_1 PARTITION OF {s}.ended_tasks FOR VALUES IN (1);
INSERT INTO {s}.parts (part) VALUES (1);
CREATE TABLE {s}.upkeep (one boolean PRIMARY KEY CHECK (one), until timestamptz NOT NULL); -- until when a node has the turn
INSERT INTO {s}.upkeep VALUES (true, '-infinity');

CREATE TABLE {s}.nodes (
	name  text COLLATE "C" PRIMARY KEY,
	until timestamptz NOT NULL,
	claim bigint NOT NULL DEFAULT 0,          -- number of its last claim that gave out leases
	runs  text NOT NULL DEFAULT '',           -- program and settings
	freed boolean NOT NULL DEFAULT false      -- it has run out and its leases are given up
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);
CREATE TABLE {s}.turns (
	account text COLLATE "C" PRIMARY KEY,
	turn    bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100);
CREATE INDEX ON {s}.turns (turn);

CREATE TABLE {s}.counters (
	scope  text COLLATE "C" NOT NULL,
	kind   text COLLATE "C" NOT NULL,
	shard  text COLLATE "C" NOT NULL,
	amount numeric NOT NULL,
	ends   timestamptz,                       -- from then on it is of no interest
	PRIMARY KEY (kind, scope, shard)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0);
CREATE INDEX counters_ending ON {s}.counters (ends) WHERE ends IS NOT NULL;

CREATE TABLE {s}.usage (
	kind       text COLLATE "C" NOT NULL,     -- 'usage' of an account, 'spend' at a supplier
	owner      text COLLATE "C" NOT NULL,
	day        int NOT NULL,                  -- since 1970
	mode       text COLLATE "C" NOT NULL,
	capability text COLLATE "C" NOT NULL,
	detail     text COLLATE "C" NOT NULL,     -- key or model
	shard      text COLLATE "C" NOT NULL,
	n1 numeric NOT NULL, n2 numeric NOT NULL, n3 numeric NOT NULL, n4 numeric NOT NULL, n5 numeric NOT NULL,
	n6 numeric NOT NULL, n7 numeric NOT NULL, n8 numeric NOT NULL, n9 numeric NOT NULL,
	PRIMARY KEY (kind, owner, day, mode, capability, detail, shard)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
	autovacuum_vacuum_cost_delay = 0);
CREATE INDEX usage_days ON {s}.usage (day);

CREATE TABLE {s}.accounts (
	id     text COLLATE "C" PRIMARY KEY,
	name   text COLLATE "C" NOT NULL UNIQUE,
	record bytea NOT NULL
);
CREATE TABLE {s}.keys (
	id        text COLLATE "C" PRIMARY KEY,
	account   text COLLATE "C" NOT NULL REFERENCES {s}.accounts,
	hash      bytea NOT NULL UNIQUE,
	record    bytea NOT NULL,
	last_used timestamptz
) WITH (fillfactor = 50);
CREATE TABLE {s}.links (
	hash    bytea PRIMARY KEY,
	account text COLLATE "C" NOT NULL REFERENCES {s}.accounts,
	expires timestamptz NOT NULL,
	record  bytea NOT NULL
);
CREATE TABLE {s}.sessions (
	hash    bytea PRIMARY KEY,
	account text COLLATE "C" NOT NULL REFERENCES {s}.accounts,
	expires timestamptz NOT NULL,
	record  bytea NOT NULL
);
CREATE TABLE {s}.secrets (name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE {s}.changes (one boolean PRIMARY KEY CHECK (one), count bigint NOT NULL);
INSERT INTO {s}.changes VALUES (true, 1);
`,
	`
ALTER TABLE {s}.nodes DROP COLUMN runs;
CREATE UNLOGGED TABLE {s}.notes (             -- what each node said last; a crash of the server may forget them
	node text COLLATE "C" PRIMARY KEY,
	note bytea NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
	toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000);
`,
	`
ALTER TABLE {s}.usage
	ADD n10 numeric NOT NULL DEFAULT 0, ADD n11 numeric NOT NULL DEFAULT 0, ADD n12 numeric NOT NULL DEFAULT 0,
	ADD n13 numeric NOT NULL DEFAULT 0, ADD n14 numeric NOT NULL DEFAULT 0, ADD n15 numeric NOT NULL DEFAULT 0,
	ADD n16 numeric NOT NULL DEFAULT 0, ADD n17 numeric NOT NULL DEFAULT 0, ADD n18 numeric NOT NULL DEFAULT 0,
	ADD n19 numeric NOT NULL DEFAULT 0;
`,
	`
CREATE TABLE {s}.endpoints (
	id       text COLLATE "C" PRIMARY KEY,
	account  text COLLATE "C" NOT NULL REFERENCES {s}.accounts,
	mode     text COLLATE "C" NOT NULL,
	told     boolean NOT NULL,                -- it isn't disabled
	addressed boolean NOT NULL,               -- it is no listener
	patterns text[] NOT NULL,                 -- of capabilities; none: all
	states   text[] NOT NULL,                 -- none: all
	expires  timestamptz,
	record   bytea NOT NULL
);
CREATE INDEX endpoints_scope ON {s}.endpoints (account, mode);
CREATE INDEX endpoints_expiring ON {s}.endpoints (expires) WHERE expires IS NOT NULL;

CREATE TABLE {s}.deliveries (
	endpoint text COLLATE "C" NOT NULL REFERENCES {s}.endpoints ON DELETE CASCADE,
	event    text COLLATE "C" NOT NULL,
	state    text COLLATE "C" NOT NULL,
	due      timestamptz,                     -- of one that waits: the end of its pause or its lease
	until    timestamptz,                     -- the end of its lease
	kept     timestamptz NOT NULL,            -- from when its life is counted
	record   bytea NOT NULL,                  -- without the endpoint
	PRIMARY KEY (endpoint, event)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX deliveries_due ON {s}.deliveries (endpoint, due, event) WHERE due IS NOT NULL;
CREATE INDEX deliveries_leased ON {s}.deliveries (endpoint, until) WHERE until IS NOT NULL;
CREATE INDEX deliveries_kept ON {s}.deliveries (kept);
`,
}

// migrateLock is the advisory lock of those who change a schema.
const migrateLock = 0x756e69_0001

// migrate brings the schema up to date. Nodes that start at once take turns.
func (db *DB) migrate(ctx context.Context) error {
	for {
		done, err := db.migrateOnce(ctx)
		if err != nil {
			return fmt.Errorf("pgstore: schema %s: %w", db.schema, err)
		}
		if done {
			return nil
		}
	}
}

func (db *DB) migrateOnce(ctx context.Context) (done bool, err error) {
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		version := 0
		err := errors.Join(
			execute(ctx, tx, "SELECT pg_advisory_xact_lock($1)", int64(migrateLock)),
			execute(ctx, tx, db.q("DO $$ BEGIN IF to_regnamespace('{s}') IS NULL THEN CREATE SCHEMA {s}; END IF; END $$")), // the right isn't needed later
			execute(ctx, tx, db.q("CREATE TABLE IF NOT EXISTS {s}.version (one boolean PRIMARY KEY CHECK (one), version int NOT NULL)")),
			execute(ctx, tx, db.q("INSERT INTO {s}.version VALUES (true, 0) ON CONFLICT DO NOTHING")),
		)
		if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, db.q("SELECT version FROM {s}.version")).Scan(&version); err != nil {
			return err
		}
		switch {
		case version > len(migrations):
			return newer(version)
		case version == len(migrations):
			done = true
			return nil
		}
		err = execute(ctx, tx, db.q(migrations[version]))
		return errors.Join(err, execute(ctx, tx, db.q("UPDATE {s}.version SET version = $1"), version+1))
	})
	return done, err
}

func execute(ctx context.Context, tx pgx.Tx, sql string, args ...any) error {
	_, err := tx.Exec(ctx, sql, args...)
	return err
}
