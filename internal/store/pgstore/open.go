package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Config configures a DB. URL is required.
type Config struct {
	URL      string // as libpq's, and with schema=… for Schema: postgres://user@host/database?sslmode=…
	Schema   string // the tables' schema, made if it is missing; "": that of URL, or unitask
	Lanes    int    // groups that commit beside each other, for creations and for steps each; 0: 2
	OnCommit func(ops int, took time.Duration)
	Now      func() time.Time // for tests alone; nil: the database's clock
	Machine  func() time.Time // the machine's clock, with a monotonic reading; nil: time.Now
	Logger   *slog.Logger     // nil: discarded
}

// DB is the engine. It implements every interface of package store and is safe for concurrent use.
type DB struct {
	pool   *pgxpool.Pool    // of reads, claims, cancellations and upkeep
	work   *pgxpool.Pool    // of the lanes and the session: no other reader makes them wait
	schema string           // quoted
	now    func() time.Time // nil: the database's clock
	clock  *clock
	log    *slog.Logger
	commit func(ops int, took time.Duration)
	shards atomic.Int32  // given out to lanes
	prefix string        // of this engine's shards
	idle   time.Duration // see idleTime

	bell    store.Bell
	creates *lane // CreateTask and BeginAttempt: they take counters
	steps   *lane // Advance: it gives back
	large   *lane // Advance with a large result
	finds   *lane // FindTask
	hints   hints
	latest  latest
	broken  broken

	changes  atomic.Uint64 // of accounts and keys, as far as they were seen
	counted  atomic.Uint64 // by the database, as last seen
	gauges   cached[store.Gauges]
	services sync.WaitGroup
	stop     context.CancelFunc
	mu       sync.RWMutex // held for reading while an operation is under way
	closed   bool
}

var (
	_ store.Store    = (*DB)(nil)
	_ store.Registry = (*DB)(nil)
	_ store.Secrets  = (*DB)(nil)
	_ store.Pauses   = (*DB)(nil)
	_ store.Gauger   = (*DB)(nil)
	_ store.Loader   = (*DB)(nil)
	_ store.Fleet    = (*DB)(nil)
	_ store.Timer    = (*DB)(nil)
)

// readers is how many connections there are beside those of the lanes and the session.
const readers = 8

// Open connects, brings the schema up to date and starts the engine. It fails if the database can't be reached or has
// a newer schema than this program knows, and with a *store.UnfinishedError while a copy is under way into it.
func Open(ctx context.Context, c Config) (*DB, error) {
	c = c.withDefaults()
	db, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := db.prepareAgain(ctx); err != nil {
		db.disconnect()
		return nil, err
	}
	commit := func(group []*op, shard string) { db.commitGroup(db.work, group, shard) }
	db.creates, db.steps = newLane(db, c.Lanes, groupLimit, commit), newLane(db, c.Lanes, groupLimit, commit)
	db.large, db.finds = newLane(db, 1, 1, commit), newLane(db, c.Lanes, groupLimit, db.findGroup)
	watch, stop := context.WithCancel(context.Background())
	db.stop = stop
	db.services.Go(func() { db.watchChanges(watch) })
	return db, nil
}

// connect makes an engine that isn't started.
func connect(ctx context.Context, c Config) (*DB, error) {
	conf, err := c.pool()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("pgstore: %w", err)
	}
	conf = conf.Copy()
	conf.MaxConns = int32(3*c.Lanes + 2)
	work, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("pgstore: %w", err)
	}
	return &DB{
		pool: pool, work: work, schema: pgx.Identifier{c.Schema}.Sanitize(), now: c.Now, clock: newClock(c.Machine), log: c.Logger,
		commit: c.OnCommit, idle: idleTime, prefix: task.NewID("", time.Now())[10:18], // random characters
	}, nil
}

// prepareAgain is prepare, again while connections are lost: a PgBouncer may hand out several that ended with the server
// that it had before.
func (db *DB) prepareAgain(ctx context.Context) error {
	for giveUp := time.Now().Add(tryTime); ; time.Sleep(tryPause) {
		err := db.prepare(ctx)
		if err == nil || !lostConnection(err) || ctx.Err() != nil || time.Now().After(giveUp) {
			return err
		}
	}
}

// prepare makes the database ready for an engine.
func (db *DB) prepare(ctx context.Context) error {
	if err := db.migrate(ctx); err != nil {
		return err
	}
	mark, err := db.readMark(ctx)
	if err != nil {
		return err
	}
	if mark != nil {
		return &store.UnfinishedError{From: mark.From}
	}
	if err := db.readChanges(ctx); err != nil {
		return fmt.Errorf("pgstore: %w", err)
	}
	return nil
}

func (c Config) withDefaults() Config {
	if u, err := url.Parse(c.URL); err == nil && u.Query().Has(schemaParameter) {
		q := u.Query()
		c.Schema = cmp.Or(c.Schema, q.Get(schemaParameter))
		q.Del(schemaParameter)
		u.RawQuery = q.Encode()
		c.URL = u.String()
	}
	c.Schema, c.Lanes = cmp.Or(c.Schema, "unitask"), cmp.Or(c.Lanes, 2)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Machine == nil {
		c.Machine = time.Now
	}
	if c.OnCommit == nil {
		c.OnCommit = func(int, time.Duration) {}
	}
	return c
}

// schemaParameter is the URL's parameter that is not for the database's driver.
const schemaParameter = "schema"

// pool returns the settings of the readers' pool: its size is the URL's, if that names one.
func (c Config) pool() (*pgxpool.Config, error) {
	if strings.Trim(c.Schema, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return nil, fmt.Errorf("pgstore: schema %q: lower-case letters, digits and underscores are allowed", c.Schema)
	}
	conf, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, errors.New("pgstore: the database's URL isn't valid") // the error may show a password
	}
	if !strings.Contains(c.URL, "pool_max_conns") {
		conf.MaxConns = readers
	}
	if conf.ConnConfig.ConnectTimeout == 0 {
		conf.ConnConfig.ConnectTimeout = readTime
	}
	conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sessionSettings)
		return err
	}
	return conf, nil
}

// sessionSettings are those of each connection. The server gives up one whose node fell silent, also within a batch,
// with the locks that it holds. Plans are made for the tables as they are: one that was made for an empty part reads all
// of it when it has grown. Groups have their own way, see settings.
const sessionSettings = `
SET idle_in_transaction_session_timeout = '5s';
SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 11000;
SET plan_cache_mode = force_custom_plan; SET jit = off`

// Close implements store.Store.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	db.mu.Unlock()
	db.stop()
	db.creates.close()
	db.steps.close()
	db.large.close()
	db.finds.close()
	db.services.Wait()
	db.disconnect()
	return nil
}

func (db *DB) disconnect() {
	db.pool.Close()
	db.work.Close()
}

// enter counts an operation in until it calls db.mu.RUnlock, or returns store.ErrClosed.
func (db *DB) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.RLock()
	if db.closed {
		db.mu.RUnlock()
		return store.ErrClosed
	}
	return nil
}

// Wake implements store.Store. It hears of this node's commits alone.
func (db *DB) Wake(topic string) (<-chan struct{}, func()) { return db.bell.Wake(topic) }

// q returns a statement with the schema's name for each {s}.
func (db *DB) q(text string) string { return strings.ReplaceAll(text, "{s}", db.schema) }

// at returns the parameter that stands for the present in a statement: NULL, the database's clock, except in tests.
func (db *DB) at() *time.Time {
	if db.now == nil {
		return nil
	}
	return new(db.now())
}
