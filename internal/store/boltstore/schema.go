package boltstore

import (
	"bytes"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"
)

// bucket is a bucket's number. The log holds it: no number changes or is given twice.
type bucket uint8

const (
	bucketMeta bucket = iota
	bucketTasks
	bucketOpen
	bucketByScope
	bucketIdemLog
	bucketIdemRuns
	bucketHolds
	bucketHoldEnds
	bucketAccounts
	bucketAccountsByName
	bucketKeys
	bucketKeysByHash
	bucketSecrets
	bucketKeysUsed
	bucketLinks
	bucketSessions
	bucketUsage
	bucketQuarantine
	bucketEndpoints
	bucketDeliveries
	bucketWaiting
	bucketCount
)

var bucketNames = [bucketCount][]byte{
	bucketMeta:           []byte("meta"),
	bucketTasks:          []byte("tasks"),
	bucketOpen:           []byte("open"),
	bucketByScope:        []byte("by_scope"),
	bucketIdemLog:        []byte("idem_log"),
	bucketIdemRuns:       []byte("idem_runs"),
	bucketHolds:          []byte("holds"),
	bucketHoldEnds:       []byte("hold_ends"),
	bucketAccounts:       []byte("accounts"),
	bucketAccountsByName: []byte("accounts_by_name"),
	bucketKeys:           []byte("keys"),
	bucketKeysByHash:     []byte("keys_by_hash"),
	bucketSecrets:        []byte("secrets"),
	bucketKeysUsed:       []byte("keys_used"),
	bucketLinks:          []byte("links"),
	bucketSessions:       []byte("sessions"),
	bucketUsage:          []byte("usage"),
	bucketQuarantine:     []byte("quarantine"),
	bucketEndpoints:      []byte("endpoints"),
	bucketDeliveries:     []byte("deliveries"),
	bucketWaiting:        []byte("waiting"),
}

// String returns the bucket's name in the file.
func (b bucket) String() string { return string(bucketNames[b]) }

// of returns the bucket within a transaction.
func (b bucket) of(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket(bucketNames[b]) }

var (
	metaSchema    = []byte("schema")
	metaSession   = []byte("session")
	metaMigration = []byte("migration")
	metaStore     = []byte("store")
	metaCopy      = []byte("copy")
	metaCopied    = []byte("copied")
	metaLogged    = []byte("logged")
	metaLogs      = [2][]byte{[]byte("log0"), []byte("log1")}
)

// beginSession counts this start and returns its number: no other start of this file has it.
func beginSession(tx *bolt.Tx) (int64, error) {
	meta := bucketMeta.of(tx)
	n := metaNumber(meta, metaSession) + 1
	return int64(n), meta.Put(metaSession, bigEndian(n))
}

// loadOpen fills the index with the tasks that aren't terminal; they have no lease. It returns the rows that can't be
// read.
func loadOpen(tx *bolt.Tx, x *index, wall time.Time) (bad []*unreadableError) {
	for k, v := range (&reader{opened: tx}).ascend(bucketOpen, nil, nil) {
		row, err := decodeOpen(v)
		if err == nil && len(k) != rowSize {
			err = errRecord
		}
		if err != nil {
			bad = append(bad, &unreadableError{bucketOpen, bytes.Clone(k), bytes.Clone(v), err})
			continue
		}
		x.replace(nil, openTaskOfRow(rowID(k), row, wall))
	}
	return bad
}

func metaNumber(meta *bolt.Bucket, name []byte) uint64 {
	if b := meta.Get(name); len(b) == 8 {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func bigEndian(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
