package boltstore

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// repair is a repair of the rows under way. No row is changed while the rows are read: the changes are collected and
// made after that.
type repair struct {
	tx      *bolt.Tx
	stop    func() error // the context's error
	done    *Repaired
	changes []change
	lost    map[rowID]bool // tasks that can't be read
	held    map[store.Counter]int64
}

func (r *repair) all() error {
	r.held = map[store.Counter]int64{}
	for _, part := range []func() error{r.quarantine, r.tasks, r.indexRows, r.counters, r.ends, r.authChanges, r.sums, r.deliveries, r.keys} {
		if err := part(); err != nil {
			return err
		}
		if err := r.stop(); err != nil {
			return err
		}
	}
	for _, c := range r.changes {
		var err error
		if c.value == nil {
			err = c.bucket.of(r.tx).Delete([]byte(c.key))
		} else {
			err = c.bucket.of(r.tx).Put([]byte(c.key), c.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *repair) forEach(in bucket, visit func(k, v []byte)) error {
	n := 0
	return in.of(r.tx).ForEach(func(k, v []byte) error {
		visit(k, v)
		if n++; n%1000 == 0 {
			return r.stop()
		}
		return nil
	})
}

func (r *repair) put(in bucket, key, value []byte, why string) {
	r.changes = append(r.changes, change{in, string(key), value})
	if why != "" {
		r.note(&r.done.Mended, rowName(in, key), why)
	}
}

// lose removes a row that can't be read.
func (r *repair) lose(in bucket, key []byte, why string) {
	r.changes = append(r.changes, change{in, string(key), nil})
	r.note(&r.done.Lost, rowName(in, key), why)
}

// drop removes a row that leads to no record.
func (r *repair) drop(in bucket, key []byte) { r.put(in, key, nil, "it led nowhere") }

func (r *repair) note(to *[]Finding, subject, why string) {
	if len(*to) < maxFindings {
		*to = append(*to, Finding{Subject: subject, Problem: why})
	}
}

// quarantine gives up the rows that were set aside.
func (r *repair) quarantine() error {
	return r.forEach(bucketQuarantine, func(k, _ []byte) {
		r.put(bucketQuarantine, k, nil, "")
		in, key := bucket(k[0]), k[1:]
		if in >= bucketCount {
			return
		}
		if in == bucketTasks && len(key) == rowSize {
			r.lost[rowID(key)] = true
		}
		to := &r.done.Mended // it follows from the others
		if in == bucketTasks || in == bucketAccounts || in == bucketKeys || in == bucketUsage ||
			in == bucketEndpoints || in == bucketDeliveries {
			to = &r.done.Lost
		}
		r.note(to, rowName(in, key), "it couldn't be read and was set aside")
	})
}

// tasks gives up records that can't be read, and rebuilds the rows of the others.
func (r *repair) tasks() error {
	open, listing := bucketOpen.of(r.tx), bucketByScope.of(r.tx)
	return r.forEach(bucketTasks, func(k, record []byte) {
		t, err := decodeTask(record)
		if err == nil && (len(k) != rowSize || !isOf(&t, rowID(k))) {
			err = errOther
		}
		if err != nil {
			r.lose(bucketTasks, k, err.Error())
			if len(k) == rowSize {
				r.lost[rowID(k)] = true
			}
			return
		}
		listed := scopeRowOf(t.Scope, rowID(k))
		if !bytes.Equal(listing.Get(listed[:]), []byte(t.Capability)) {
			r.put(bucketByScope, listed[:], []byte(t.Capability), "it wasn't in the listing")
		}
		if t.State.Terminal() {
			return
		}
		for _, h := range t.Holds {
			r.held[store.Counter{Scope: h.Scope, Kind: h.Kind}] += h.Amount
		}
		queued, err := decodeOpen(open.Get(k))
		if had, _ := queued.encode(nil); err == nil && bytes.Equal(had, mustEncode(&t)) {
			return
		}
		r.put(bucketOpen, k, mustEncode(&t), "its row in the queue wasn't there, or said otherwise")
	})
}

// mustEncode is encodeOpen of a task that was read from a record, which can always be written.
func mustEncode(t *task.Task) []byte {
	row, err := encodeOpen(nil, t)
	if err != nil {
		return nil
	}
	return row
}

// indexRows removes the rows that lead to no task. A listed task without a record was lost.
func (r *repair) indexRows() error {
	tasks := bucketTasks.of(r.tx)
	err := r.forEach(bucketByScope, func(k, _ []byte) {
		if len(k) != len(digest{})+rowSize {
			r.drop(bucketByScope, k)
			return
		}
		row := rowID(k[len(digest{}):])
		switch record := tasks.Get(row[:]); {
		case r.lost[row]:
			r.drop(bucketByScope, k)
		case record == nil:
			r.put(bucketByScope, k, nil, "")
			r.note(&r.done.Lost, row.String(), "the listing leads to it, and its record isn't there")
		default:
			if t, err := decodeTask(record); err == nil {
				if listed := scopeRowOf(t.Scope, row); !bytes.Equal(listed[:], k) {
					r.drop(bucketByScope, k)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	return r.forEach(bucketOpen, func(k, _ []byte) {
		state, _, err := recordHead(tasks.Get(k))
		if err != nil || state.Terminal() || len(k) != rowSize {
			r.drop(bucketOpen, k)
		}
	})
}

// counters sets the counters to the holds of open tasks; one that stays keeps what ended tasks were settled to.
func (r *repair) counters() error {
	err := r.forEach(bucketHolds, func(k, v []byte) {
		kind, scope, _ := strings.Cut(string(k), "\x00")
		name := store.Counter{Scope: scope, Kind: task.HoldKind(kind)}
		taken, n := r.held[name], counter(v).amount()
		delete(r.held, name)
		switch {
		case n == taken, n > taken && name.Kind.Stays():
		case taken == 0 && counter(v).end() == nil:
			r.put(bucketHolds, k, nil, "it held what no open task took")
		default:
			r.put(bucketHolds, k, counterOf(taken, counter(v).end()), "it held another amount than open tasks took")
		}
	})
	for name, taken := range r.held {
		if taken > 0 && !name.Kind.Stays() {
			r.put(bucketHolds, []byte(string(name.Kind)+"\x00"+name.Scope), counterOf(taken, nil), "it held nothing, and open tasks took some")
		}
	}
	return err
}

// ends makes the rows of the counters' ends lead to their counters alone.
func (r *repair) ends() error {
	err := r.forEach(bucketHolds, func(k, v []byte) {
		end := counter(v).end()
		if row := slices.Concat(end, k); end != nil && bucketHoldEnds.of(r.tx).Get(row) == nil {
			r.put(bucketHoldEnds, row, []byte{}, "nothing led to a counter's end")
		}
	})
	if err != nil {
		return err
	}
	return r.forEach(bucketHoldEnds, func(k, _ []byte) {
		if len(k) < counterWord || !bytes.Equal(counter(bucketHolds.of(r.tx).Get(k[counterWord:])).end(), k[:counterWord]) {
			r.drop(bucketHoldEnds, k)
		}
	})
}

// authChanges gives up accounts and keys that can't be read, and all that belongs to an account that isn't there, and
// lets names and hashes lead to the others.
func (r *repair) authChanges() error {
	accounts, named, hashed := map[string]bool{}, map[string]string{}, map[string]string{}
	err := r.forEach(bucketAccounts, func(id, raw []byte) {
		var a account.Account
		if err := decodeJSON(bucketAccounts, id, raw, &a); err != nil || a.ID != string(id) {
			r.lose(bucketAccounts, id, "the account's record can't be read")
			return
		}
		accounts[a.ID], named[a.Name] = true, a.ID
	})
	if err != nil {
		return err
	}
	err = r.forEach(bucketKeys, func(id, raw []byte) {
		var k account.Key
		if err := decodeJSON(bucketKeys, id, raw, &k); err != nil || k.ID != string(id) {
			r.lose(bucketKeys, id, "the key's record can't be read")
			return
		}
		if !accounts[k.Account] {
			r.lose(bucketKeys, id, "its account isn't there")
			return
		}
		hashed[string(k.Hash[:])] = k.ID
	})
	if err != nil {
		return err
	}
	return errors.Join(
		r.signIns(bucketLinks, accounts), r.signIns(bucketSessions, accounts),
		r.putIndexRow(bucketAccountsByName, named), r.putIndexRow(bucketKeysByHash, hashed))
}

// signIns gives up links or sessions that can't be read or have no account.
func (r *repair) signIns(in bucket, accounts map[string]bool) error {
	return r.forEach(in, func(hash, raw []byte) {
		var of struct {
			Account string `json:"account"`
		}
		if err := decodeJSON(in, hash, raw, &of); err != nil {
			r.lose(in, hash, "the record can't be read")
		} else if !accounts[of.Account] {
			r.lose(in, hash, "its account isn't there")
		}
	})
}

// putIndexRow makes the rows of an index those that are wanted.
func (r *repair) putIndexRow(in bucket, want map[string]string) error {
	err := r.forEach(in, func(k, v []byte) {
		if want[string(k)] != string(v) {
			r.drop(in, k)
			return
		}
		delete(want, string(k))
	})
	for key, value := range want {
		r.put(in, []byte(key), []byte(value), "it led nowhere")
	}
	return err
}

// sums gives up sums of usage that can't be read.
func (r *repair) sums() error {
	return r.forEach(bucketUsage, func(k, v []byte) {
		sums := decodeSums(v)
		if _, ok := parseUsageKey(k); !ok || !bytes.Equal(encodeSums(sums[:]), v) {
			r.lose(bucketUsage, k, "the sums can't be read")
		}
	})
}

// deliveries gives up endpoints and deliveries that can't be read, and endpoints without an account, and says of the
// others when they are due.
func (r *repair) deliveries() error {
	err := r.forEach(bucketEndpoints, func(id, raw []byte) {
		var e webhook.Endpoint
		if err := decodeJSON(bucketEndpoints, id, raw, &e); err != nil || e.ID != string(id) {
			r.lose(bucketEndpoints, id, "the endpoint's record can't be read")
		} else if bucketAccounts.of(r.tx).Get([]byte(e.Scope.Account)) == nil {
			r.lose(bucketEndpoints, id, "its account isn't there")
		}
	})
	if err != nil {
		return err
	}
	want := map[string]string{}
	err = r.forEach(bucketDeliveries, func(row, raw []byte) {
		o, err := readDelivery(row, raw)
		if err != nil {
			r.lose(bucketDeliveries, row, "the delivery can't be read")
		} else if w := waitOf(o); w != nil {
			want[string(row)] = string(encodeWait(*w))
		}
	})
	return errors.Join(err, r.putIndexRow(bucketWaiting, want))
}

// keys lets each task's idempotency key lead to it, and gives up the rows that can't be read.
func (r *repair) keys() error {
	var log idem.Index
	for _, u := range loadIdem(r.tx, &log) {
		r.put(u.bucket, u.key, nil, "what led from idempotency keys to tasks couldn't be read and is written anew")
	}
	missing, err := unindexed(&reader{opened: r.tx}, &log)
	if err != nil {
		return err
	}
	for d, row := range missing {
		key := bigEndian(log.NextNumber())
		r.put(bucketIdemLog, key, idem.Sum(idem.AppendPair(nil, d, row)), "")
		r.note(&r.done.Mended, rowID(row).String(), "its idempotency key didn't lead to it")
	}
	return nil
}
