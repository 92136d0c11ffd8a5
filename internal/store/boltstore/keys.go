package boltstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

var (
	errKeyIdentity     = errors.New("boltstore: a key's id, account and hash don't change")
	errAccountIdentity = errors.New("boltstore: an account's id doesn't change")
)

// PutAccount implements store.Accounts.
func (db *DB) PutAccount(ctx context.Context, a account.Account) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		if x.has(bucketAccounts, []byte(a.ID)) || x.has(bucketAccountsByName, []byte(a.Name)) {
			return store.ErrExists
		}
		x.authChanged = true
		if err := x.putJSON(bucketAccounts, a.ID, a); err != nil {
			return err
		}
		return x.put(bucketAccountsByName, a.Name, []byte(a.ID))
	}})
}

// GetAccount implements store.Accounts and store.Callers.
func (db *DB) GetAccount(ctx context.Context, id string) (account.Account, error) {
	return db.account(ctx, func(*reader) []byte { return []byte(id) })
}

// FindAccount implements store.Accounts.
func (db *DB) FindAccount(ctx context.Context, name string) (account.Account, error) {
	return db.account(ctx, func(r *reader) []byte { return r.get(bucketAccountsByName, []byte(name)) })
}

func (db *DB) account(ctx context.Context, id func(*reader) []byte) (account.Account, error) {
	var a account.Account
	err := db.view(ctx, func(r *reader) error { return getJSON(r, bucketAccounts, id(r), &a) })
	if err != nil {
		return account.Account{}, err
	}
	return a, nil
}

// UpdateAccount implements store.Accounts.
func (db *DB) UpdateAccount(ctx context.Context, id string, change func(*account.Account) error) (account.Account, error) {
	var a account.Account
	err := db.do(ctx, &op{writes: true, run: func(x *txn) error {
		a = account.Account{}
		if err := getJSON(&x.reader, bucketAccounts, []byte(id), &a); err != nil {
			return err
		}
		name := a.Name
		if err := change(&a); err != nil {
			return err
		}
		if a.ID != id {
			return errAccountIdentity
		}
		if err := x.rename(id, name, a.Name); err != nil {
			return err
		}
		x.authChanged = true
		return x.putJSON(bucketAccounts, id, a)
	}})
	if err != nil {
		return account.Account{}, err
	}
	return a, nil
}

// rename has an account be found by another name.
func (x *txn) rename(id, from, to string) error {
	switch {
	case from == to:
		return nil
	case x.has(bucketAccountsByName, []byte(to)):
		return store.ErrExists
	}
	if err := x.del(bucketAccountsByName, from); err != nil {
		return err
	}
	return x.put(bucketAccountsByName, to, []byte(id))
}

// ListAccounts implements store.Accounts.
func (db *DB) ListAccounts(ctx context.Context) ([]account.Account, error) {
	all, err := listJSON[account.Account](ctx, db, bucketAccounts)
	slices.SortStableFunc(all, func(a, b account.Account) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, err
}

// PutKey implements store.Keys.
func (db *DB) PutKey(ctx context.Context, k account.Key) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error { return x.putKey(k) }})
}

func (x *txn) putKey(k account.Key) error {
	if x.has(bucketKeys, []byte(k.ID)) || x.has(bucketKeysByHash, k.Hash[:]) {
		return store.ErrExists
	}
	if !x.has(bucketAccounts, []byte(k.Account)) {
		return store.ErrNotFound
	}
	x.authChanged = true
	if err := x.putJSON(bucketKeys, k.ID, k); err != nil {
		return err
	}
	return x.put(bucketKeysByHash, string(k.Hash[:]), []byte(k.ID))
}

// RotateKey implements store.Keys.
func (db *DB) RotateKey(ctx context.Context, id string, rotate func(*account.Key) (account.Key, error)) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		var next account.Key
		_, err := x.updateKey(id, func(k *account.Key) (err error) {
			next, err = rotate(k)
			return err
		})
		if err != nil {
			return err
		}
		return x.putKey(next)
	}})
}

// KeyByHash implements store.Callers.
func (db *DB) KeyByHash(ctx context.Context, h task.Hash) (account.Key, account.Account, error) {
	var k account.Key
	var a account.Account
	err := db.view(ctx, func(r *reader) error {
		if err := getJSON(r, bucketKeys, r.get(bucketKeysByHash, h[:]), &k); err != nil {
			return err
		}
		readUsed(r, &k)
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
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b account.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	err = db.view(ctx, func(r *reader) error {
		for i := range all {
			readUsed(r, &all[i])
		}
		return nil
	})
	return all, err
}

// UpdateKey implements store.Keys.
func (db *DB) UpdateKey(ctx context.Context, id string, change func(*account.Key) error) (account.Key, error) {
	var k account.Key
	err := db.do(ctx, &op{writes: true, run: func(x *txn) (err error) {
		k, err = x.updateKey(id, change)
		return err
	}})
	if err != nil {
		return account.Key{}, err
	}
	return k, nil
}

func (x *txn) updateKey(id string, change func(*account.Key) error) (account.Key, error) {
	var k account.Key
	if err := getJSON(&x.reader, bucketKeys, []byte(id), &k); err != nil {
		return k, err
	}
	readUsed(&x.reader, &k)
	owner, hash := k.Account, k.Hash
	if err := change(&k); err != nil {
		return k, err
	}
	if k.ID != id || k.Account != owner || k.Hash != hash {
		return k, errKeyIdentity
	}
	x.authChanged = true
	return k, x.putJSON(bucketKeys, id, k)
}

// Changes implements store.Callers.
func (db *DB) Changes() uint64 { return db.changes.Load() }

// MarkUsed implements store.Callers.
func (db *DB) MarkUsed(ctx context.Context, at map[string]time.Time) error {
	return db.do(ctx, &op{writes: true, run: func(x *txn) error {
		for id, used := range at {
			if !x.has(bucketKeys, []byte(id)) {
				continue
			}
			if err := x.put(bucketKeysUsed, id, bigEndian(uint64(used.UnixNano()))); err != nil {
				return err
			}
		}
		return nil
	}})
}

// readUsed sets when the key was last used, if it has a row for that.
func readUsed(r *reader, k *account.Key) {
	if raw := r.get(bucketKeysUsed, []byte(k.ID)); len(raw) == 8 {
		k.LastUsedAt = new(time.Unix(0, int64(binary.BigEndian.Uint64(raw))).UTC())
	}
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
		return x.put(bucketSecrets, name, slices.Clone(secret))
	}})
	if err != nil {
		return nil, err
	}
	return secret, nil
}

func (x *txn) has(in bucket, key []byte) bool { return x.get(in, key) != nil }

func (x *txn) putJSON(in bucket, id string, value any) error {
	row, err := encodeJSON(value)
	if err != nil {
		return err
	}
	return x.put(in, id, row)
}

// encodeJSON returns a row as a format byte, the CRC-32C of the rest of the row, and JSON. Older versions wrote the
// JSON alone.
func encodeJSON(value any) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	row := append(make([]byte, 1+sumSize, 1+sumSize+len(raw)), raw...)
	row[0] = formatSum
	sumAt(row, 1)
	return row, nil
}

// getJSON reads one value; ErrNotFound if the key is nil or unknown.
func getJSON(r *reader, in bucket, key []byte, into any) error {
	raw := r.get(in, key)
	if raw == nil {
		return store.ErrNotFound
	}
	return decodeJSON(in, key, raw, into)
}

// decodeJSON reads a value of encodeJSON; an *unreadableError if it was damaged.
func decodeJSON(in bucket, key, raw []byte, into any) error {
	body, err := raw, errRecord
	switch {
	case len(raw) == 0:
	case raw[0] == '{':
		err = nil
	case raw[0] == formatSum && sumHolds(raw, 1):
		body, err = raw[1+sumSize:], nil
	case raw[0] == formatSum:
		err = errSum
	}
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return unreadable(in, key, raw, err)
	}
	return nil
}

// listJSON returns the values of a bucket. Those that can't be read are set aside.
func listJSON[T any](ctx context.Context, db *DB, in bucket) ([]T, error) {
	var all []T
	var bad []error
	err := db.view(ctx, func(r *reader) error {
		for k, raw := range r.ascend(in, nil, nil) {
			var v T
			if err := decodeJSON(in, k, raw, &v); err != nil {
				bad = append(bad, err)
				continue
			}
			all = append(all, v)
		}
		return nil
	})
	for _, u := range bad {
		err = errors.Join(err, db.setAside(ctx, u))
	}
	return all, err
}
