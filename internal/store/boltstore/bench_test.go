package boltstore_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"unitask/internal/store"
	"unitask/internal/store/boltstore"
	"unitask/internal/task"
)

const benchCallers = 64

// BenchmarkCreate creates tasks of about 1.5 KiB from 64 goroutines, each in a durable commit. The
// control is the same engine with one operation a commit.
func BenchmarkCreate(b *testing.B) {
	for _, c := range []struct {
		name  string
		group int
	}{{"grouped", 1024}, {"one_a_commit", 1}} {
		b.Run(c.name, func(b *testing.B) {
			db := mustOpen(b, boltstore.Config{Path: filepath.Join(b.TempDir(), "unitask.db")})
			boltstore.SetGroupLimit(db, c.group)
			perSecond(b, func() error {
				_, err := db.CreateTask(context.Background(), benchTask())
				return err
			})
		})
	}
}

// BenchmarkSynchronous runs tasks whole in their two commits: created and started, then ended.
func BenchmarkSynchronous(b *testing.B) {
	db := mustOpen(b, boltstore.Config{Path: filepath.Join(b.TempDir(), "unitask.db")})
	perSecond(b, func() error { return runWhole(db) })
}

// BenchmarkSynchronousAt does so on a store that holds ended tasks already.
func BenchmarkSynchronousAt(b *testing.B) {
	for _, stored := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(stored), func(b *testing.B) {
			db := mustOpen(b, boltstore.Config{Path: filled(b, stored, 0)})
			perSecond(b, func() error { return runWhole(db) })
		})
	}
}

// BenchmarkOpen opens a store with ended and waiting tasks, after a clean end and after a crash.
func BenchmarkOpen(b *testing.B) {
	for _, c := range []struct{ ended, waiting int }{{100_000, 1_000}, {1_000_000, 1_000}, {0, 100_000}} {
		path := filled(b, c.ended, c.waiting)
		for _, end := range []string{"closed", "crashed"} {
			b.Run(fmt.Sprintf("%d_ended/%d_waiting/%s", c.ended, c.waiting, end), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					if end == "crashed" {
						if err := boltstore.DropFreelist(path); err != nil {
							b.Fatal(err)
						}
					}
					b.StartTimer()
					db, err := boltstore.Open(boltstore.Config{Path: path})
					b.StopTimer()
					if err != nil {
						b.Fatal(err)
					}
					if err := db.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func perSecond(b *testing.B, run func() error) {
	b.SetParallelism(max(1, benchCallers/runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := run(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

var (
	benchKey    atomic.Uint64
	benchInput  = []byte(`{"prompt":"` + strings.Repeat("word ", 100) + `"}`)
	benchOutput = strings.Repeat("word ", 60)
)

func hashOf(n uint64) task.Hash { return sha256.Sum256(binary.BigEndian.AppendUint64(nil, n)) }

func benchTask() store.NewTask {
	n := freshTask()
	n.IdempotencyHash = hashOf(benchKey.Add(1))
	n.Input = benchInput
	n.Holds = append(n.Holds,
		task.Hold{Scope: "key:1:2026-11", Kind: task.HoldBudget, Amount: 5, Limit: 1 << 60},
		task.Hold{Scope: "queue", Kind: task.HoldQueue, Amount: 1, Limit: 1 << 60},
	)
	return n
}

func runWhole(db *boltstore.DB) error {
	n := benchTask()
	n.First = &store.First{Node: testNode, Plans: []task.Plan{{
		Supplier: "s", Model: "m", Caps: []task.Cap{{Key: "supplier:s", Limit: 1000}},
	}}}
	c, err := db.CreateTask(context.Background(), n)
	if err != nil {
		return err
	}
	usage := task.Usage{OutputTokens: 20}
	_, err = db.Advance(context.Background(), c.Lease.Ref, store.Step{
		Close: &task.Closing{State: task.OK, Usage: &usage},
		Moves: []task.Transition{task.Transfer(), task.Succeed(task.Output{JSON: fmt.Appendf(nil, `{"text":%q}`, benchOutput)}, usage)},
	})
	return err
}

// filled returns a closed store with so many ended and waiting tasks.
func filled(b *testing.B, ended, waiting int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "unitask.db")
	db, err := boltstore.Open(boltstore.Config{Path: path, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	mustRenew(b, db)
	var left atomic.Int64
	fill := func(n int, run func() error) {
		left.Store(int64(n))
		done := make(chan error)
		for range benchCallers {
			go func() {
				for left.Add(-1) >= 0 {
					if err := run(); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range benchCallers {
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		}
	}
	fill(ended, func() error { return runWhole(db) })
	fill(waiting, func() error {
		_, err := db.CreateTask(context.Background(), benchTask())
		return err
	})
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}
