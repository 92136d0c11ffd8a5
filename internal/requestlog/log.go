// Package requestlog keeps which requests were answered: request id → key, account, task, code, duration.
//
// Support finds a task by a request in it, and the requests of a task. It never holds a key, an input, an output or a
// supplier's name. Requests don't wait for it: a line is appended to memory and written a moment later, and when the
// disk can't keep up, lines are dropped and counted; the server's log says how many. A crash of the process loses the
// lines of the last quarter of a second, a power cut all lines that the system hadn't written.
//
// The log is a folder of segments, files of lines of JSON, the oldest removed by age and by size. Requests without a
// valid key, or refused by a rate, are kept up to some number a second: a flood of them doesn't push the others out.
package requestlog

import (
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	flushEvery  = 250 * time.Millisecond
	tendEvery   = time.Hour
	tellEvery   = time.Minute
	bufferMost  = 1 << 20 // bytes that wait to be written
	bufferWake  = 64 << 10
	refusedMost = 20 // a second
)

// Config names the log's folder and its bounds. Only Dir is required.
type Config struct {
	Dir    string
	Size   int64            // bytes of all segments; 0: any number
	Keep   time.Duration    // of a segment after its last line; 0: for ever
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: discarded
}

// Log is a log under way. It is safe for concurrent use; Close it once.
type Log struct {
	folder Folder
	cfg    Config

	mu      sync.Mutex
	waiting []byte
	refused struct {
		second int64
		n      int
	}
	dropped, skipped int64
	closed           bool

	file  *os.File // the writer's own, with later lines
	size  int64
	since time.Time
	spare []byte
	fails bool // the last write did: the next one isn't logged
	told  struct{ dropped, skipped int64 }

	wake  chan struct{}
	flush chan chan struct{}
	done  chan struct{}
}

// Open opens the log in the folder, making a missing one, and goes on with its newest segment.
func Open(cfg Config) (*Log, error) {
	if cfg.Dir == "" {
		return nil, errors.New("requestlog: no folder")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	l := &Log{
		folder: Folder(cfg.Dir), cfg: cfg,
		wake: make(chan struct{}, 1), flush: make(chan chan struct{}), done: make(chan struct{}),
	}
	if err := l.resume(); err != nil {
		return nil, err
	}
	go l.loop()
	return l, nil
}

// Add notes an answered request. It doesn't wait for the disk.
func (l *Log) Add(e Entry) {
	const tooMany = 429
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed, len(l.waiting) > bufferMost:
		l.dropped++
		return
	case (e.KeyID == "" || e.Status == tooMany) && !l.admitLocked(e.At.Unix()):
		l.skipped++
		return
	}
	before := len(l.waiting)
	l.waiting = appendEntry(l.waiting, e)
	if before < bufferWake && len(l.waiting) >= bufferWake {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// admitLocked counts a refused request of the given second.
func (l *Log) admitLocked(second int64) bool {
	if l.refused.second != second {
		l.refused.second, l.refused.n = second, 0
	}
	l.refused.n++
	return l.refused.n <= refusedMost
}

// Lost returns how many requests aren't in the log since it was opened: because the disk couldn't keep up or
// failed, and refused ones beyond those that are kept.
func (l *Log) Lost() (dropped, skipped int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped, l.skipped
}

// Flush waits until all lines added before are written.
func (l *Log) Flush() {
	done := make(chan struct{})
	select {
	case l.flush <- done:
		<-done
	case <-l.done:
	}
}

// Close writes the buffered lines and ends the log.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.Flush()
	select {
	case <-l.done:
		return nil
	default:
	}
	close(l.wake)
	<-l.done
	return errors.Join(l.file.Sync(), l.file.Close())
}
