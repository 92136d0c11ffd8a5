package pgstore

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// PutLink implements store.Sessions.
func (db *DB) PutLink(ctx context.Context, l account.Link) error {
	record, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return db.exec(ctx, false, `INSERT INTO {s}.links (hash, account, expires, record) VALUES ($1, $2, $3, $4)`,
		l.Hash[:], l.Account, l.ExpiresAt, record)
}

// RedeemLink implements store.Sessions.
func (db *DB) RedeemLink(ctx context.Context, link task.Hash, open func(account.Link) (account.Session, error)) error {
	return db.change(ctx, false, func(tx pgx.Tx) error {
		var record []byte
		err := tx.QueryRow(ctx, db.q(`DELETE FROM {s}.links WHERE hash = $1 RETURNING record`), link[:]).Scan(&record)
		if err != nil {
			return err
		}
		var l account.Link
		if err := json.Unmarshal(record, &l); err != nil {
			return err
		}
		s, err := open(l)
		if err != nil {
			return err
		}
		if record, err = json.Marshal(s); err != nil {
			return err
		}
		return execute(ctx, tx, db.q(`INSERT INTO {s}.sessions (hash, account, expires, record) VALUES ($1, $2, $3, $4)`),
			s.Hash[:], s.Account, s.ExpiresAt, record)
	})
}

// GetSession implements store.Sessions.
func (db *DB) GetSession(ctx context.Context, h task.Hash) (account.Session, account.Account, error) {
	var session, owner []byte
	err := db.read(ctx, func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, db.q(`SELECT s.record, a.record FROM {s}.sessions s JOIN {s}.accounts a ON a.id = s.account
			WHERE s.hash = $1`), h[:]).Scan(&session, &owner)
	})
	var s account.Session
	var a account.Account
	if err == nil {
		err = errors.Join(json.Unmarshal(session, &s), json.Unmarshal(owner, &a))
	}
	if err != nil {
		return account.Session{}, account.Account{}, err
	}
	return s, a, nil
}

// ListSessions implements store.Sessions.
func (db *DB) ListSessions(ctx context.Context, owner string) ([]account.Session, error) {
	return readRecords[account.Session](ctx, db, `SELECT record FROM {s}.sessions WHERE account = $1`, owner)
}

// SeeSession implements store.Sessions.
func (db *DB) SeeSession(ctx context.Context, h task.Hash, at time.Time) error {
	return db.change(ctx, false, func(tx pgx.Tx) error {
		var record []byte
		err := tx.QueryRow(ctx, db.q(`SELECT record FROM {s}.sessions WHERE hash = $1 FOR UPDATE`), h[:]).Scan(&record)
		if err != nil {
			return err
		}
		var s account.Session
		if err := json.Unmarshal(record, &s); err != nil {
			return err
		}
		s.SeenAt = at
		if record, err = json.Marshal(s); err != nil {
			return err
		}
		return execute(ctx, tx, db.q(`UPDATE {s}.sessions SET record = $2 WHERE hash = $1`), h[:], record)
	})
}

// DeleteSession implements store.Sessions.
func (db *DB) DeleteSession(ctx context.Context, h task.Hash) error {
	return db.exec(ctx, false, `DELETE FROM {s}.sessions WHERE hash = $1`, h[:])
}

// readRecord reads one JSON record, or store.ErrNotFound.
func readRecord[T any](ctx context.Context, db *DB, sql string, args ...any) (T, error) {
	all, err := readRecords[T](ctx, db, sql, args...)
	if err == nil && len(all) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

func readRecords[T any](ctx context.Context, db *DB, sql string, args ...any) ([]T, error) {
	var all []T
	err := db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(sql), args...)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (v T, err error) {
			var record []byte
			if err = row.Scan(&record); err == nil {
				err = json.Unmarshal(record, &v)
			}
			return v, err
		})
		return err
	})
	return all, err
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, by its documentation
	return b
}
