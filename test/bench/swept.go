package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// A store of which a part is past its retention, and the part of those that is swept before any measurement: the
// rest is for the rounds.
const (
	keptFor   = 30 * 24 * time.Hour
	oldBy     = 40 * 24 * time.Hour
	sweptPart = 0.8
)

// agedStore is a data folder with tasks in it, many of which have been swept.
type agedStore struct{ node *node }

// fillAged writes a data folder of ended tasks, of which old are past their retention, and sweeps most of them.
func (b *testbed) fillAged(ctx context.Context, stored, old int) (*agedStore, error) {
	n, err := b.newNode(ctx, nodeOptions{mode: task.Live})
	if err != nil {
		return nil, err
	}
	if err := n.stop(); err != nil {
		return nil, err
	}
	past := func() time.Time { return time.Now().Add(-oldBy) }
	if err := preload(ctx, n.database(), past, 0, old, 0); err != nil {
		return nil, err
	}
	if err := preload(ctx, n.database(), time.Now, old, stored-old, 0); err != nil {
		return nil, err
	}
	db, err := boltstore.Open(boltstore.Config{Path: n.database(), NoSync: true, SweepPause: time.Millisecond})
	if err != nil {
		return nil, err
	}
	_, err = sweep(ctx, db, int(sweptPart*float64(old)))
	return &agedStore{n}, errors.Join(err, db.Close(), flush(n.database()))
}

// sweep sweeps until so many rows are removed, or the context ends, and returns how long a step took at most.
func sweep(ctx context.Context, db *boltstore.DB, most int) (longest time.Duration, _ error) {
	for removed := 0; removed < most && ctx.Err() == nil; {
		s, err := db.Sweep(ctx, store.SweepRequest{Retention: keptFor, Limit: 1000})
		longest = max(longest, s.Longest)
		if err != nil {
			return longest, err
		}
		if s.Removed == 0 {
			return longest, errNothingOld
		}
		removed += s.Removed
	}
	return longest, nil
}

// errNothingOld ends the measurement of a sweep.
var errNothingOld = errors.New("nothing is left to sweep: take more tasks that are past their retention, with -old")

// measure creates tasks at a fixed rate in the engine itself, without and beside a sweep, then kills a server on
// the folder, takes its files from the cache and starts it again.
func (a *agedStore) measure(ctx context.Context, d time.Duration) (figures, error) {
	found, err := a.creations(ctx, d)
	if err != nil {
		return nil, err
	}
	n := a.node
	if err := n.start(ctx); err != nil {
		return nil, err
	}
	_, err = saturate(ctx, 16, warmUp(d), n.tasks("text.chat", hello, "", http.StatusOK))
	n.kill()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{n.database(), n.database() + ".log0", n.database() + ".log1"} {
		if err := dropCache(name); err != nil {
			return nil, err
		}
	}
	if err := n.start(ctx); err != nil {
		return nil, err
	}
	found[readyKilled], found[idle] = time.Since(n.started).Seconds(), n.memory("RssAnon")
	return found, n.stop()
}

// creations measures the engine's creations, without and beside a sweep.
func (a *agedStore) creations(ctx context.Context, d time.Duration) (figures, error) {
	db, err := boltstore.Open(boltstore.Config{Path: a.node.database()})
	if err != nil {
		return nil, err
	}
	quiet, err := paceCreations(ctx, db, d)
	if err == nil {
		sweeping, stop := context.WithCancel(ctx)
		var swept sync.WaitGroup
		var longest time.Duration
		var sweepErr error
		swept.Go(func() { longest, sweepErr = sweep(sweeping, db, 1<<30) })
		var beside []time.Duration
		beside, err = paceCreations(ctx, db, d)
		stop()
		swept.Wait()
		if !errors.Is(sweepErr, context.Canceled) {
			err = errors.Join(err, sweepErr)
		}
		if err == nil {
			err = db.Close()
			return figures{quietP99: quantile(quiet, 0.99), p99: quantile(beside, 0.99), sweepStep: longest.Seconds()}, err
		}
	}
	return nil, errors.Join(err, db.Close())
}

// paceCreations creates tasks, paced of them a second, and returns, sorted, how long each took.
func paceCreations(ctx context.Context, db *boltstore.DB, d time.Duration) ([]time.Duration, error) {
	due := make(chan struct{}, paced)
	go func() {
		defer close(due)
		for at, end := time.Now(), time.Now().Add(d); at.Before(end) && ctx.Err() == nil; {
			at = at.Add(time.Second / paced)
			time.Sleep(time.Until(at))
			due <- struct{}{}
		}
	}()
	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	var next atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	err := inParallel(64, func() error {
		for range due {
			i := next.Add(1)
			n := storedTask(i, time.Now())
			n.IdempotencyHash = sha256.Sum256([]byte(run + strconv.FormatInt(i, 10)))
			start := time.Now()
			c, err := db.CreateTask(ctx, n)
			passed := time.Since(start)
			if err == nil {
				err = endStored(ctx, db, c)
			}
			if err != nil {
				return err
			}
			mu.Lock()
			took = append(took, passed)
			mu.Unlock()
		}
		return nil
	})
	slices.Sort(took)
	return took, err
}
