package artifact

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"unitask/internal/fault"
)

// remainsAge is how old a temporary file or bytes without a Meta must be to be a crash's remains;
// a Put takes an hour at most.
const remainsAge = 24 * time.Hour

// Sweep implements Store.
func (f *Folder) Sweep(ctx context.Context, now time.Time, limit int) (int, error) {
	var deleted int
	var failed []error // one bad object doesn't keep the others
	shards, err := filepath.Glob(filepath.Join(f.dir, "*", "??"))
	if err != nil {
		return 0, fault.Wrap(fault.Internal, err, "artifacts can't be listed")
	}
	for _, shard := range shards {
		n, err := f.sweepShard(ctx, shard, now, limit-deleted)
		deleted += n
		failed = append(failed, err)
		if ctx.Err() != nil || deleted >= limit {
			break
		}
	}
	return deleted, errors.Join(failed...)
}

func (f *Folder) sweepShard(ctx context.Context, shard string, now time.Time, limit int) (int, error) {
	entries, err := os.ReadDir(shard)
	if err != nil {
		return 0, fault.Wrap(fault.Internal, err, "artifacts can't be listed")
	}
	var deleted int
	var failed []error
	for _, entry := range entries {
		if err := ctx.Err(); err != nil || deleted >= limit {
			return deleted, errors.Join(append(failed, err)...)
		}
		gone, err := f.sweepEntry(shard, entry, now)
		failed = append(failed, err)
		if gone {
			deleted++
		}
	}
	return deleted, errors.Join(failed...)
}

// sweepEntry deletes what the entry stands for if its time is over, and reports whether that was an
// object.
func (f *Folder) sweepEntry(shard string, entry fs.DirEntry, now time.Time) (bool, error) {
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // deleted meanwhile
	}
	if err != nil {
		return false, fault.Wrap(fault.Internal, err, "artifacts can't be listed")
	}
	if info.ModTime().After(now) {
		return false, nil
	}
	if id, ok := strings.CutSuffix(info.Name(), metaSuffix); ok && validID(id) {
		return f.expire(id, now)
	}
	if now.Sub(info.ModTime()) < remainsAge {
		return false, nil
	}
	return false, f.removeRemains(filepath.Join(shard, info.Name()))
}

// expire deletes the object if its Meta says so; the file's time alone is a hint that a copy of the
// folder may have lost.
func (f *Folder) expire(id string, now time.Time) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pauses > 0 {
		return false, nil
	}
	m, err := f.readMeta(id)
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil || !m.Expired(now) {
		return false, err
	}
	return true, f.removeLocked(id)
}

// removeRemains removes a temporary file, or bytes that no Meta stands for.
func (f *Folder) removeRemains(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := filepath.Base(path)
	if !strings.HasPrefix(name, tempPrefix) {
		if _, err := os.Stat(path + metaSuffix); !validID(name) || !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Internal, err, "an artifact could not be deleted")
	}
	return nil
}
