package boltstore

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"

	"unitask/internal/store/boltstore/wal"

	bolt "go.etcd.io/bbolt"
)

// firstSchema is the one of the first version. The changes since:
//
//	2  counters of budgets know when their time is over, so that a sweep can remove them
//	3  the rows of tasks that aren't terminal say their mode, and how long they were given
//	4  the newest changes may stand in the log beside the file, which has an identity for it
//	5  there are sums of usage, which begin with the upgrade, links, sessions, and rows for when keys were used
//	6  the idempotency log has a row a group, of as many pairs as tasks came in
//	7  records and rows of `open` that are written from now on have a sum, the log has marks, and there is a quarantine
//	8  outputs that are written from now on are JSON, and sums of usage have more numbers
//	9  there are endpoints of webhooks and deliveries to them
const firstSchema = 1

// linesSchema is the one from which on the rows of `open` say their line, logSchema the one from which on
// there may be a log, usageSchema the one from which on there are sums of usage,
// sumSchema the one from which on the log has marks and records have sums, webhookSchema the one from which on there
// are endpoints.
const (
	linesSchema = 3
	logSchema   = 4
	usageSchema = 5
	sumSchema   = 7

	webhookSchema = 9
)

// migrationRows is how many rows one commit of a migration treats: small enough for a short
// transaction, large enough that a million rows take a thousand commits.
const migrationRows = 1000

// migration treats at most the given number of rows from a key on and returns the key to go on from,
// nil at the end. It may meet rows that it has treated before.
type migration func(tx *bolt.Tx, from []byte, rows int) (next []byte, err error)

// migrations lead from one schema to the next, the first from firstSchema.
func migrations() []migration {
	return []migration{endCounters, addLines, beginLog, addUsage, widenIdemLog, addQuarantine, openOutputs, addWebhooks}
}

func newestSchema() uint64 { return firstSchema + uint64(len(migrations())) }

// createBuckets lays out a new file in the newest schema.
func createBuckets(tx *bolt.Tx) error {
	for _, name := range bucketNames {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	if err := errors.Join(identify(tx), beginMarks(tx)); err != nil {
		return err
	}
	return bucketMeta.of(tx).Put(metaSchema, bigEndian(newestSchema()))
}

// addLines is the step to schema 3: it writes the rows of `open` anew.
func addLines(tx *bolt.Tx, from []byte, rows int) ([]byte, error) {
	open := bucketOpen.of(tx)
	var treated [][]byte
	c := open.Cursor()
	k, _ := c.Seek(from)
	for ; k != nil && len(treated) < rows; k, _ = c.Next() {
		treated = append(treated, bytes.Clone(k))
	}
	next := bytes.Clone(k)
	for _, row := range treated {
		t, err := decodeTask(bucketTasks.of(tx).Get(row))
		if err != nil {
			return nil, err
		}
		value, err := encodeOpen(nil, &t)
		if err != nil {
			return nil, err
		}
		if err := open.Put(row, value); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// beginLog is the step to schema 4: the file gets its identity.
func beginLog(tx *bolt.Tx, _ []byte, _ int) ([]byte, error) { return nil, identify(tx) }

// addUsage is the step to schema 5: the buckets, empty.
func addUsage(tx *bolt.Tx, _ []byte, _ int) ([]byte, error) {
	for _, b := range []bucket{bucketKeysUsed, bucketLinks, bucketSessions, bucketUsage} {
		if _, err := tx.CreateBucketIfNotExists(bucketNames[b]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// addWebhooks is the step to schema 9: the buckets, empty.
func addWebhooks(tx *bolt.Tx, _ []byte, _ int) ([]byte, error) {
	for _, b := range []bucket{bucketEndpoints, bucketDeliveries, bucketWaiting} {
		if _, err := tx.CreateBucketIfNotExists(bucketNames[b]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// widenIdemLog is the step to schema 6: a row of one pair is one of the new form already.
func widenIdemLog(*bolt.Tx, []byte, int) ([]byte, error) { return nil, nil }

// addQuarantine is the step to schema 7: the bucket, empty. Records get their sums when they change.
func addQuarantine(tx *bolt.Tx, _ []byte, _ int) ([]byte, error) {
	if _, err := tx.CreateBucketIfNotExists(bucketNames[bucketQuarantine]); err != nil {
		return nil, err
	}
	return nil, beginMarks(tx)
}

// openOutputs is the step to schema 8, which changes nothing that is there: a version before it would read new outputs
// as empty.
func openOutputs(*bolt.Tx, []byte, int) ([]byte, error) { return nil, nil }

// identify gives a store an identity of its own.
func identify(tx *bolt.Tx) error {
	var id wal.ID
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	return bucketMeta.of(tx).Put(metaStore, id[:])
}

// SchemaError reports a file that this version can't read.
type SchemaError struct {
	Path          string
	Schema, Known uint64
}

// Error says which versions can.
func (e *SchemaError) Error() string {
	if e.Schema == 0 {
		return fmt.Sprintf("boltstore: %s is not a store of unitask", e.Path)
	}
	return fmt.Sprintf("boltstore: %s has schema %d and this version knows up to %d: "+
		"use the version that wrote it, or a newer one", e.Path, e.Schema, e.Known)
}

// schemaOf returns the file's schema, or a *SchemaError for one that isn't known here.
func schemaOf(tx *bolt.Tx, path string) (uint64, error) {
	var at uint64
	if meta := bucketMeta.of(tx); meta != nil {
		at = metaNumber(meta, metaSchema)
	}
	if at < firstSchema || at > newestSchema() {
		return at, &SchemaError{Path: path, Schema: at, Known: newestSchema()}
	}
	return at, nil
}

// migrate brings the file to this version's schema. Each step is a commit that also records the beginning of the next
// one, so that a migration that was cut off goes on there.
func migrate(b *bolt.DB, cfg Config) error {
	for before := uint64(0); ; {
		var at uint64
		err := b.View(func(tx *bolt.Tx) (err error) {
			at, err = schemaOf(tx, cfg.Path)
			return err
		})
		if before != 0 && at != before {
			cfg.Logger.Info("the store was migrated", slog.Uint64("from_schema", before), slog.Uint64("to_schema", at))
		}
		if err != nil || at == newestSchema() {
			return err
		}
		before = at
		if err := b.Update(func(tx *bolt.Tx) error { return migrateSome(tx, at, cfg.migrationRows) }); err != nil {
			return fmt.Errorf("boltstore: migrate %s from schema %d: %w", cfg.Path, at, err)
		}
	}
}

func migrateSome(tx *bolt.Tx, at uint64, rows int) error {
	meta := bucketMeta.of(tx)
	next, err := migrations()[at-firstSchema](tx, bytes.Clone(meta.Get(metaMigration)), rows)
	if err != nil {
		return err
	}
	if next != nil {
		return meta.Put(metaMigration, next)
	}
	if err := meta.Delete(metaMigration); err != nil {
		return err
	}
	return meta.Put(metaSchema, bigEndian(at+1))
}
