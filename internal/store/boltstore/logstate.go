package boltstore

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"unitask/internal/store/boltstore/wal"

	bolt "go.etcd.io/bbolt"
)

// LogError reports a log that lacks changes which were acknowledged, or that can't be read.
type LogError struct {
	Path string // of the database
	Err  error
}

// Error describes the fault of the log.
func (e *LogError) Error() string { return "boltstore: " + e.Err.Error() }

func (e *LogError) Unwrap() error { return e.Err }

// logOf returns the tree's row about its log.
func logOf(tx *bolt.Tx, path string) (l wal.State, err error) {
	schema, err := schemaOf(tx, path)
	if err != nil || schema < logSchema { // it has none: a file that is there is another store's
		return l, err
	}
	l.Marked = schema >= sumSchema
	meta := bucketMeta.of(tx)
	if copy(l.ID[:], meta.Get(metaStore)) != len(l.ID) {
		return l, fmt.Errorf("%w: the store has no identity", errRecord)
	}
	if !l.Marked {
		l.Seq = metaNumber(meta, metaLogged)
		return l, nil
	}
	for i, name := range [][]byte{metaLogged, metaLogs[0], metaLogs[1]} {
		n, err := summedNumber(meta, name)
		if err != nil {
			return l, err
		}
		if i == 0 {
			l.Seq = n
		} else {
			l.Sizes[i-1] = int64(n)
		}
	}
	return l, nil
}

// beginMarks makes the addition of schema 7 to meta.
func beginMarks(tx *bolt.Tx) error {
	if err := putLogged(tx, metaNumber(bucketMeta.of(tx), metaLogged)); err != nil {
		return err
	}
	return putLogs(tx, [2]int64{})
}

// putLogged notes up to which group the tree has them all.
func putLogged(tx *bolt.Tx, seq uint64) error { return putSummed(tx, metaLogged, seq) }

// putLogs notes how long the files of the log are; zeros say that there are no files.
func putLogs(tx *bolt.Tx, sizes [2]int64) error {
	for i, name := range metaLogs {
		if err := putSummed(tx, name, uint64(sizes[i])); err != nil {
			return err
		}
	}
	return nil
}

// putSummed puts a number of meta with its sum: one that was damaged would let a start pass over the log's rows.
func putSummed(tx *bolt.Tx, name []byte, n uint64) error {
	return bucketMeta.of(tx).Put(name, summedValue(name, n))
}

func summedValue(name []byte, n uint64) []byte {
	b := bigEndian(n)
	return binary.BigEndian.AppendUint32(b, summed(name, b))
}

// summedNumber reads one.
func summedNumber(meta *bolt.Bucket, name []byte) (uint64, error) {
	b := meta.Get(name)
	if len(b) != 12 || binary.BigEndian.Uint32(b[8:]) != summed(name, b[:8]) {
		return 0, fmt.Errorf("%w: %q in meta isn't there, or has a wrong sum", errRecord, name)
	}
	return binary.BigEndian.Uint64(b), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// summed is the CRC-32C of a row.
func summed(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}
