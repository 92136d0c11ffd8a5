package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/task"
)

// Check compares every page of the file with the tree.
func Check(db *DB) error {
	return db.flushThen(context.Background(), func() error { // a flush that begins meanwhile would change the list of free pages
		return db.bolt.View(func(tx *bolt.Tx) error {
			var errs []error
			for err := range tx.Check() {
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		})
	})
}

// Buckets returns the names of the file's buckets, nested ones with their parents'.
func Buckets(db *DB) (names []string, err error) {
	err = db.bolt.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			names = append(names, string(name))
			return b.ForEachBucket(func(k []byte) error {
				names = append(names, string(name)+"/"+string(k))
				return nil
			})
		})
	})
	return names, err
}

// SetSchema pretends that another version wrote the file.
func SetSchema(db *DB, schema uint64) error {
	return db.bolt.Update(func(tx *bolt.Tx) error {
		return bucketMeta.of(tx).Put(metaSchema, bigEndian(schema))
	})
}

// UpgradeRowByRow opens the file and closes it, with a commit for each row that its migration treats.
func UpgradeRowByRow(path string) error {
	db, err := Open(Config{Path: path, migrationRows: 1})
	if err != nil {
		return err
	}
	return db.Close()
}

// UpgradeCarelessly does the same, but notes first that it is done.
func UpgradeCarelessly(path string) error {
	b, err := bolt.Open(path, 0o600, Config{}.options())
	if err != nil {
		return err
	}
	err = b.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucketNames[bucketHoldEnds])
		return errors.Join(err, bucketMeta.of(tx).Put(metaSchema, bigEndian(newestSchema())))
	})
	for from := []byte{0}; err == nil && from != nil; {
		err = b.Update(func(tx *bolt.Tx) error {
			from, err = endCounters(tx, from, 1)
			return err
		})
	}
	return errors.Join(err, b.Close())
}

// Budget is a counter of a period.
type Budget struct {
	Amount int64
	End    time.Time
}

// Budgets returns the counters whose time ends, by scope, as `hold_ends` leads to them, and an error for
// one that it doesn't.
func Budgets(db *DB) (map[string]Budget, error) {
	all := map[string]Budget{}
	if err := db.Flush(context.Background()); err != nil {
		return nil, err
	}
	err := db.bolt.View(func(tx *bolt.Tx) error {
		holds := bucketHolds.of(tx)
		err := bucketHoldEnds.of(tx).ForEach(func(k, _ []byte) error {
			_, scope, _ := strings.Cut(string(k[counterWord:]), "\x00")
			c := counter(holds.Get(k[counterWord:]))
			if !bytes.Equal(c.end(), k[:counterWord]) {
				return fmt.Errorf("%s ends at %x, not %x", scope, c.end(), k[:counterWord])
			}
			all[scope] = Budget{Amount: c.amount(), End: time.Unix(0, int64(binary.BigEndian.Uint64(c.end()))).UTC()}
			return nil
		})
		return errors.Join(err, holds.ForEach(func(k, v []byte) error {
			kind, scope, _ := strings.Cut(string(k), "\x00")
			if _, known := all[scope]; task.HoldKind(kind).Stays() && !known {
				return fmt.Errorf("%s has no end", scope)
			}
			return nil
		}))
	})
	return all, err
}

// SetRunLength says how many pairs make an idempotency run.
func SetRunLength(db *DB, n int) { set(db, func() { db.idem.Limit = n }) }

// SetGroupLimit bounds the operations of a commit.
func SetGroupLimit(db *DB, n int) { set(db, func() { db.maxGroup = n }) }

// Runs returns how many idempotency runs the file has.
func Runs(db *DB) (n int, err error) {
	if err := db.Flush(context.Background()); err != nil {
		return 0, err
	}
	err = db.bolt.View(func(tx *bolt.Tx) error {
		n = bucketIdemRuns.of(tx).Stats().KeyN
		return nil
	})
	return n, err
}

// PutSecret writes a secret and then ends as told: the operation's own error, or a panic.
func PutSecret(db *DB, name string, end func() error) error {
	return db.do(context.Background(), &op{writes: true, run: func(x *txn) error {
		if err := x.put(bucketSecrets, name, []byte("x")); err != nil {
			return err
		}
		return end()
	}})
}

// Together runs operations in one group: while the committer is kept busy, they queue up.
func Together(db *DB, ops ...func() error) []error {
	entered, release := make(chan struct{}), make(chan struct{})
	blocker := make(chan error, 1)
	go func() {
		blocker <- db.do(context.Background(), &op{run: func(*txn) error {
			entered <- struct{}{}
			<-release
			return nil
		}})
	}()
	<-entered
	errs := make([]error, len(ops))
	done := make(chan struct{})
	for i, run := range ops {
		go func() {
			errs[i] = run()
			done <- struct{}{}
		}()
	}
	for len(db.ops) < len(ops) {
		runtime.Gosched()
	}
	close(release)
	<-blocker
	for range ops {
		<-done
	}
	return errs
}

// DropFreelist leaves a closed file as a crash leaves it: without its list of free pages.
func DropFreelist(path string) error {
	b, err := bolt.Open(path, 0o600, Config{}.options())
	if err != nil {
		return err
	}
	return errors.Join(b.Update(func(tx *bolt.Tx) error {
		return bucketMeta.of(tx).Put(metaSchema, bigEndian(newestSchema()))
	}), b.Close())
}

// ListWindow bounds the rows that a page of a listing looks at.
const ListWindow = listWindow

// HeadSize is the offset of a record's JSON.
const HeadSize = headSize + sumSize

// Record forms for the fuzz test.
var (
	EncodeTask = encodeTask
	DecodeTask = decodeTask
	ErrRecord  = errRecord
	ErrPanic   = errPanic
)

// ReadSums returns the numbers of a row of `usage` and how they are written again.
func ReadSums(row []byte) (numbers []int64, again []byte) {
	n := decodeSums(row)
	return n[:], encodeSums(n[:])
}

// UsageKeyAgain returns how a key of `usage` is written from its parts; false if it has none.
func UsageKeyAgain(key []byte) ([]byte, bool) {
	r, ok := parseUsageKey(key)
	if !ok {
		return nil, false
	}
	return rowOfSum(nil, key[0], r.owner, r.day, r.mode, r.capability, r.part), true
}

// RowID returns the 16 bytes of an id and its spelling from them.
func RowID(id string) (row []byte, again string, ok bool) {
	r, ok := parseID(id)
	return r[:], r.String(), ok
}

// HoldReader opens a read transaction that keeps every page of now, until the function it returns is
// called.
func HoldReader(t testing.TB, db *DB) (release func()) {
	t.Helper()
	tx, err := db.bolt.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// ListLocks lists a page as ListTasks does and returns how often it locked the rows that the tree doesn't have yet.
func ListLocks(db *DB, q store.ListQuery) (locks int, _ error) {
	r := db.reader(nil, &counted{db.tables.RLocker(), &locks})
	defer r.close()
	_, err := listPage(&r, q, rowID{}, lastRow)
	return locks, errors.Join(err, r.err)
}

type counted struct {
	sync.Locker
	n *int
}

func (c *counted) Lock() {
	*c.n++
	c.Locker.Lock()
}

// GoOnWithout has an operation meet a row of tasks so many times that can't be read, and returns the last answer.
func GoOnWithout(ctx context.Context, db *DB, key, value []byte, times int) (err error) {
	var bad asides
	for range times {
		err = bad.goOn(ctx, db, unreadable(bucketTasks, key, value, errRecord))
	}
	return err
}
