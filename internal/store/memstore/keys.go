package memstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

var (
	errKeyIdentity     = errors.New("memstore: a key's id, account and hash don't change")
	errAccountIdentity = errors.New("memstore: an account's id doesn't change")
)

// PutAccount implements store.Accounts.
func (db *DB) PutAccount(ctx context.Context, a account.Account) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	for _, known := range db.accounts {
		if known.ID == a.ID || known.Name == a.Name {
			return store.ErrExists
		}
	}
	db.accounts[a.ID] = detached(a)
	db.changes++
	return nil
}

// GetAccount implements store.Accounts and store.Callers.
func (db *DB) GetAccount(ctx context.Context, id string) (account.Account, error) {
	return db.account(ctx, func(a account.Account) bool { return a.ID == id })
}

// FindAccount implements store.Accounts.
func (db *DB) FindAccount(ctx context.Context, name string) (account.Account, error) {
	return db.account(ctx, func(a account.Account) bool { return a.Name == name })
}

func (db *DB) account(ctx context.Context, is func(account.Account) bool) (account.Account, error) {
	if err := db.lock(ctx); err != nil {
		return account.Account{}, err
	}
	defer db.mu.Unlock()
	for _, a := range db.accounts {
		if is(a) {
			return detached(a), nil
		}
	}
	return account.Account{}, store.ErrNotFound
}

// UpdateAccount implements store.Accounts.
func (db *DB) UpdateAccount(ctx context.Context, id string, change func(*account.Account) error) (account.Account, error) {
	if err := db.lock(ctx); err != nil {
		return account.Account{}, err
	}
	defer db.mu.Unlock()
	old, ok := db.accounts[id]
	if !ok {
		return account.Account{}, store.ErrNotFound
	}
	a := detached(old)
	if err := change(&a); err != nil {
		return account.Account{}, err
	}
	if a.ID != old.ID {
		return account.Account{}, errAccountIdentity
	}
	for _, other := range db.accounts {
		if other.ID != id && other.Name == a.Name {
			return account.Account{}, store.ErrExists
		}
	}
	db.accounts[id] = detached(a)
	db.changes++
	return a, nil
}

// ListAccounts implements store.Accounts.
func (db *DB) ListAccounts(ctx context.Context) ([]account.Account, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	return slices.SortedFunc(maps.Values(db.accounts), func(a, b account.Account) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	}), nil
}

// PutKey implements store.Keys.
func (db *DB) PutKey(ctx context.Context, k account.Key) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	return db.putKey(k)
}

func (db *DB) putKey(k account.Key) error {
	for _, known := range db.keys {
		if known.ID == k.ID || known.Hash == k.Hash {
			return store.ErrExists
		}
	}
	if _, ok := db.accounts[k.Account]; !ok {
		return store.ErrNotFound
	}
	db.keys[k.ID] = detached(k)
	db.changes++
	return nil
}

// RotateKey implements store.Keys.
func (db *DB) RotateKey(ctx context.Context, id string, rotate func(*account.Key) (account.Key, error)) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	var next account.Key
	before, ok := db.keys[id]
	_, err := db.updateKey(id, func(k *account.Key) (err error) {
		next, err = rotate(k)
		return err
	})
	if err == nil {
		err = db.putKey(next)
	}
	if err != nil && ok {
		db.keys[id] = before
	}
	return err
}

// KeyByHash implements store.Callers.
func (db *DB) KeyByHash(ctx context.Context, h task.Hash) (account.Key, account.Account, error) {
	if err := db.lock(ctx); err != nil {
		return account.Key{}, account.Account{}, err
	}
	defer db.mu.Unlock()
	for _, k := range db.keys {
		if k.Hash == h {
			return detached(k), detached(db.accounts[k.Account]), nil
		}
	}
	return account.Key{}, account.Account{}, store.ErrNotFound
}

// ListKeys implements store.Keys.
func (db *DB) ListKeys(ctx context.Context) ([]account.Key, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	return slices.SortedFunc(maps.Values(db.keys), func(a, b account.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	}), nil
}

// UpdateKey implements store.Keys.
func (db *DB) UpdateKey(ctx context.Context, id string, change func(*account.Key) error) (account.Key, error) {
	if err := db.lock(ctx); err != nil {
		return account.Key{}, err
	}
	defer db.mu.Unlock()
	return db.updateKey(id, change)
}

func (db *DB) updateKey(id string, change func(*account.Key) error) (account.Key, error) {
	old, ok := db.keys[id]
	if !ok {
		return account.Key{}, store.ErrNotFound
	}
	k := detached(old)
	if err := change(&k); err != nil {
		return account.Key{}, err
	}
	if k.ID != old.ID || k.Account != old.Account || k.Hash != old.Hash {
		return account.Key{}, errKeyIdentity
	}
	db.keys[id] = detached(k)
	db.changes++
	return k, nil
}

// Changes implements store.Callers.
func (db *DB) Changes() uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.changes
}

// MarkUsed implements store.Callers.
func (db *DB) MarkUsed(ctx context.Context, at map[string]time.Time) error {
	if err := db.lock(ctx); err != nil {
		return err
	}
	defer db.mu.Unlock()
	for id, used := range at {
		if k, ok := db.keys[id]; ok {
			k.LastUsedAt = &used
			db.keys[id] = detached(k)
		}
	}
	return nil
}

// Secret implements store.Secrets.
func (db *DB) Secret(ctx context.Context, name string, size int) ([]byte, error) {
	if err := db.lock(ctx); err != nil {
		return nil, err
	}
	defer db.mu.Unlock()
	if db.secrets[name] == nil {
		db.secrets[name] = make([]byte, size)
		_, _ = rand.Read(db.secrets[name]) // never fails, by its documentation
	}
	return bytes.Clone(db.secrets[name]), nil
}

// detached returns a copy that shares no memory.
func detached[T any](v T) T {
	raw, err := json.Marshal(v)
	var out T
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic("memstore: " + err.Error()) // plain data
	}
	return out
}
