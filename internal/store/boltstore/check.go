package boltstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
	"unitask/internal/task"
)

// maxFindings bounds a report; more are counted only.
const maxFindings = 1000

// CheckConfig names the data that Check compares with the file.
type CheckConfig struct {
	Now func() time.Time // required
	// File returns the fault of a stored result, nil for a good one. Those that have expired aren't asked for. A nil
	// function skips the files.
	File func(a task.Artifact) error
	// Input does the same for an input that is kept apart from its task.
	Input func(ref string) error
}

// Finding is one thing that is wrong.
type Finding struct {
	Subject string `json:"subject"` // a task's id, a counter's scope, "file" …
	Problem string `json:"problem"`
}

// Report is the result of a check.
type Report struct {
	Schema   uint64    `json:"schema"`
	Bytes    int64     `json:"bytes"`
	Tasks    int64     `json:"tasks"`
	Open     int64     `json:"open"` // tasks that aren't terminal
	Files    int64     `json:"files"`
	Keys     int64     `json:"keys"`
	Findings []Finding `json:"findings"`
	More     int64     `json:"more"` // findings beyond those listed
}

// Add adds a finding.
func (r *Report) Add(f Finding) {
	if len(r.Findings) == maxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}

// Check compares the file's pages with its tree, and every record with the rows that lead to it and back: indexes,
// idempotency, holds of open tasks, ledgers, sums of usage, files. An error means that it could not be carried out;
// its findings are in the report.
func (o *Offline) Check(ctx context.Context, cfg CheckConfig) (Report, error) {
	c := &check{cfg: cfg, stop: ctx.Err, report: Report{Schema: o.schema, Findings: []Finding{}}}
	info, err := os.Stat(o.path)
	if err != nil {
		return c.report, err
	}
	c.report.Bytes = info.Size()
	for _, problem := range o.damage {
		c.find("file", "%s", problem)
	}
	if len(o.damage) > 0 {
		return c.report, nil // tasks in damaged pages prove nothing about others
	}
	err = o.bolt.View(func(tx *bolt.Tx) error {
		c.tx = tx
		return c.all()
	})
	return c.report, err
}

// check is a check under way, in one read transaction.
type check struct {
	stop   func() error // the context's error
	cfg    CheckConfig
	tx     *bolt.Tx
	report Report
	log    map[idem.Digest]idem.Row // idem_log
	held   map[store.Counter]int64
}

func (c *check) reader() *reader { return &reader{opened: c.tx} }

// runs yields all that can be read: their filters in memory are no part of the file.
func (c *check) runs() iter.Seq2[[]byte, idem.Run] {
	return func(yield func([]byte, idem.Run) bool) {
		for k, v := range c.reader().descend(bucketIdemRuns, nil, nil) {
			if idem.Run(v).Valid() && !yield(k, v) {
				return
			}
		}
	}
}

func (c *check) find(subject, format string, args ...any) {
	c.report.Add(Finding{Subject: subject, Problem: fmt.Sprintf(format, args...)})
}

// all makes every check on records. Pages that pass for whole and aren't end in a finding.
func (c *check) all() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if caught := recover(); caught != nil {
			c.find("file", "reading it broke off: %v", caught)
		}
	}()
	if err := unfinished(c.tx); err != nil {
		c.find("file", "%v", err)
	}
	c.held = map[store.Counter]int64{}
	var log idem.Index
	for _, u := range loadIdem(c.tx, &log) {
		c.find(u.bucket.String(), "%v", u)
	}
	c.log = log.Pairs()
	for _, part := range []func() error{c.quarantine, c.tasks, c.listings, c.openRows, c.idempotency, c.counters, c.accounts, c.usage, c.deliveries} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// forEach calls visit for every row of a bucket until the context ends.
func (c *check) forEach(in bucket, visit func(k, v []byte)) error {
	b := in.of(c.tx)
	if b == nil {
		c.find(in.String(), "the bucket is missing")
		return nil
	}
	n := 0
	return b.ForEach(func(k, v []byte) error {
		visit(k, v)
		if n++; n%1000 == 0 {
			return c.stop()
		}
		return nil
	})
}

// quarantine names the rows that were set aside.
func (c *check) quarantine() error {
	if c.report.Schema < sumSchema {
		return nil
	}
	return c.forEach(bucketQuarantine, func(k, _ []byte) {
		if in := bucket(k[0]); in < bucketCount {
			c.find(rowName(in, k[1:]), "it couldn't be read and was set aside")
		}
	})
}

// accounts checks that keys and accounts lead to each other.
func (c *check) accounts() error {
	rows := func(in bucket) int { return in.of(c.tx).Stats().KeyN }
	for _, pair := range [][2]bucket{{bucketKeys, bucketKeysByHash}, {bucketAccounts, bucketAccountsByName}} {
		if records, index := rows(pair[0]), rows(pair[1]); records != index {
			c.find(pair[1].String(), "%d rows for %d %s", index, records, pair[0])
		}
	}
	if err := errors.Join(c.keys(), c.owners()); err != nil {
		return err
	}
	return c.forEach(bucketAccountsByName, func(name, id []byte) {
		if bucketAccounts.of(c.tx).Get(id) == nil {
			c.find(string(name), "the account's name leads nowhere")
		}
	})
}
