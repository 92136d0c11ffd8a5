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

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

var errKeyIdentity = errors.New("memstore: a key's id and hash don't change")

// PutAccount implements store.Keys.
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
	return nil
}

// ListAccounts implements store.Keys.
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
	for _, known := range db.keys {
		if known.ID == k.ID || known.Hash == k.Hash {
			return store.ErrExists
		}
	}
	if _, ok := db.accounts[k.Account]; !ok {
		return store.ErrNotFound
	}
	db.keys[k.ID] = detached(k)
	return nil
}

// KeyByHash implements store.Keys.
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
func (db *DB) UpdateKey(ctx context.Context, id string, change func(*account.Key)) (account.Key, error) {
	if err := db.lock(ctx); err != nil {
		return account.Key{}, err
	}
	defer db.mu.Unlock()
	old, ok := db.keys[id]
	if !ok {
		return account.Key{}, store.ErrNotFound
	}
	k := detached(old)
	change(&k)
	if k.ID != old.ID || k.Hash != old.Hash {
		return account.Key{}, errKeyIdentity
	}
	db.keys[id] = detached(k)
	return k, nil
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
