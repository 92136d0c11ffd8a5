package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
	"unitask/internal/task"
)

// Target is a store that a copy is made into, under the file's lock. Its file has a mark from its first commit on,
// with which Open refuses it. One goroutine uses it.
type Target struct {
	resting
	mark copyMark
	idem idem.Index
}

var _ store.Target = (*Target)(nil)

// copyMark is a row in meta: "copy" while the copy is under way, then "copied".
type copyMark struct {
	store.CopyOf
	Begun bool   `json:"begun"` // it has all but the tasks
	Last  string `json:"last"`  // and those up to this one

	Tally store.Tally `json:"tally,omitempty"` // of the finished store
	Start uint64      `json:"start,omitempty"` // its number of starts then
}

// unfinished returns a *store.UnfinishedError for a store that a copy is under way into.
func unfinished(tx *bolt.Tx) error {
	mark, err := markOf(tx, metaCopy)
	if err != nil || mark == nil {
		return err
	}
	return &store.UnfinishedError{From: mark.From}
}

func markOf(tx *bolt.Tx, name []byte) (*copyMark, error) {
	raw := bucketMeta.of(tx).Get(name)
	if raw == nil {
		return nil, nil
	}
	mark := &copyMark{}
	return mark, decodeJSON(bucketMeta, name, raw, mark)
}

// put adds the mark to the rows of a commit.
func (m copyMark) put(r *rows) error {
	raw, err := encodeJSON(m)
	r.set(bucketMeta, string(metaCopy), raw)
	return err
}

// OpenTarget makes the file for a copy, or opens that of the same copy, which was cut off. store.ErrOccupied for any
// other file, a *store.FinishedError for that of the same copy if it is finished; a *LockedError says who works on it.
func OpenTarget(path string, c store.CopyOf) (*Target, error) {
	cfg := Config{Path: path}.withDefaults()
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := checkFilesystem(dir); err != nil {
		return nil, err
	}
	c.Identity = fmt.Sprintf("%s to schema %d", c.Identity, newestSchema())
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		var first rows
		if err := (copyMark{CopyOf: c}).put(&first); err != nil {
			return nil, err
		}
		err := create(cfg, func(tx *bolt.Tx) error { return applyChanges(tx, first.changes(nil)) })
		if err != nil {
			return nil, fmt.Errorf("boltstore: create %s: %w", path, err)
		}
	}
	b, err := openFile(path, cfg.options())
	if err != nil {
		return nil, err
	}
	b.AllocSize = growth
	t := &Target{resting: resting{path, b}, idem: idem.Index{Limit: idem.RunLength}}
	err = t.view(func(tx *bolt.Tx) error { return t.load(tx, c) })
	if err == nil {
		err = writeHolder(path, time.Now())
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return t, nil
}

// load reads how far the copy has come.
func (t *Target) load(tx *bolt.Tx, c store.CopyOf) error {
	if _, err := schemaOf(tx, t.path); err != nil {
		return err
	}
	mark, err := markOf(tx, metaCopy)
	if err != nil {
		return err
	}
	if mark == nil {
		return t.foreign(tx, c)
	}
	if !mark.Begun { // it has no records yet, and becomes the target of any source
		t.mark = copyMark{CopyOf: c}
		return nil
	}
	t.mark = *mark
	for _, bad := range loadIdem(tx, &t.idem) {
		return bad
	}
	return c.Check(mark.CopyOf)
}

// foreign returns the error of a store that no copy is under way into.
func (t *Target) foreign(tx *bolt.Tx, c store.CopyOf) error {
	done, err := markOf(tx, metaCopied)
	if err != nil {
		return err
	}
	if done == nil || done.Identity != c.Identity || done.Start != metaNumber(bucketMeta.of(tx), metaSession) {
		return fmt.Errorf("%w: %s is a store of its own", store.ErrOccupied, t.path)
	}
	return &store.FinishedError{Tally: done.Tally}
}

// Identity implements store.Source.
func (t *Target) Identity(context.Context) (string, error) {
	return "", &store.UnfinishedError{From: t.mark.From}
}

// Last implements store.Target.
func (t *Target) Last(context.Context) (string, bool, error) { return t.mark.Last, t.mark.Begun, nil }

// commit makes the changes with the next mark, in one commit.
func (t *Target) commit(r *rows, next copyMark) error {
	if err := next.put(r); err != nil {
		return err
	}
	err := guarded(t.path, func() error {
		return update(t.bolt, func(tx *bolt.Tx) error {
			if err := applyChanges(tx, r.changes(nil)); err != nil || !t.idem.Full() {
				return err
			}
			t.idem.BeginRun()
			return writeRun(tx, &t.idem)
		})
	})
	if err == nil {
		t.idem.EndRun(true)
		t.mark = next
	}
	return err
}

// PutContents implements store.Target.
func (t *Target) PutContents(_ context.Context, c store.Contents) error {
	r := &rows{}
	err := errors.Join(putKeys(r, c), putCallers(r, c), putWebhooks(r, c))
	for _, h := range c.Counters {
		key := string(h.Kind) + "\x00" + h.Scope
		var end []byte
		if !h.Ends.IsZero() {
			end = endOf(h.Ends)
			r.set(bucketHoldEnds, string(end)+key, []byte{})
		}
		r.set(bucketHolds, key, counterOf(h.Amount, end))
	}
	for _, u := range c.Usage {
		sums := u.By.Numbers()
		r.set(bucketUsage, string(rowOfUsage(nil, u.UsageKey)), encodeSums(sums[:]))
	}
	for _, s := range c.Spend {
		sums := s.By.Numbers()
		r.set(bucketUsage, string(rowOfSum(nil, kindSpend, s.Supplier, s.Day, s.Mode, s.Capability, s.Model)), encodeSums(sums[:]))
	}
	r.set(bucketMeta, string(metaSession), bigEndian(uint64(c.Epoch>>epochBits)))
	if err != nil {
		return err
	}
	next := t.mark
	next.Begun = true
	return t.commit(r, next)
}

// putKeys adds the rows of keys and secrets.
func putKeys(r *rows, c store.Contents) (err error) {
	for _, k := range c.Keys {
		if k.LastUsedAt != nil {
			r.set(bucketKeysUsed, k.ID, endOf(*k.LastUsedAt))
		}
		k.LastUsedAt = nil
		err = errors.Join(err, r.setJSON(bucketKeys, k.ID, k))
		r.set(bucketKeysByHash, string(k.Hash[:]), []byte(k.ID))
	}
	for _, s := range c.Secrets {
		r.set(bucketSecrets, s.Name, s.Value)
	}
	return err
}

// putCallers adds the rows of accounts, links and sessions.
func putCallers(r *rows, c store.Contents) (err error) {
	for _, a := range c.Accounts {
		err = errors.Join(err, r.setJSON(bucketAccounts, a.ID, a))
		r.set(bucketAccountsByName, a.Name, []byte(a.ID))
	}
	for _, l := range c.Links {
		err = errors.Join(err, r.setJSON(bucketLinks, string(l.Hash[:]), l))
	}
	for _, s := range c.Sessions {
		err = errors.Join(err, r.setJSON(bucketSessions, string(s.Hash[:]), s))
	}
	return err
}

// putWebhooks adds the rows of endpoints and deliveries.
func putWebhooks(r *rows, c store.Contents) (err error) {
	for _, e := range c.Endpoints {
		err = errors.Join(err, r.setJSON(bucketEndpoints, e.ID, e))
	}
	for _, o := range c.Deliveries {
		row := deliveryRow(o.Endpoint, o.Event.ID)
		err = errors.Join(err, r.setJSON(bucketDeliveries, row, o))
		if w := waitOf(o); w != nil {
			r.set(bucketWaiting, row, encodeWait(*w))
		}
	}
	return err
}

func (r *rows) setJSON(in bucket, key string, value any) error {
	raw, err := encodeJSON(value)
	r.set(in, key, raw)
	return err
}

// PutTasks implements store.Target.
func (t *Target) PutTasks(_ context.Context, tasks []task.Task) error {
	r := &rows{}
	pairs := make(map[idem.Digest]idem.Row, len(tasks))
	var logged []byte
	next := t.mark
	for i := range tasks {
		one := &tasks[i]
		row, ok := parseID(one.ID)
		if !ok || one.ID <= next.Last {
			return fmt.Errorf("boltstore: the task %q after %q", one.ID, next.Last)
		}
		next.Last = one.ID
		record, err := encodeTask(nil, one)
		if err != nil {
			return err
		}
		r.set(bucketTasks, string(row[:]), record)
		if !one.State.Terminal() {
			waits, err := encodeOpen(nil, one)
			if err != nil {
				return err
			}
			r.set(bucketOpen, string(row[:]), waits)
		}
		listed := scopeRowOf(one.Scope, row)
		r.set(bucketByScope, string(listed[:]), []byte(one.Capability))
		d := idemDigest(one.Scope, one.IdempotencyHash)
		pairs[d] = row
		logged = idem.AppendPair(logged, d, row)
	}
	t.idem.Add(pairs)
	r.set(bucketIdemLog, string(bigEndian(t.idem.NextNumber())), idem.Sum(logged))
	return t.commit(r, next)
}

// Finish implements store.Target. Of tasks no row follows later.
func (t *Target) Finish(context.Context) error { return nil }

// Release implements store.Target. It writes the list of free pages too, which makes the next start fast.
func (t *Target) Release(_ context.Context, tally store.Tally) error {
	t.bolt.NoFreelistSync = false
	return guarded(t.path, func() error {
		return update(t.bolt, func(tx *bolt.Tx) error {
			done, meta := t.mark, bucketMeta.of(tx)
			done.Tally, done.Start = tally, metaNumber(meta, metaSession)
			raw, err := encodeJSON(done)
			return errors.Join(err, meta.Put(metaCopied, raw), meta.Delete(metaCopy))
		})
	})
}

// Close gives the file back.
func (t *Target) Close() error { return errors.Join(removeHolder(t.path), t.bolt.Close()) }
