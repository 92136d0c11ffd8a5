package pgstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

var (
	errKeyIdentity     = errors.New("pgstore: a key's id, account and hash don't change")
	errAccountIdentity = errors.New("pgstore: an account's id doesn't change")
)

// change runs a transaction that changes accounts, keys or sessions. counts: caches of callers must hear of it.
func (db *DB) change(ctx context.Context, counts bool, do func(pgx.Tx) error) error {
	var count uint64
	err := db.read(ctx, func(ctx context.Context) error {
		tx, err := db.pool.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		if err = do(tx); err == nil && counts {
			err = tx.QueryRow(ctx, db.q(`UPDATE {s}.changes SET count = count + 1 RETURNING count`)).Scan(&count)
		}
		if err != nil {
			return err
		}
		if err = tx.Commit(ctx); err != nil && !refused(err) && !errors.Is(err, pgx.ErrTxCommitRollback) {
			return fmt.Errorf("%w: %w", store.ErrUnknown, err)
		}
		return err
	})
	if err == nil {
		db.latest.addChanges(count)
		db.seen(count)
	}
	return err
}

// seen notes a count of changes. One that is lower counts too: the database may have gone back to an earlier moment.
func (db *DB) seen(count uint64) {
	if count != 0 && db.counted.Swap(count) != count {
		db.changes.Add(1)
	}
}

// exec is a change of one statement.
func (db *DB) exec(ctx context.Context, counts bool, sql string, args ...any) error {
	return db.change(ctx, counts, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, db.q(sql), args...)
		return err
	})
}

// PutAccount implements store.Accounts.
func (db *DB) PutAccount(ctx context.Context, a account.Account) error {
	record, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return db.exec(ctx, true, `INSERT INTO {s}.accounts (id, name, record) VALUES ($1, $2, $3)`, a.ID, a.Name, record)
}

// GetAccount implements store.Accounts and store.Callers.
func (db *DB) GetAccount(ctx context.Context, id string) (account.Account, error) {
	return readRecord[account.Account](ctx, db, `SELECT record FROM {s}.accounts WHERE id = $1`, id)
}

// FindAccount implements store.Accounts.
func (db *DB) FindAccount(ctx context.Context, name string) (account.Account, error) {
	return readRecord[account.Account](ctx, db, `SELECT record FROM {s}.accounts WHERE name = $1`, name)
}

// ListAccounts implements store.Accounts.
func (db *DB) ListAccounts(ctx context.Context) ([]account.Account, error) {
	return readRecords[account.Account](ctx, db, `SELECT record FROM {s}.accounts ORDER BY convert_from(record, 'UTF8')::jsonb ->> 'created_at', id`)
}

// UpdateAccount implements store.Accounts.
func (db *DB) UpdateAccount(ctx context.Context, id string, change func(*account.Account) error) (account.Account, error) {
	var a account.Account
	err := db.change(ctx, true, func(tx pgx.Tx) error {
		var record []byte
		err := tx.QueryRow(ctx, db.q(`SELECT record FROM {s}.accounts WHERE id = $1 FOR UPDATE`), id).Scan(&record)
		if err != nil {
			return err
		}
		a = account.Account{} // it may run again
		if err := json.Unmarshal(record, &a); err != nil {
			return err
		}
		if err := change(&a); err != nil {
			return err
		}
		if a.ID != id {
			return errAccountIdentity
		}
		if record, err = json.Marshal(a); err != nil {
			return err
		}
		return execute(ctx, tx, db.q(`UPDATE {s}.accounts SET name = $2, record = $3 WHERE id = $1`), id, a.Name, record)
	})
	if err != nil {
		return account.Account{}, err
	}
	return a, nil
}

// PutKey implements store.Keys.
func (db *DB) PutKey(ctx context.Context, k account.Key) error {
	return db.change(ctx, true, func(tx pgx.Tx) error { return db.putKey(ctx, tx, k) })
}

func (db *DB) putKey(ctx context.Context, tx pgx.Tx, k account.Key) error {
	used := k.LastUsedAt
	k.LastUsedAt = nil
	record, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return execute(ctx, tx, db.q(`INSERT INTO {s}.keys (id, account, hash, record, last_used) VALUES ($1, $2, $3, $4, $5)`),
		k.ID, k.Account, k.Hash[:], record, used)
}

// ListKeys implements store.Keys.
func (db *DB) ListKeys(ctx context.Context) ([]account.Key, error) {
	var all []account.Key
	err := db.read(ctx, func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, db.q(`SELECT record, last_used FROM {s}.keys
			ORDER BY convert_from(record, 'UTF8')::jsonb ->> 'created_at', id`))
		if err == nil {
			all, err = pgx.CollectRows(rows, scanKey)
		}
		return err
	})
	return all, err
}

func scanKey(row pgx.CollectableRow) (k account.Key, err error) {
	var record []byte
	var used *time.Time
	if err = row.Scan(&record, &used); err != nil {
		return k, err
	}
	if err = json.Unmarshal(record, &k); err == nil && used != nil {
		k.LastUsedAt = new(used.UTC())
	}
	return k, err
}

// UpdateKey implements store.Keys.
func (db *DB) UpdateKey(ctx context.Context, id string, change func(*account.Key) error) (account.Key, error) {
	var k account.Key
	err := db.change(ctx, true, func(tx pgx.Tx) (err error) {
		k, err = db.updateKey(ctx, tx, id, change)
		return err
	})
	if err != nil {
		return account.Key{}, err
	}
	return k, nil
}

func (db *DB) updateKey(ctx context.Context, tx pgx.Tx, id string, change func(*account.Key) error) (account.Key, error) {
	rows, err := tx.Query(ctx, db.q(`SELECT record, last_used FROM {s}.keys WHERE id = $1 FOR UPDATE`), id)
	if err != nil {
		return account.Key{}, err
	}
	k, err := pgx.CollectExactlyOneRow(rows, scanKey)
	if err != nil {
		return k, err
	}
	old := k
	if err := change(&k); err != nil {
		return k, err
	}
	if k.ID != old.ID || k.Account != old.Account || k.Hash != old.Hash {
		return k, errKeyIdentity
	}
	bare := k
	bare.LastUsedAt = nil
	record, err := json.Marshal(bare)
	if err != nil {
		return k, err
	}
	return k, execute(ctx, tx, db.q(`UPDATE {s}.keys SET record = $2, last_used = $3 WHERE id = $1`), id, record, k.LastUsedAt)
}

// RotateKey implements store.Keys.
func (db *DB) RotateKey(ctx context.Context, id string, rotate func(*account.Key) (account.Key, error)) error {
	return db.change(ctx, true, func(tx pgx.Tx) error {
		var next account.Key
		_, err := db.updateKey(ctx, tx, id, func(k *account.Key) (err error) {
			next, err = rotate(k)
			return err
		})
		if err != nil {
			return err
		}
		return db.putKey(ctx, tx, next)
	})
}

// KeyByHash implements store.Callers.
func (db *DB) KeyByHash(ctx context.Context, h task.Hash) (account.Key, account.Account, error) {
	var key, owner []byte
	var used *time.Time
	err := db.read(ctx, func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, db.q(`SELECT k.record, k.last_used, a.record FROM {s}.keys k JOIN {s}.accounts a ON a.id = k.account
			WHERE k.hash = $1`), h[:]).Scan(&key, &used, &owner)
	})
	var k account.Key
	var a account.Account
	if err == nil {
		err = errors.Join(json.Unmarshal(key, &k), json.Unmarshal(owner, &a))
	}
	if err != nil {
		return account.Key{}, account.Account{}, err
	}
	if used != nil {
		k.LastUsedAt = new(used.UTC())
	}
	return k, a, nil
}

// MarkUsed implements store.Callers.
func (db *DB) MarkUsed(ctx context.Context, at map[string]time.Time) error {
	var ids []string
	var times []time.Time
	for id, used := range at {
		ids, times = append(ids, id), append(times, used)
	}
	return db.exec(ctx, false, `UPDATE {s}.keys k SET last_used = t.used FROM unnest($1::text[], $2::timestamptz[]) AS t (id, used)
		WHERE k.id = t.id`, ids, times)
}

// watchInterval is how often a node looks for changes of accounts and keys by others.
const watchInterval = 250 * time.Millisecond

// Changes implements store.Callers. Changes by others are seen within watchInterval.
func (db *DB) Changes() uint64 { return db.changes.Load() }

// watchChanges sees the changes by others.
func (db *DB) watchChanges(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			err := doWithin(ctx, readTime, db.readChanges)
			db.doubt(ctx, err) // a database that is gone changes nothing
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				// The other side is gone without a word: the other connections are as silent.
				db.pool.Reset()
				db.work.Reset()
			}
			_ = doWithin(ctx, readTime, db.lookForLost) // it is tried again
		}
	}
}

// readChanges reads their count and the database's clock.
func (db *DB) readChanges(ctx context.Context) error {
	var count uint64
	var now time.Time
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	asked := time.Now()
	if err := conn.QueryRow(ctx, db.q(`SELECT count, clock_timestamp() FROM {s}.changes`)).Scan(&count, &now); err != nil {
		return err
	}
	db.clock.set(now, asked)
	db.seen(count)
	return nil
}

// Secret implements store.Secrets. Of several nodes that make one at the same time the first wins.
func (db *DB) Secret(ctx context.Context, name string, size int) ([]byte, error) {
	fresh := randomBytes(size)
	if err := db.exec(ctx, false, `INSERT INTO {s}.secrets VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, fresh); err != nil {
		return nil, err
	}
	var value []byte
	err := db.read(ctx, func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, db.q(`SELECT value FROM {s}.secrets WHERE name = $1`), name).Scan(&value)
	})
	return value, err
}
