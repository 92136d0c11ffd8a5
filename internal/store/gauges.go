package store

import (
	"context"
	"time"
)

// Gauger is an optional interface of an engine: how it stands, for monitoring.
type Gauger interface {
	// Gauges reads without a commit, and cheaply enough for every scrape.
	Gauges(ctx context.Context) (Gauges, error)
}

// Loader is an optional interface of an engine: the work at suppliers.
type Loader interface {
	// InFlight returns how many attempts are open under each limit, by its key.
	InFlight(ctx context.Context) (map[string]int, error)
}

// Backlogger is an optional interface of an engine: the deliveries that wait.
type Backlogger interface {
	// Backlog counts them by endpoint, without those that have none.
	Backlog(ctx context.Context) (map[string]Backlog, error)
}

// Backlog is the deliveries of an endpoint that wait.
type Backlog struct {
	Waiting int64
	Oldest  time.Time // when the task ended that was accepted first of theirs
}

// Gauges is how an engine stands at a moment.
type Gauges struct {
	Stats
	Free   int64 // bytes that may still be written before new work is refused for want of room
	Leases int64 // tasks that a worker holds
	// Quarantined counts rows that couldn't be read and were set aside.
	Quarantined int64
	// Lost counts the acknowledged writes that this node found gone since its start, after the database was away.
	Lost   int64
	Oldest time.Duration // since the acceptance of the oldest queued task; 0 without one

	Waiting int64         // deliveries that wait, MaxWaiting at most where they are counted for each scrape
	Overdue time.Duration // of the delivery that has been due for longest, to an endpoint with an address that isn't disabled
}
