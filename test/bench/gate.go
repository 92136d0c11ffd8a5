package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/gate"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

// gated measures the gate's part of a request: the key is proven, counted against its rate and its account's, the
// fields are written and the holds of a task computed. It runs in this process, on the engine's own file, with keys
// taken at random; the commit of the holds isn't in it.
func gated(keys int) func(context.Context, time.Duration) (figures, error) {
	return func(ctx context.Context, d time.Duration) (f figures, err error) {
		dir, err := os.MkdirTemp("", "unitask-bench-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		db, err := boltstore.Open(boltstore.Config{Path: filepath.Join(dir, "unitask.db"), NoSync: true})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		headers, err := putKeys(ctx, db, keys)
		if err != nil {
			return nil, err
		}
		g, err := gate.New(gate.Config{Keys: db, Prefix: account.DefaultKeyPrefix, Defaults: gate.Defaults{
			CreatesPerMinute: 1 << 30, ReadsPerMinute: 2400, OpenTasks: 64, Queue: 100_000,
		}})
		if err != nil {
			return nil, err
		}
		for _, header := range headers { // each was used before
			if err := admit(ctx, g, header); err != nil {
				return nil, err
			}
		}
		return sample(ctx, g, headers, d)
	}
}

// putKeys makes keys of one account with every kind of limit, many in a commit, and returns the headers
// that send them.
func putKeys(ctx context.Context, db *boltstore.DB, n int) ([]string, error) {
	now := time.Now().UTC()
	limits := account.Limits{CreatesPerMinute: 1 << 30, Budget: task.MaxMoney, BudgetPeriod: account.Day}
	owner := account.Account{ID: task.NewID(task.PrefixAccount, now), Name: "bench", Limits: limits, CreatedAt: now}
	if err := db.PutAccount(ctx, owner); err != nil {
		return nil, err
	}
	headers := make([]string, n)
	const writers = 256
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < n && errs[w] == nil; i += writers {
				secret := account.NewKeySecret(account.DefaultKeyPrefix, task.Live)
				headers[i] = "Bearer " + secret
				errs[w] = db.PutKey(ctx, account.Key{
					ID: task.NewID(task.PrefixKey, now), Account: owner.ID, Name: fmt.Sprint("key ", i), Mode: task.Live,
					Hash: account.HashSecret(secret), Hint: account.Hint(secret), Scopes: []string{"text.*"}, Limits: limits, CreatedAt: now,
				})
			}
		})
	}
	all.Wait()
	return headers, errors.Join(errs...)
}

var kept struct { // a request's inputs, so that the compiler removes no work
	policy, state string
	holds         []task.Hold
}

// admit runs the gate's part of one creation.
func admit(ctx context.Context, g *gate.Gate, header string) error {
	c, err := g.Authenticate(ctx, header)
	if err != nil {
		return err
	}
	quotas, err := g.Count(c, gate.Creates)
	if err != nil || !c.Opens("text.chat") {
		return errors.Join(err, errors.New("the gate refuses a request of the benchmark"))
	}
	kept.policy, kept.state, kept.holds = quotas.Policy(), quotas.State(), g.Holds(*c, task.USD, task.USD)
	return nil
}

// sample times single requests, one after the other.
func sample(ctx context.Context, g *gate.Gate, headers []string, d time.Duration) (figures, error) {
	const most = 2_000_000
	took := make([]time.Duration, 0, most)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for end := time.Now().Add(d); len(took) < most && time.Now().Before(end); {
		header := headers[rand.IntN(len(headers))]
		start := time.Now()
		if err := admit(ctx, g, header); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	runtime.ReadMemStats(&after)
	slices.Sort(took)
	return figures{
		p50: quantile(took, 0.5), p99: quantile(took, 0.99), allocations: float64(after.Mallocs-before.Mallocs) / float64(len(took)),
	}, nil
}
