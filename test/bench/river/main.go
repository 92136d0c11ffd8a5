// Command river measures River, a queue of jobs in PostgreSQL, as test/bench measures unitask: each caller inserts a job
// in a transaction of its own and waits for its end. It prints one line of JSON. Its module is its own, so that River is
// no dependency of unitask.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

func main() {
	var o options
	flag.StringVar(&o.url, "url", "", "address of an empty `database`")
	flag.IntVar(&o.callers, "callers", 64, "how many jobs are under way")
	flag.IntVar(&o.connections, "connections", 20, "size of the pool")
	flag.DurationVar(&o.warmUp, "warm-up", time.Second, "how long it runs before it is measured")
	flag.DurationVar(&o.duration, "d", 4*time.Second, "how long it is measured")
	flag.DurationVar(&o.fetch, "fetch", time.Millisecond, "how long River waits between two fetches; its default is 100 ms, and a second without a notice")
	flag.BoolVar(&o.own, "own", false, "workers end their jobs in transactions of their own, not in River's batches")
	flag.Parse()
	found, err := measure(context.Background(), o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

type options struct {
	url                  string
	callers, connections int
	warmUp, duration     time.Duration
	fetch                time.Duration
	own                  bool
}

// found are the figures, in seconds and jobs a second.
type found struct {
	Rate float64 `json:"rate"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
}

// mostWorkers is so many that no job waits for one.
const mostWorkers = 2000

func measure(ctx context.Context, o options) (found, error) {
	conf, err := pgxpool.ParseConfig(o.url)
	if err != nil {
		return found{}, err
	}
	conf.MaxConns = int32(o.connections)
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return found{}, err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return found{}, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return found{}, err
	}
	b := &bench{options: o, pool: pool, ended: map[int64]chan struct{}{}}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{bench: b})
	b.client, err = river.NewClient(driver, &river.Config{
		FetchCooldown: o.fetch, FetchPollInterval: o.fetch, Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: mostWorkers}},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return found{}, err
	}
	return b.run(ctx)
}

// bench is a client of River and the callers that wait for jobs.
type bench struct {
	options
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]

	mu    sync.Mutex
	ended map[int64]chan struct{} // by job; closed if it ended before its caller waited
}

// job is as large as a short chat.
type job struct {
	Input string `json:"input"`
}

// Kind implements river.JobArgs.
func (job) Kind() string { return "bench" }

type worker struct {
	river.WorkerDefaults[job]
	bench *bench
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, j *river.Job[job]) error {
	if err := river.RecordOutput(ctx, answer); err != nil {
		return err
	}
	if !w.bench.own {
		return nil
	}
	err := pgx.BeginFunc(ctx, w.bench.pool, func(tx pgx.Tx) error {
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, j)
		return err
	})
	if err == nil {
		w.bench.end(j.ID)
	}
	return err
}

var answer = strings.Repeat("All work and no play. ", 28)

func (b *bench) run(ctx context.Context) (found, error) {
	events, unsubscribe := b.client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: 100_000, Kinds: []river.EventKind{river.EventKindJobCompleted},
	})
	defer unsubscribe()
	if !b.own {
		go func() {
			for e := range events {
				b.end(e.Job.ID)
			}
		}()
	}
	if err := b.client.Start(ctx); err != nil {
		return found{}, err
	}
	if _, err := b.load(ctx, b.warmUp); err != nil {
		return found{}, err
	}
	took, err := b.load(ctx, b.duration)
	if err != nil || len(took) == 0 {
		return found{}, errors.Join(err, b.client.Stop(ctx))
	}
	slices.Sort(took)
	at := func(q float64) float64 { return took[int(float64(len(took)-1)*q)].Seconds() }
	return found{float64(len(took)) / b.duration.Seconds(), at(0.50), at(0.99)}, b.client.Stop(ctx)
}

// load keeps the callers busy, and returns how long each job took that ended in time.
func (b *bench) load(ctx context.Context, d time.Duration) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wait sync.WaitGroup
	end := time.Now().Add(d)
	for range b.callers {
		wait.Go(func() {
			for time.Now().Before(end) {
				start := time.Now()
				err := b.one(ctx)
				mu.Lock()
				failed = errors.Join(failed, err)
				if err == nil && time.Now().Before(end) {
					all = append(all, time.Since(start))
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	return all, failed
}

// one inserts a job and waits for its end.
func (b *bench) one(ctx context.Context) error {
	inserted, err := b.client.Insert(ctx, job{"hello"}, nil)
	if err != nil {
		return err
	}
	select {
	case <-b.signal(inserted.Job.ID):
	case <-time.After(time.Minute):
		return fmt.Errorf("job %d doesn't end", inserted.Job.ID)
	}
	b.mu.Lock()
	delete(b.ended, inserted.Job.ID)
	b.mu.Unlock()
	return nil
}

func (b *bench) end(id int64) { close(b.signal(id)) }

// signal returns what is closed at the end of a job.
func (b *bench) signal(id int64) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.ended[id]
	if c == nil {
		c = make(chan struct{})
		b.ended[id] = c
	}
	return c
}
