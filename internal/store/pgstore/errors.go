package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"unitask/internal/store"
)

// errBroken is a fault of this package or of what the database holds: trying again doesn't help.
var errBroken = errors.New("pgstore: broken")

// readOnly is the code of a write at a standby, or at a server that has become one.
const readOnly = "25006"

// passing reports whether the same transaction may succeed later: it met another one, or the database can't be reached.
func passing(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code[:2] {
		case "40", "57", "08", "53": // conflicts, a server that stops or starts, a connection, no room for one
			return e.Code != "53100" // a full disk
		}
		return e.Code == "25P03" || e.Code == readOnly // it was idle for too long between its round trips, or the server is a standby
	}
	return !errors.Is(err, errBroken) && !errors.Is(err, pgx.ErrNoRows)
}

// refused reports whether an error of a round trip with a commit means that it wasn't made: the server says so. The
// driver's own errors don't tell; it calls a connection closed that was lost after the commit was sent.
func refused(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code[:2] != "57" && e.Code[:2] != "08" // a server that stops may have committed before
}

// unavailable marks the error of a database that can't be reached.
func unavailable(err error) error { return fmt.Errorf("%w: %w", store.ErrUnavailable, err) }

// known turns the errors of a statement into those of the contract.
func known(err error) error {
	e, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil || errors.Is(err, store.ErrUnknown):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return store.ErrNotFound
	case answered && e.Code == "23505": // unique_violation
		return store.ErrExists
	case answered && e.Code == "23503": // foreign_key_violation
		return store.ErrNotFound
	case answered && e.Code == "53100": // disk_full
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	default:
		return err
	}
}

// read runs a read again while the database can't be reached, for a moment: its connections may be dead after a
// restart.
func (db *DB) read(ctx context.Context, do func(ctx context.Context) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.mu.RUnlock()
	return db.tryRead(ctx, do)
}

// tryRead is read within an operation under way.
func (db *DB) tryRead(ctx context.Context, do func(ctx context.Context) error) error {
	giveUp := time.Now().Add(tryTime)
	for pause := tryPause; ; pause *= 2 {
		err := doWithin(ctx, readTime, do)
		db.doubt(ctx, err)
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, store.ErrUnknown):
			return err // what may have been done isn't done again
		case !lostConnection(err):
			return known(err)
		case time.Now().After(giveUp):
			return unavailable(err)
		}
		time.Sleep(pause)
	}
}

// readTime bounds one try: a connection whose other side is gone without a word is given up then.
const readTime = 5 * time.Second

func doWithin(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return do(ctx)
}

// lostConnection reports whether an error is the connection's and not the statement's.
func lostConnection(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code[:2] == "57" || e.Code[:2] == "08" || e.Code == "53300" || e.Code == readOnly
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return connecting || pgconn.SafeToRetry(err) || isNetwork(err)
}

// isNetwork reports whether an error comes from the network or from a connection that is closed.
func isNetwork(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
