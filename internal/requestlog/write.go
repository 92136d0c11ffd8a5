package requestlog

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"unitask/internal/disk"
)

// A segment ends when it is as large as this, less for a small log, or a day old.
const (
	segmentSize = 16 << 20
	segmentAge  = 24 * time.Hour
	segmentPart = 8 // of a log with a bound
)

// loop is the writer: it ends when wake is closed.
func (l *Log) loop() {
	defer close(l.done)
	soon, tend, tell := time.NewTicker(flushEvery), time.NewTicker(tendEvery), time.NewTicker(tellEvery)
	defer soon.Stop()
	defer tend.Stop()
	defer tell.Stop()
	defer l.tell()
	l.tend()
	for {
		select {
		case _, ok := <-l.wake:
			if !ok {
				return
			}
			l.write()
		case <-soon.C:
			l.write()
		case <-tend.C:
			l.write()
			l.tend()
		case <-tell.C:
			l.tell()
		case done := <-l.flush:
			l.write()
			close(done)
		}
	}
}

// write writes the buffered lines to the disk. Lines without room are dropped, and the segment stays whole.
func (l *Log) write() {
	l.mu.Lock()
	out := l.waiting
	l.waiting, l.spare = l.spare[:0], nil
	l.mu.Unlock()
	if len(out) > 0 {
		l.append(out)
	}
	if cap(out) <= bufferMost {
		l.spare = out
	}
}

func (l *Log) append(out []byte) {
	var err error
	if l.size >= l.segment() || l.cfg.Now().Sub(l.since) >= segmentAge {
		err = l.turn()
	}
	if err == nil {
		_, err = l.file.WriteAt(out, l.size)
	}
	if err == nil {
		l.size += int64(len(out))
		l.fails = false
		return
	}
	_ = l.file.Truncate(l.size) // of a line that was cut; a reader passes over one
	l.mu.Lock()
	for _, b := range out {
		if b == '\n' {
			l.dropped++
		}
	}
	l.mu.Unlock()
	if !l.fails {
		l.cfg.Logger.Warn("the request log can't be written; requests are answered without it", slog.Any("error", err))
	}
	l.fails = true
}

// tell says how many requests have been left out since it last did.
func (l *Log) tell() {
	dropped, skipped := l.Lost()
	if dropped != l.told.dropped || skipped != l.told.skipped {
		l.cfg.Logger.Warn("requests are missing in the request log", slog.Int64("dropped", dropped-l.told.dropped),
			slog.Int64("refused", skipped-l.told.skipped))
	}
	l.told.dropped, l.told.skipped = dropped, skipped
}

// segment returns how large one becomes.
func (l *Log) segment() int64 {
	if l.cfg.Size > 0 {
		return min(segmentSize, l.cfg.Size/segmentPart)
	}
	return segmentSize
}

// resume opens the newest segment, or a first one. A line that a crash cut short is ended, so that the next
// one begins at its own.
func (l *Log) resume() error {
	all, err := l.folder.segments()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return l.begin()
	}
	newest := all[len(all)-1]
	if l.file, err = os.OpenFile(l.folder.path(newest), os.O_RDWR|disk.NoFollow, 0o600); err != nil {
		return err
	}
	l.since = newest
	if l.size, err = l.file.Seek(0, io.SeekEnd); err != nil || l.size == 0 {
		return err
	}
	last := []byte{0}
	if _, err = l.file.ReadAt(last, l.size-1); err == nil && last[0] != '\n' {
		_, err = l.file.WriteAt([]byte{'\n'}, l.size)
		l.size++
	}
	return err
}

// begin opens a fresh segment.
func (l *Log) begin() error {
	since := l.cfg.Now().UTC().Truncate(time.Millisecond)
	if !since.After(l.since) {
		since = l.since.Add(time.Millisecond)
	}
	f, err := os.OpenFile(l.folder.path(since), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	l.file, l.since, l.size = f, since, 0
	return nil
}

// turn goes on in a fresh segment.
func (l *Log) turn() error {
	old := l.file
	if err := l.begin(); err != nil {
		return err
	}
	l.tend()
	return errors.Join(old.Sync(), old.Close())
}

// tend removes the oldest segments beyond the bounds, never the one that is written. A failed removal is tried again.
func (l *Log) tend() {
	all, err := l.folder.segments()
	if err != nil {
		return
	}
	var total int64
	now := l.cfg.Now()
	for i, since := range slices.Backward(all) {
		if i == len(all)-1 {
			total += l.segment() // as large as it becomes
			continue
		}
		if info, err := os.Stat(l.folder.path(since)); err == nil {
			total += info.Size()
		}
		old := l.cfg.Keep > 0 && now.Sub(all[i+1]) > l.cfg.Keep
		if old || (l.cfg.Size > 0 && total > l.cfg.Size) {
			_ = os.Remove(l.folder.path(since))
		}
	}
}
