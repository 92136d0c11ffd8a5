package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// databaseFile is the database's name in a server's data folder.
const databaseFile = "unitask.db"

// filled is a data folder with tasks in it, written once and used by every round.
type filled struct {
	node *node
}

// fill writes a data folder of ended and waiting tasks, and makes the key for its server.
func (b *testbed) fill(ctx context.Context, ended, waiting int) (*filled, error) {
	n, err := b.newNode(ctx, nodeOptions{mode: task.Live})
	if err != nil {
		return nil, err
	}
	if err := n.stop(); err != nil {
		return nil, err
	}
	return &filled{n}, preload(ctx, n.database(), time.Now, 0, ended, waiting)
}

// preload stores tasks by the engine's own operations, without syncing, at the given time. They are numbered from
// the first one on.
func preload(ctx context.Context, path string, now func() time.Time, first, ended, waiting int) error {
	db, err := boltstore.Open(boltstore.Config{Path: path, NoSync: true, Now: now})
	if err != nil {
		return err
	}
	if err := db.Renew(ctx, storedBy, 100*365*24*time.Hour); err != nil {
		return errors.Join(err, db.Close())
	}
	var next atomic.Int64
	err = inParallel(256, func() error {
		for i := next.Add(1); i <= int64(ended+waiting) && ctx.Err() == nil; i = next.Add(1) {
			if err := preloadOne(ctx, db, storedTask(int64(first)+i, now()), i <= int64(ended)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return errors.Join(err, db.Close(), flush(path))
}

// flush brings the file to the disk, so that no measurement waits for its pages.
func flush(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// storedBy is the node that stored tasks are done by.
const storedBy = "bench"

// waitingFor is a capability that no catalog has, so that no worker takes its tasks.
const waitingFor = "bench.waiting"

var (
	storedInput  = []byte(`{"prompt":"hello"}`)
	storedAnswer = strings.Repeat("All work and no play. ", 28)
)

// storedTask is the i-th task of a large store.
func storedTask(i int64, now time.Time) store.NewTask {
	return store.NewTask{
		ID: task.NewID(task.PrefixTask, now), Scope: task.Scope{Account: "acct_" + strconv.FormatInt(i%100, 10), Mode: task.Live},
		KeyID: "key_stored", Capability: "text.chat", Sync: true, Input: storedInput, Deadline: 24 * time.Hour,
		IdempotencyHash: sha256.Sum256(strconv.AppendInt(nil, i, 10)), Fingerprint: sha256.Sum256(storedInput),
		First: &store.First{Node: storedBy, Plans: []task.Plan{{Supplier: "mock", Model: "mock"}}},
	}
}

func preloadOne(ctx context.Context, db *boltstore.DB, n store.NewTask, ends bool) error {
	if !ends {
		n.Capability, n.Sync, n.First = waitingFor, false, nil
		_, err := db.CreateTask(ctx, n)
		return err
	}
	c, err := db.CreateTask(ctx, n)
	if err != nil {
		return err
	}
	return endStored(ctx, db, c)
}

// endStored lets a task that was started succeed.
func endStored(ctx context.Context, db *boltstore.DB, c store.Created) error {
	usage := task.Usage{InputTokens: 12, OutputTokens: 120}
	_, err := db.Advance(ctx, c.Lease.Ref, store.Step{
		Close: &task.Closing{State: task.OK, Usage: &usage},
		Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: fmt.Appendf(nil, `{"text":%q,"finish_reason":"stop"}`, storedAnswer)}, usage)},
	})
	return err
}

// measure starts the server, loads it, kills it, starts it again and stops it.
func (f *filled) measure(ctx context.Context, d time.Duration) (figures, error) {
	n := f.node
	if err := n.start(ctx); err != nil {
		return nil, err
	}
	found := figures{ready: time.Since(n.started).Seconds(), idle: n.memory("RssAnon")}
	load, err := n.testbed.full(n.process, n.tasks("text.chat", hello, "", 200), 64)(ctx, d)
	if err != nil {
		n.kill()
		return nil, err
	}
	found[rate], found[anon], found[rss] = load[rate], n.memory("RssAnon"), n.memory("VmRSS")
	n.kill()
	if found[openKilled], err = openTime(n.database()); err != nil {
		return nil, err
	}
	if err := n.start(ctx); err != nil {
		return nil, err
	}
	found[readyKilled] = time.Since(n.started).Seconds()
	if err := n.stop(); err != nil {
		return nil, err
	}
	found[openClosed], err = openTime(n.database())
	info, statErr := os.Stat(n.database())
	if err := errors.Join(err, statErr); err != nil {
		return nil, err
	}
	found[size] = float64(info.Size())
	return found, nil
}

// openTime is how long bbolt alone takes to open the file as the engine does.
func openTime(path string) (float64, error) {
	start := time.Now()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, FreelistType: bolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		return 0, err
	}
	return time.Since(start).Seconds(), db.Close()
}

func (n *node) database() string { return filepath.Join(n.data, databaseFile) }
