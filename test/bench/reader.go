package main

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Writers beside a long reader that holds its pages: commits a second, and tasks that each creates and ends.
const (
	readerCommits = 100
	readerTasks   = 16

	// A file that outgrows its map waits for every reader, and so for this one.
	readerMap = 16 << 30 // bytes
)

var errOutgrown = errors.New("the file has outgrown its map: let the reader read for a shorter time")

// longReader writes two bbolt files for d while a read transaction is open on each, one without and one
// with the free list in every commit, and returns their sizes.
func (b *testbed) longReader(ctx context.Context, d time.Duration) (figures, error) {
	found := figures{}
	files := map[string]*bolt.DB{}
	for name, noFreelist := range map[string]bool{size: true, sizeFreelist: false} {
		db, err := bolt.Open(filepath.Join(b.dir, name+".db"), 0o600, &bolt.Options{
			Timeout: time.Second, FreelistType: bolt.FreelistMapType, NoFreelistSync: noFreelist, InitialMmapSize: readerMap,
		})
		if err != nil {
			return nil, err
		}
		defer func() {
			_ = db.Close()
			_ = os.Remove(db.Path())
		}()
		files[name] = db
	}
	err := inParallelEach(files, func(db *bolt.DB) error { return writeUnderReader(ctx, db, d) })
	for name, db := range files {
		info, statErr := os.Stat(db.Path())
		if err = errors.Join(err, statErr); err != nil {
			return nil, err
		}
		found[name] = float64(info.Size())
	}
	return found, nil
}

func inParallelEach[T any](all map[string]T, f func(T) error) error {
	queue := make(chan T, len(all))
	for _, one := range all {
		queue <- one
	}
	return inParallel(len(all), func() error { return f(<-queue) })
}

func writeUnderReader(ctx context.Context, db *bolt.DB, d time.Duration) error {
	bucket, value := []byte("tasks"), make([]byte, 1500)
	if err := db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket(bucket); return err }); err != nil {
		return err
	}
	reader, err := db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Rollback() }()
	tick := time.NewTicker(time.Second / readerCommits)
	defer tick.Stop()
	for n := range int(d.Seconds() * readerCommits) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := db.Update(func(tx *bolt.Tx) error {
			if tx.Size() > readerMap/2 {
				return errOutgrown
			}
			b := tx.Bucket(bucket)
			b.FillPercent = 0.9
			for i := max(0, n-1) * readerTasks; i < (n+1)*readerTasks; i++ { // the last commit's again: they end
				if err := b.Put(binary.BigEndian.AppendUint64(nil, uint64(i)), value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
