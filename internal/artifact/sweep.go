package artifact

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"unitask/internal/fault"
)

// A walk goes through all objects, a part with each sweep, and records those that expire before the next one. Sweeps
// until then cost in proportion to the due objects.
const (
	walkEvery = 24 * time.Hour
	walkAhead = walkEvery + 2*time.Hour // for the next walk to come so far
	walkPart  = 20_000                  // files that one sweep looks at: a million objects in 100 sweeps
	// remainsAge is how old a temporary file or bytes without a Meta must be to be a crash's remains; a Put takes
	// an hour at most.
	remainsAge = 24 * time.Hour
)

// sweeper is the state of the sweeps. It is in memory alone: the first walk after a start finds all of it.
type sweeper struct {
	mu     sync.Mutex // one sweep at a time
	walked time.Time  // when the last walk began
	shards []string   // that it hasn't been to
	part   int        // files that one sweep looks at, to the end of their shard
}

// Sweep implements Store.
func (f *Folder) Sweep(ctx context.Context, now time.Time, limit int) (int, error) {
	f.sweeper.mu.Lock()
	defer f.sweeper.mu.Unlock()
	failed := []error{f.walk(ctx, now)} // one bad object doesn't keep the others
	deleted := 0
	for deleted < limit && ctx.Err() == nil {
		gone, more, err := f.expireNext(now)
		failed = append(failed, err)
		if gone {
			deleted++
		}
		if !more {
			break
		}
	}
	return deleted, errors.Join(append(failed, ctx.Err())...)
}

// walk goes on with the walk under way, or begins one that is due.
func (f *Folder) walk(ctx context.Context, now time.Time) error {
	if err := f.beginWalk(now); err != nil {
		return err
	}
	s := &f.sweeper
	var failed []error
	for seen := 0; len(s.shards) > 0 && seen < s.part && ctx.Err() == nil; s.shards = s.shards[1:] {
		n, err := f.walkShard(s.shards[0], now)
		seen += n
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// beginWalk begins a walk if the last one has come to its end and is a day old, or was made by a clock that was
// ahead, or found more than an agenda takes. It begins anywhere, so that many starts in a row leave no shard out.
func (f *Folder) beginWalk(now time.Time) error {
	s := &f.sweeper
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(s.shards) > 0 || !now.Before(s.walked) && now.Before(s.walked.Add(walkEvery)) && now.Before(f.agenda.until) {
		return nil
	}
	shards, err := filepath.Glob(filepath.Join(f.dir, "*", "??"))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "artifacts can't be listed")
	}
	if err := f.endShares(now); err != nil {
		return err
	}
	s.walked, f.agenda.until = now, now.Add(walkAhead)
	if len(shards) > 0 {
		at := rand.IntN(len(shards)) //nolint:gosec // a walk's beginning is no secret
		s.shards = slices.Concat(shards[at:], shards[:at])
	}
	return nil
}

// walkShard looks at the files of a shard and returns their number.
func (f *Folder) walkShard(shard string, now time.Time) (int, error) {
	entries, err := os.ReadDir(shard)
	if err != nil {
		return 0, fault.Wrap(fault.Internal, err, "artifacts can't be listed")
	}
	var failed []error
	for i, entry := range entries {
		if i+1 < len(entries) && entries[i+1].Name() == entry.Name()+metaSuffix {
			continue // the bytes of an object, whose Meta is next
		}
		failed = append(failed, f.look(shard, entry, now))
	}
	return len(entries), errors.Join(failed...)
}

// look records an object that expires soon, and removes the leftovers of a crash.
func (f *Folder) look(shard string, entry fs.DirEntry, now time.Time) error {
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return fault.Wrap(fault.Internal, err, "artifacts can't be listed")
	}
	if id, ok := strings.CutSuffix(info.Name(), metaSuffix); ok && ValidID(id) {
		return f.note(id, info.ModTime())
	}
	if now.Sub(info.ModTime()) < remainsAge {
		return nil
	}
	return f.removeRemains(filepath.Join(shard, info.Name()))
}

// note puts the object on the agenda if it expires before the end of that. The time of its Meta's file is only a
// hint, which a copy of the folder may have lost.
func (f *Folder) note(id string, hint time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !hint.Before(f.agenda.until) {
		return nil
	}
	m, err := f.readMeta(id)
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	if err == nil {
		f.agenda.add(m)
	}
	return err
}

// expireNext deletes the first object on the agenda that has expired, if its Meta says so too. more is false if there
// is none, or removals are paused.
func (f *Folder) expireNext(now time.Time) (gone, more bool, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := f.agenda.first(now)
	if id == "" || f.pauses > 0 {
		return false, false, nil
	}
	f.agenda.done()
	m, err := f.readMeta(id)
	if fault.CodeOf(err) == fault.NotFound {
		return false, true, nil
	}
	if err != nil || !m.Expired(now) {
		return false, true, err
	}
	return true, true, f.removeLocked(id)
}

// removeRemains removes a temporary file, or bytes that no Meta stands for.
func (f *Folder) removeRemains(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := filepath.Base(path)
	if !strings.HasPrefix(name, TempPrefix) {
		if _, err := os.Stat(path + metaSuffix); !ValidID(name) || !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Internal, err, "an artifact could not be deleted")
	}
	return nil
}
