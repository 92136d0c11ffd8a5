package boltstore

import (
	"context"
	"runtime"
)

// SweepStep, SweepFlush and MaxSweep bound a sweep: rows of a turn, of a flush and of a call.
const (
	SweepStep  = sweepStep
	SweepFlush = sweepFlush
	MaxSweep   = maxSweep
)

// HoldCommitter keeps the committer busy until release is called. queue starts an operation and returns once the
// committer has it waiting.
func HoldCommitter(db *DB) (queue func(func()), release func()) {
	entered, free := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- db.do(context.Background(), &op{run: func(*txn) error {
			entered <- struct{}{}
			<-free
			return nil
		}})
	}()
	<-entered
	queue = func(run func()) {
		waiting := len(db.ops)
		go run()
		for len(db.ops) == waiting {
			runtime.Gosched()
		}
	}
	return queue, func() {
		close(free)
		<-ended
	}
}

// FailRun lets the idempotency log, however short, become a run that finds no room; between is called while the
// run is on its way.
func FailRun(db *DB, between func()) {
	set(db, func() {
		limit := db.idem.Limit
		db.idem.Limit = 0
		db.idem.BeginRun()
		db.idem.Limit = limit
	})
	between()
	set(db, func() { db.idem.EndRun(false) })
}
