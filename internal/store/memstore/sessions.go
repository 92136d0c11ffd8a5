package memstore

import (
	"context"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// PutLink implements store.Sessions.
func (db *DB) PutLink(ctx context.Context, l account.Link) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	if _, taken := db.links[l.Hash]; taken {
		return store.ErrExists
	}
	if _, ok := db.accounts[l.Account]; !ok {
		return store.ErrNotFound
	}
	db.links[l.Hash] = l
	return nil
}

// RedeemLink implements store.Sessions.
func (db *DB) RedeemLink(ctx context.Context, link task.Hash, open func(account.Link) (account.Session, error)) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	l, ok := db.links[link]
	if !ok {
		return store.ErrNotFound
	}
	s, err := open(l)
	if err != nil {
		return err
	}
	delete(db.links, link)
	db.sessions[s.Hash] = s
	return nil
}

// GetSession implements store.Sessions.
func (db *DB) GetSession(ctx context.Context, h task.Hash) (account.Session, account.Account, error) {
	if err := db.lock(ctx); err != nil {
		return account.Session{}, account.Account{}, err
	}
	defer db.mu.Unlock()
	s, ok := db.sessions[h]
	if !ok {
		return account.Session{}, account.Account{}, store.ErrNotFound
	}
	return s, detached(db.accounts[s.Account]), nil
}

// ListSessions implements store.Sessions.
func (db *DB) ListSessions(ctx context.Context, owner string) ([]account.Session, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	var all []account.Session
	for _, s := range db.sessions {
		if s.Account == owner {
			all = append(all, s)
		}
	}
	return all, nil
}

// SeeSession implements store.Sessions.
func (db *DB) SeeSession(ctx context.Context, h task.Hash, at time.Time) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	s, ok := db.sessions[h]
	if !ok {
		return store.ErrNotFound
	}
	s.SeenAt = at
	db.sessions[h] = s
	return nil
}

// DeleteSession implements store.Sessions.
func (db *DB) DeleteSession(ctx context.Context, h task.Hash) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	delete(db.sessions, h)
	return nil
}

// sweepSessions removes at most limit links and sessions that have expired, and returns how many.
func (db *DB) sweepSessions(limit int) (removed int) {
	now := db.now()
	for h, l := range db.links {
		if removed < limit && l.ExpiresAt.Before(now) {
			delete(db.links, h)
			removed++
		}
	}
	for h, s := range db.sessions {
		if removed < limit && s.ExpiresAt.Before(now) {
			delete(db.sessions, h)
			removed++
		}
	}
	return removed
}
