package boltstore

import (
	"context"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// PutLink implements store.Sessions.
func (db *DB) PutLink(ctx context.Context, l account.Link) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if x.has(bucketLinks, l.Hash[:]) {
			return store.ErrExists
		}
		if !x.has(bucketAccounts, []byte(l.Account)) {
			return store.ErrNotFound
		}
		return x.putJSON(bucketLinks, string(l.Hash[:]), l)
	}})
}

// RedeemLink implements store.Sessions.
func (db *DB) RedeemLink(ctx context.Context, link task.Hash, open func(account.Link) (account.Session, error)) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		var l account.Link
		if err := getJSON(&x.reader, bucketLinks, link[:], &l); err != nil {
			return err
		}
		s, err := open(l)
		if err != nil {
			return err
		}
		if err := x.del(bucketLinks, string(link[:])); err != nil {
			return err
		}
		return x.putJSON(bucketSessions, string(s.Hash[:]), s)
	}})
}

// GetSession implements store.Sessions.
func (db *DB) GetSession(ctx context.Context, h task.Hash) (account.Session, account.Account, error) {
	var s account.Session
	var a account.Account
	err := db.view(ctx, func(r *reader) error {
		if err := getJSON(r, bucketSessions, h[:], &s); err != nil {
			return err
		}
		return getJSON(r, bucketAccounts, []byte(s.Account), &a)
	})
	if err != nil {
		return account.Session{}, account.Account{}, err
	}
	return s, a, nil
}

// ListSessions implements store.Sessions.
func (db *DB) ListSessions(ctx context.Context, owner string) ([]account.Session, error) {
	all, err := listJSON[account.Session](ctx, db, bucketSessions)
	return slices.DeleteFunc(all, func(s account.Session) bool { return s.Account != owner }), err
}

// SeeSession implements store.Sessions.
func (db *DB) SeeSession(ctx context.Context, h task.Hash, at time.Time) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		var s account.Session
		if err := getJSON(&x.reader, bucketSessions, h[:], &s); err != nil {
			return err
		}
		s.SeenAt = at
		return x.putJSON(bucketSessions, string(h[:]), s)
	}})
}

// DeleteSession implements store.Sessions.
func (db *DB) DeleteSession(ctx context.Context, h task.Hash) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if !x.has(bucketSessions, h[:]) {
			return nil
		}
		return x.del(bucketSessions, string(h[:]))
	}})
}

// expiredSessions returns at most limit links and sessions whose time is over.
func (r *reader) expiredSessions(now time.Time, limit int) (rows []expired, _ error) {
	for _, in := range []bucket{bucketLinks, bucketSessions} {
		for k, raw := range r.ascend(in, nil, nil) {
			if len(rows) >= limit {
				break
			}
			var expires struct {
				At time.Time `json:"expires_at"`
			}
			if err := decodeJSON(in, k, raw, &expires); err != nil {
				return nil, err
			}
			if expires.At.Before(now) {
				rows = append(rows, expired{bucket: in, key: string(k), was: string(raw)})
			}
		}
	}
	return rows, nil
}
