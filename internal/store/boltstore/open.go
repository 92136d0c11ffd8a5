package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/disk"
	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
	"unitask/internal/store/boltstore/wal"
)

// Config names the file and its treatment. Only Path is required.
type Config struct {
	Path    string
	MaxSize int64            // bytes; 0: as far as the disk goes
	NoSync  bool             // tests only: a power cut loses acknowledged writes
	Now     func() time.Time // default time.Now
	Logger  *slog.Logger     // default: discards
	// FlushAfter is how long the log alone may have a change; default a second.
	FlushAfter time.Duration
	// SweepPause is how long a sweep leaves the committer and the disk to others between two of its turns; default 30 ms.
	SweepPause time.Duration
	// OnCommit hears of each commit: how many operations shared it and how long it took to be on the disk. It must be
	// quick: the next commit waits for it. nil: no hook.
	OnCommit func(operations int, took time.Duration)
	// Fatal is called once when a commit failed and may yet have been applied. By default it logs and ends the
	// process; if it returns, the engine answers only errors.
	Fatal func(error)

	migrationRows int // of one commit
}

const (
	lockTimeout  = time.Second // an engine that is closing lets go within it
	initialMap   = 16 << 30    // address space only; a larger map is never moved under readers
	growth       = 16 << 20    // bytes the file grows by, less for one with a small limit
	exitSoftware = 70          // sysexits.h EX_SOFTWARE
	epochBits    = 40          // claims of one session
)

// DB is the engine. It implements every interface of package store.
type DB struct {
	path  string
	limit int64
	bolt  *bolt.DB
	now   func() time.Time
	start time.Time
	clock store.Clock
	fatal func(error)

	onCommit func(operations int, took time.Duration)
	bell     store.Bell
	idem     idem.Index
	sweeper  sweeper
	treeSize atomic.Int64  // bytes
	changes  atomic.Uint64 // of keys and accounts

	tables sync.RWMutex // held by the committer to change fresh and old, by others to read
	fresh  *table       // the rows that the log has and the tree doesn't
	old    *table       // the rows that the tree is taking, nil without a flush

	gate    sync.RWMutex // held for reading while an operation is handed over
	closed  bool
	ops     chan *op
	answers errChans

	creations, advances sync.Pool // of those that were answered

	// The committer's own.
	index    *index
	outbox   *outbox
	epoch    int64
	swept    int // rows that sweeps removed since the last table ended
	maxGroup int
	group    rows // that the group under way changes
	unused   chunks
	next     *table // empty, whose memory the next one has; nil without one
	last     string // no task beyond it is in the tree, nor in the table that it takes
	txn      txn
	waiting  []*op // of the group under way, else empty
	wal      *wal.Log
	due      *time.Timer // the tree takes the log's rows
	flushing bool
	flushed  chan flushEnd
	settled  bool // the tree has everything, and no more will come

	flushBytes  int64
	treeMost    int // bytes of the file while it takes a table; 0: as far as the disk goes
	pendingMost int // pages kept for readers up to which a flush writes the list of free pages
	flushAfter  time.Duration
	broken      atomic.Pointer[error]
	log         *slog.Logger
	quarantined atomic.Int64 // rows
	drained     chan struct{}
	shut        atomic.Bool
}

var (
	_ store.Store    = (*DB)(nil)
	_ store.Accounts = (*DB)(nil)
	_ store.Keys     = (*DB)(nil)
	_ store.Callers  = (*DB)(nil)
	_ store.Sessions = (*DB)(nil)
	_ store.UsageLog = (*DB)(nil)
	_ store.Secrets  = (*DB)(nil)
	_ store.Pauses   = (*DB)(nil)
	_ store.Webhooks = (*DB)(nil)
)

// Open opens the file, making a missing one, and takes its lock. A *LockedError says who has it.
func Open(cfg Config) (*DB, error) {
	if cfg.Path == "" {
		return nil, errors.New("boltstore: no path")
	}
	cfg = cfg.withDefaults()
	dir := filepath.Dir(cfg.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := checkFilesystem(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(cfg.Path); errors.Is(err, fs.ErrNotExist) {
		if err := create(cfg, nil); err != nil {
			return nil, fmt.Errorf("boltstore: create %s: %w", cfg.Path, err)
		}
	}
	b, err := openFile(cfg.Path, cfg.options())
	if err != nil {
		return nil, err
	}
	removeRemains(cfg.Path)
	b.AllocSize = growth
	if cfg.MaxSize > 0 {
		b.AllocSize = int(min(growth, cfg.MaxSize/16))
	}
	db, err := start(cfg, b)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return db, nil
}

// start brings the file up to date, reads the engine's memory and starts the committer.
func start(cfg Config, b *bolt.DB) (*DB, error) {
	db := &DB{
		path: cfg.Path, log: cfg.Logger, limit: cfg.MaxSize, bolt: b, now: cfg.Now, start: cfg.Now(), clock: store.NewClock(cfg.Now), fatal: cfg.Fatal, onCommit: cfg.OnCommit,
		ops: make(chan *op, groupLimit), drained: make(chan struct{}), index: newIndex(), outbox: newOutbox(),
		maxGroup: groupLimit, idem: idem.Index{Limit: idem.RunLength}, fresh: &table{}, flushed: make(chan flushEnd, 1), flushAfter: cfg.FlushAfter, pendingMost: flushPending,
		sweeper: sweeper{turn: make(chan struct{}, 1), pause: cfg.SweepPause},
	}
	db.txn = txn{undo: undo{index: db.index}, held: map[string]*counterDelta{}, sums: map[string]*sums{}, idem: map[idem.Digest]idem.Row{}}
	db.flushBytes = min(flushBytes, db.reserve()/8)
	if err := guarded(cfg.Path, func() error { return db.load(cfg) }); err != nil {
		if db.wal != nil {
			err = errors.Join(err, db.wal.Close())
		}
		return nil, err
	}
	if err := writeHolder(cfg.Path, db.start); err != nil {
		return nil, errors.Join(err, db.wal.Close())
	}
	db.due = time.NewTimer(cfg.FlushAfter)
	db.due.Stop()
	go db.commitLoop()
	return db, nil
}

// load brings the file up to date and reads the engine's memory. The start is noted in the file once its log is
// there.
func (db *DB) load(cfg Config) error {
	b := db.bolt
	if err := b.View(func(tx *bolt.Tx) error {
		if _, err := schemaOf(tx, cfg.Path); err != nil {
			return err
		}
		return unfinished(tx)
	}); err != nil {
		return err
	}
	if err := replay(b, cfg.Path); err != nil {
		return err
	}
	if err := migrate(b, cfg); err != nil {
		return err
	}
	db.keepFreelist()
	var bad []*unreadableError
	err := b.View(func(tx *bolt.Tx) error {
		k, _ := bucketTasks.of(tx).Cursor().Last()
		db.last = string(k)
		l, err := logOf(tx, cfg.Path)
		if err != nil {
			return err
		}
		db.quarantined.Store(int64(bucketQuarantine.of(tx).Stats().KeyN))
		bad = slices.Concat(loadOpen(tx, db.index, db.start.UTC()), loadIdem(tx, &db.idem), loadOutbox(tx, db.outbox))
		db.wal, err = wal.Open(cfg.Path, l.ID, l.Seq, min(wal.Room, db.reserve()/8), cfg.NoSync)
		return err
	})
	if err != nil {
		return err
	}
	if err := db.mend(bad); err != nil {
		return err
	}
	sizes, err := db.wal.Sizes()
	if err != nil {
		return err
	}
	err = b.Update(func(tx *bolt.Tx) error {
		session, err := beginSession(tx)
		db.epoch = session << epochBits
		return errors.Join(err, putLogs(tx, sizes))
	})
	if err != nil {
		return err
	}
	return db.measure()
}

// create makes a new file beside its place and moves it there whole: a power cut in the middle of
// the first pages would leave a file that can't be opened. One made meanwhile by another is kept. more, which may be
// nil, adds rows to its first commit.
func create(cfg Config, more func(*bolt.Tx) error) error {
	f, err := os.CreateTemp(filepath.Dir(cfg.Path), filepath.Base(cfg.Path)+".new-*")
	if err != nil {
		return err
	}
	name := f.Name()
	defer func() { _ = os.Remove(name) }() // gone already after a rename
	if err := f.Close(); err != nil {
		return err
	}
	b, err := bolt.Open(name, 0o600, cfg.options())
	if err != nil {
		return err
	}
	err = b.Update(func(tx *bolt.Tx) error {
		err := createBuckets(tx)
		if err == nil && more != nil {
			err = more(tx)
		}
		return err
	})
	if err := errors.Join(err, b.Close()); err != nil { // synced but with NoSync
		return err
	}
	if err := os.Link(name, cfg.Path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(name, cfg.Path); err != nil { // a file system without links
			return err
		}
	}
	if cfg.NoSync {
		return nil
	}
	return disk.SyncDir(filepath.Dir(cfg.Path))
}

// removeRemains removes the leftovers of a compaction or an image that crashed. Its lock is held.
func removeRemains(path string) {
	remains, _ := filepath.Glob(path + imagePrefix + "*") // no other error than that of a bad pattern
	for _, name := range append(remains, path+compactSuffix) {
		_ = os.Remove(name)
	}
}

func (cfg Config) withDefaults() Config {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.migrationRows == 0 {
		cfg.migrationRows = migrationRows
	}
	if cfg.FlushAfter == 0 {
		cfg.FlushAfter = flushAfter
	}
	if cfg.SweepPause == 0 {
		cfg.SweepPause = sweepPause
	}
	if cfg.OnCommit == nil {
		cfg.OnCommit = func(int, time.Duration) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Fatal == nil {
		cfg.Fatal = func(err error) {
			cfg.Logger.Error("storage failed: the process ends so that nothing false is acknowledged", "error", err)
			os.Exit(exitSoftware)
		}
	}
	return cfg
}

// options: see keepFreelist for when the list of free pages is written.
func (cfg Config) options() *bolt.Options {
	o := &bolt.Options{
		Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, NoFreelistSync: true,
		NoSync: cfg.NoSync, NoGrowSync: cfg.NoSync,
	}
	if strconv.IntSize == 64 && runtime.GOOS != "windows" { // there the file grows to its map
		o.InitialMmapSize = initialMap
	}
	return o
}

// Close implements store.Store. It may be called more than once.
func (db *DB) Close() error {
	db.gate.Lock()
	if db.closed {
		db.gate.Unlock()
		<-db.drained
		return nil
	}
	db.closed = true
	close(db.ops)
	db.gate.Unlock()
	<-db.drained
	db.due.Stop()
	db.shut.Store(true)
	var err error
	var ended bool
	if db.settled { // else the log has rows that the tree lacks
		ended, err = db.writeEnd()
	}
	err = errors.Join(err, db.wal.Close()) // some systems remove no open file
	if ended && err == nil {
		err = wal.Remove(db.path)
	}
	return errors.Join(err, removeHolder(db.path), db.bolt.Close())
}

// writeEnd commits once more: that the tree has everything, and the list of free pages, which makes the next
// start fast. Without room for it the log stays, which is no fault.
func (db *DB) writeEnd() (ended bool, err error) {
	db.bolt.NoFreelistSync = false
	err = guarded(db.path, func() error {
		return update(db.bolt, func(tx *bolt.Tx) error { return putLogs(tx, [2]int64{}) })
	})
	if errors.Is(err, store.ErrFull) {
		return false, nil
	}
	return err == nil, err
}

// nextEpoch returns an epoch higher than any before, in this session or an earlier one.
func (db *DB) nextEpoch() int64 {
	db.epoch++
	return db.epoch
}
