package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
)

var _ store.Source = (*Offline)(nil)

// resting is the tree of a store that no engine works on, to be read for a copy.
type resting struct {
	path string
	bolt *bolt.DB
}

// view reads the tree; damaged pages are a *DamagedError.
func (r resting) view(read func(*bolt.Tx) error) error {
	return guarded(r.path, func() error { return r.bolt.View(read) })
}

// errAsideCopy is the refusal to copy a store with rows that were set aside: a copy would lack them, and with them the
// idempotency keys that they keep taken.
var errAsideCopy = errors.New("boltstore: rows that can't be read were set aside: unitask store check --repair goes on without them and says what they are")

// identity implements store.Source: the store's own, and how often it was started.
func (r resting) identity() (id string, err error) {
	err = r.view(func(tx *bolt.Tx) error {
		at, err := schemaOf(tx, r.path)
		if err != nil {
			return err
		}
		if at < newestSchema() {
			return fmt.Errorf("boltstore: %s has schema %d: start unitask serve on it once, which brings it to %d", r.path, at, newestSchema())
		}
		if err := unfinished(tx); err != nil {
			return err
		}
		if k, _ := bucketQuarantine.of(tx).Cursor().First(); k != nil {
			return errAsideCopy
		}
		meta := bucketMeta.of(tx)
		id = fmt.Sprintf("%x/%d", meta.Get(metaStore), metaNumber(meta, metaSession))
		return nil
	})
	return id, err
}

// Contents implements store.Source.
func (r resting) Contents(context.Context) (c store.Contents, err error) {
	err = r.view(func(tx *bolt.Tx) error {
		c = store.Contents{Epoch: int64(metaNumber(bucketMeta.of(tx), metaSession)+1)<<epochBits - 1}
		if k, _ := bucketTasks.of(tx).Cursor().First(); len(k) == rowSize {
			c.Since = rowTime(k).UTC()
		}
		rows := &reader{opened: tx}
		err := errors.Join(
			decodeAll(rows, bucketAccounts, &c.Accounts), decodeAll(rows, bucketKeys, &c.Keys),
			decodeAll(rows, bucketLinks, &c.Links), decodeAll(rows, bucketSessions, &c.Sessions))
		for i := range c.Keys {
			readUsed(rows, &c.Keys[i])
			if at := c.Keys[i].LastUsedAt; at != nil {
				c.Keys[i].LastUsedAt = new(at.UTC().Truncate(time.Microsecond))
			}
		}
		for k, v := range rows.ascend(bucketSecrets, nil, nil) {
			c.Secrets = append(c.Secrets, store.Secret{Name: string(k), Value: bytes.Clone(v)})
		}
		return errors.Join(err, allCounters(rows, &c), allSums(rows, &c), decodeAll(rows, bucketEndpoints, &c.Endpoints), allDeliveries(rows, &c))
	})
	return c, err
}

func decodeAll[T any](r *reader, in bucket, all *[]T) error {
	for k, raw := range r.ascend(in, nil, nil) {
		var v T
		if err := decodeJSON(in, k, raw, &v); err != nil {
			return err
		}
		*all = append(*all, v)
	}
	return nil
}

func allCounters(r *reader, c *store.Contents) error {
	for k, v := range r.ascend(bucketHolds, nil, nil) {
		kind, scope, ok := bytes.Cut(k, []byte{0})
		if !ok || (len(v) != counterWord && counter(v).end() == nil) {
			return unreadable(bucketHolds, k, v, errRecord)
		}
		h := store.Held{Counter: store.Counter{Scope: string(scope), Kind: task.HoldKind(kind)}, Amount: counter(v).amount()}
		if end := counter(v).end(); end != nil {
			h.Ends = time.Unix(0, int64(binary.BigEndian.Uint64(end))).UTC().Truncate(time.Microsecond)
		}
		c.Counters = append(c.Counters, h)
	}
	return nil
}

func allDeliveries(r *reader, c *store.Contents) error {
	for k, v := range r.ascend(bucketDeliveries, nil, nil) {
		var o store.Outgoing
		if err := decodeJSON(bucketDeliveries, k, v, &o); err != nil {
			return err
		}
		if r.get(bucketEndpoints, []byte(o.Endpoint)) != nil {
			c.Deliveries = append(c.Deliveries, o)
		}
	}
	return nil
}

func allSums(r *reader, c *store.Contents) error {
	for k, v := range r.ascend(bucketUsage, nil, nil) {
		row, ok := parseUsageKey(k)
		if !ok {
			return unreadable(bucketUsage, k, v, errRecord)
		}
		n := decodeSums(v)
		if k[0] != kindSpend {
			c.Usage = append(c.Usage, store.UsageChange{UsageKey: row.usageKey(k[0]), By: store.UsageOf([store.UsageNumbers]int64(n[:]))})
		} else {
			c.Spend = append(c.Spend, store.SpendChange{SpendKey: row.spendKey(), By: store.SpendOf([store.SpendNumbers]int64(n[:]))})
		}
	}
	return nil
}

// What is read in one transaction: so many tasks, or those whose records reach so many bytes.
const (
	pageTasks = 256
	pageBytes = 4 << 20
)

// Tasks implements store.Source.
func (r resting) Tasks(ctx context.Context, after string) iter.Seq2[task.Task, error] {
	return func(yield func(task.Task, error) bool) {
		var from []byte
		if row, ok := parseID(after); ok {
			from = append(row[:], 0)
		}
		for {
			page, next, err := r.page(from)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(task.Task{}, err)
				return
			}
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			from = next
		}
	}
}

// page returns some tasks from a row on, and the row after them, nil at the end.
func (r resting) page(from []byte) (tasks []task.Task, next []byte, err error) {
	err = r.view(func(tx *bolt.Tx) error {
		bytesRead := 0
		for k, v := range (&reader{opened: tx}).ascend(bucketTasks, from, nil) {
			if len(tasks) == pageTasks || bytesRead >= pageBytes {
				next = bytes.Clone(k)
				return nil
			}
			t, err := decodeTask(v)
			if err == nil && (len(k) != rowSize || t.ID != rowID(k).String()) {
				err = errOther
			}
			if err != nil {
				return unreadable(bucketTasks, k, v, err)
			}
			tasks, bytesRead = append(tasks, t), bytesRead+len(v)
		}
		return nil
	})
	return tasks, next, err
}

// Identity implements store.Source.
func (o *Offline) Identity(context.Context) (string, error) {
	if len(o.damage) > 0 {
		return "", &DamagedError{Path: o.path, Problem: o.damage[0]}
	}
	return o.identity()
}
