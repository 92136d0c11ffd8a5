package boltstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

var errKeyIdentity = errors.New("boltstore: a key's id and hash don't change")

// PutAccount implements store.Keys.
func (db *DB) PutAccount(ctx context.Context, a account.Account) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if x.has(bucketAccounts, []byte(a.ID)) || x.has(bucketAccountsByName, []byte(a.Name)) {
			return store.ErrExists
		}
		if err := x.putJSON(bucketAccounts, a.ID, a); err != nil {
			return err
		}
		return x.put(bucketAccountsByName, []byte(a.Name), []byte(a.ID))
	}})
}

// ListAccounts implements store.Keys.
func (db *DB) ListAccounts(ctx context.Context) ([]account.Account, error) {
	all, err := listJSON[account.Account](ctx, db, bucketAccounts)
	slices.SortStableFunc(all, func(a, b account.Account) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, err
}

// PutKey implements store.Keys.
func (db *DB) PutKey(ctx context.Context, k account.Key) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if x.has(bucketKeys, []byte(k.ID)) || x.has(bucketKeysByHash, k.Hash[:]) {
			return store.ErrExists
		}
		if !x.has(bucketAccounts, []byte(k.Account)) {
			return store.ErrNotFound
		}
		if err := x.putJSON(bucketKeys, k.ID, k); err != nil {
			return err
		}
		return x.put(bucketKeysByHash, k.Hash[:], []byte(k.ID))
	}})
}

// KeyByHash implements store.Keys.
func (db *DB) KeyByHash(ctx context.Context, h task.Hash) (account.Key, account.Account, error) {
	var k account.Key
	var a account.Account
	err := db.view(ctx, func(r *reader) error {
		if err := getJSON(r, bucketKeys, r.get(bucketKeysByHash, h[:]), &k); err != nil {
			return err
		}
		return getJSON(r, bucketAccounts, []byte(k.Account), &a)
	})
	if err != nil {
		return account.Key{}, account.Account{}, err
	}
	return k, a, nil
}

// ListKeys implements store.Keys.
func (db *DB) ListKeys(ctx context.Context) ([]account.Key, error) {
	all, err := listJSON[account.Key](ctx, db, bucketKeys)
	slices.SortStableFunc(all, func(a, b account.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, err
}

// UpdateKey implements store.Keys.
func (db *DB) UpdateKey(ctx context.Context, id string, change func(*account.Key)) (account.Key, error) {
	var k account.Key
	err := db.do(ctx, &op{writes: true, run: func(x *txn) error {
		k = account.Key{}
		if err := getJSON(&x.reader, bucketKeys, []byte(id), &k); err != nil {
			return err
		}
		hash := k.Hash
		change(&k)
		if k.ID != id || k.Hash != hash {
			return errKeyIdentity
		}
		return x.putJSON(bucketKeys, id, k)
	}})
	if err != nil {
		return account.Key{}, err
	}
	return k, nil
}

// Secret implements store.Secrets.
func (db *DB) Secret(ctx context.Context, name string, size int) ([]byte, error) {
	var secret []byte
	err := db.view(ctx, func(r *reader) error {
		secret = slices.Clone(r.get(bucketSecrets, []byte(name)))
		return nil
	})
	if err != nil || secret != nil {
		return secret, err
	}
	err = db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if secret = slices.Clone(x.get(bucketSecrets, []byte(name))); secret != nil {
			return nil
		}
		secret = make([]byte, size)
		_, _ = rand.Read(secret) // never fails, by its documentation
		return x.put(bucketSecrets, []byte(name), slices.Clone(secret))
	}})
	if err != nil {
		return nil, err
	}
	return secret, nil
}

func (x *txn) has(in bucket, key []byte) bool { return x.get(in, key) != nil }

func (x *txn) putJSON(in bucket, id string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return x.put(in, []byte(id), raw)
}

// getJSON reads one value; ErrNotFound where the key is nil or unknown.
func getJSON(r *reader, in bucket, key []byte, into any) error {
	raw := r.get(in, key)
	if raw == nil {
		return store.ErrNotFound
	}
	return json.Unmarshal(raw, into)
}

func listJSON[T any](ctx context.Context, db *DB, in bucket) ([]T, error) {
	var all []T
	err := db.view(ctx, func(r *reader) error {
		for _, raw := range r.ascend(in, nil, nil) {
			var v T
			if err := json.Unmarshal(raw, &v); err != nil {
				return err
			}
			all = append(all, v)
		}
		return nil
	})
	return all, err
}
