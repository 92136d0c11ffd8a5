package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// unreadableError is a row that was damaged. The committer sets it aside, and the operation that met it goes on.
type unreadableError struct {
	bucket bucket
	key    []byte
	value  []byte // nil if it can't be moved: its page is damaged, or it is a run
	cause  error
}

func (e *unreadableError) Error() string {
	return fmt.Sprintf("boltstore: %s can't be read: %v", e.name(), e.cause)
}

func (e *unreadableError) Unwrap() error { return e.cause }

// name returns the row's name for a person.
func (e *unreadableError) name() string { return rowName(e.bucket, e.key) }

func rowName(in bucket, key []byte) string {
	if len(key) == rowSize && (in == bucketTasks || in == bucketOpen) {
		return fmt.Sprintf("%s in %s", rowID(key), in)
	}
	return fmt.Sprintf("the row %q in %s", key, in)
}

func unreadable(in bucket, key, value []byte, cause error) error {
	return &unreadableError{in, bytes.Clone(key), bytes.Clone(value), cause}
}

// errAside is the answer to whoever asks for a task that was set aside, or whose key may be in a run that was. It
// isn't ErrNotFound: another task under the same idempotency key would pay anew.
var errAside = errors.New("boltstore: a row that may lead to the task was damaged and set aside: unitask store check --repair says more")

// quarantineKey is the key of a row that was set aside.
func quarantineKey(in bucket, key []byte) []byte { return append([]byte{byte(in)}, key...) }

// setAside moves a row that can't be read to the quarantine and returns nil, or another error unchanged.
func (db *DB) setAside(ctx context.Context, err error) error {
	u, ok := errors.AsType[*unreadableError](err)
	if !ok {
		return err
	}
	moved := false
	err = db.doOnce(ctx, &op{writes: true, frees: true, run: func(x *txn) (err error) {
		moved, err = x.setAside(u)
		return err
	}})
	if err == nil && moved {
		db.quarantined.Add(1)
		db.log.Error("a row of the database can't be read and was set aside", slog.String("row", u.name()), slog.Any("error", u.cause))
	}
	return err
}

// asides lets an operation go on without the rows that it can't read: each once. One that comes again wasn't found where
// a search looks for it, as in a damaged page whose keys are out of order.
type asides map[string]bool

// goOn sets the row of the error aside and returns nil, or the error if the operation ends with it.
func (a *asides) goOn(ctx context.Context, db *DB, err error) error {
	if u, ok := errors.AsType[*unreadableError](err); ok {
		row := string(quarantineKey(u.bucket, u.key))
		if (*a)[row] {
			return err
		}
		if *a == nil {
			*a = asides{}
		}
		(*a)[row] = true
	}
	return db.setAside(ctx, err)
}

// setAside leaves a row that was changed meanwhile. No worker gets a task that is set aside.
func (x *txn) setAside(u *unreadableError) (bool, error) {
	place := quarantineKey(u.bucket, u.key)
	switch {
	case u.value == nil && x.has(bucketQuarantine, place):
		return false, errAside
	case u.value != nil && !bytes.Equal(x.get(u.bucket, u.key), u.value):
		return false, nil
	}
	if err := x.put(bucketQuarantine, string(place), u.value); err != nil {
		return false, err
	}
	if u.value != nil {
		if err := x.del(u.bucket, string(u.key)); err != nil {
			return false, err
		}
	}
	if u.bucket != bucketTasks || len(u.key) != rowSize {
		return true, nil
	}
	if e := x.db.index.tasks[rowID(u.key)]; e != nil {
		x.replace(e, nil)
	}
	return true, x.del(bucketOpen, string(u.key))
}
