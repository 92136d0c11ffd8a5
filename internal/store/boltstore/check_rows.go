package boltstore

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// listings checks that each row of the listing has its task; that each task has its row is the
// task's own check.
func (c *check) listings() error {
	return c.forEach(bucketByScope, func(k, _ []byte) {
		if len(k) != len(digest{})+rowSize {
			c.find("by_scope", "a row of another form")
		} else if row := k[len(digest{}):]; bucketTasks.of(c.tx).Get(row) == nil {
			c.find(rowID(row).String(), "the listing leads to it, and it isn't there")
		}
	})
}

// openRows does the same for the queue.
func (c *check) openRows() error {
	return c.forEach(bucketOpen, func(k, _ []byte) {
		if len(k) != rowSize {
			c.find("open", "a row of another form")
			return
		}
		record := bucketTasks.of(c.tx).Get(k)
		if state, _, err := recordHead(record); err != nil || state.Terminal() {
			c.find(rowID(k).String(), "the queue leads to it, and it isn't there or has ended")
		}
	})
}

// idempotency checks that the rows from an idempotency key to a task are the task's own. Rows of removed tasks stay
// behind and are passed over.
func (c *check) idempotency() error {
	leads := func(d digest, row rowID) {
		if bucketTasks.of(c.tx).Get(row[:]) == nil {
			return
		}
		if t, err := readTask(c.reader(), row); err == nil && idemDigest(t.Scope, t.IdempotencyHash) != d {
			c.find(row.String(), "another idempotency key leads to it")
		}
	}
	for d, row := range c.log {
		leads(d, row)
	}
	return c.forEach(bucketIdemRuns, func(_, v []byte) {
		pairs, ok := idem.Run(v).Pairs()
		if !ok {
			c.find("idem_runs", "a run of another form")
			return
		}
		for pair := range slices.Chunk(pairs, idem.PairSize) {
			leads(digest(pair), rowID(pair[len(digest{}):]))
		}
	})
}

// counters compares the counters with the holds of open tasks: exactly, but for budgets and spends, which keep the
// spent amount.
func (c *check) counters() error {
	ends := bucketHoldEnds.of(c.tx)
	err := c.forEach(bucketHolds, func(k, v []byte) {
		kind, scope, _ := strings.Cut(string(k), "\x00")
		name := store.Counter{Scope: scope, Kind: task.HoldKind(kind)}
		n, end := counter(v).amount(), counter(v).end()
		taken := c.held[name]
		delete(c.held, name)
		switch {
		case len(v) != counterWord && end == nil:
			c.find(scope, "the %s counter has another form", kind)
		case n < taken, n > taken && !name.Kind.Stays():
			c.find(scope, "%d held of %s, open tasks took %d", n, kind, taken)
		case end != nil && (ends == nil || ends.Get(slices.Concat(end, k)) == nil):
			c.find(scope, "nothing leads to the end of the %s counter", kind)
		}
	})
	for name, taken := range c.held {
		if !name.Kind.Stays() && taken > 0 { // a budget's counter may have been swept
			c.find(name.Scope, "nothing held of %s, open tasks took %d", name.Kind, taken)
		}
	}
	if err != nil || ends == nil {
		return err
	}
	return c.forEach(bucketHoldEnds, func(k, _ []byte) {
		if len(k) < counterWord {
			c.find("hold_ends", "a row of another form")
		} else if v := counter(bucketHolds.of(c.tx).Get(k[counterWord:])); !bytes.Equal(v.end(), k[:counterWord]) {
			c.find("hold_ends", "a counter ends at %d, and its row says otherwise", binary.BigEndian.Uint64(k))
		}
	})
}

// keys checks that each key's hash leads to it and that it has an account.
func (c *check) keys() error {
	return c.forEach(bucketKeys, func(id, raw []byte) {
		c.report.Keys++
		var k account.Key
		switch err := decodeJSON(bucketKeys, id, raw, &k); {
		case err != nil || k.ID != string(id):
			c.find(string(id), "the key's record can't be read, or is another's")
		case !bytes.Equal(bucketKeysByHash.of(c.tx).Get(k.Hash[:]), id):
			c.find(k.ID, "its hash doesn't lead to it")
		case bucketAccounts.of(c.tx).Get([]byte(k.Account)) == nil:
			c.find(k.ID, "its account isn't there")
		}
	})
}

// owners checks that each account can be read and is found by its name.
func (c *check) owners() error {
	return c.forEach(bucketAccounts, func(id, raw []byte) {
		var a account.Account
		switch err := decodeJSON(bucketAccounts, id, raw, &a); {
		case err != nil || a.ID != string(id):
			c.find(string(id), "the account's record can't be read, or is another's")
		case !bytes.Equal(bucketAccountsByName.of(c.tx).Get([]byte(a.Name)), id):
			c.find(a.ID, "its name doesn't lead to it")
		}
	})
}

// deliveries checks that endpoints and deliveries can be read, and that exactly those that wait are said to.
func (c *check) deliveries() error {
	if c.report.Schema < webhookSchema {
		return nil
	}
	err := c.forEach(bucketEndpoints, func(id, raw []byte) {
		var e webhook.Endpoint
		switch err := decodeJSON(bucketEndpoints, id, raw, &e); {
		case err != nil || e.ID != string(id):
			c.find(string(id), "the endpoint's record can't be read, or is another's")
		case bucketAccounts.of(c.tx).Get([]byte(e.Scope.Account)) == nil:
			c.find(e.ID, "its account isn't there")
		}
	})
	if err != nil {
		return err
	}
	waits := bucketWaiting.of(c.tx)
	err = c.forEach(bucketDeliveries, func(row, raw []byte) {
		o, err := readDelivery(row, raw)
		if err != nil {
			c.find(rowName(bucketDeliveries, row), "the delivery can't be read, or is another's")
		} else if w, ok := decodeWait(waits.Get(row)); ok != (waitOf(o) != nil) || (ok && w != *waitOf(o)) {
			c.find(rowName(bucketDeliveries, row), "when it is due isn't said, or otherwise")
		}
	})
	if err != nil {
		return err
	}
	return c.forEach(bucketWaiting, func(row, _ []byte) {
		if bucketDeliveries.of(c.tx).Get(row) == nil {
			c.find(rowName(bucketWaiting, row), "a delivery is due that isn't there")
		}
	})
}

// usage checks that the sums can be read. Their value can't be derived after tasks were removed.
func (c *check) usage() error {
	if c.report.Schema < usageSchema {
		return nil
	}
	return c.forEach(bucketUsage, func(k, v []byte) {
		sums := decodeSums(v)
		if _, ok := parseUsageKey(k); !ok || !bytes.Equal(encodeSums(sums[:]), v) {
			c.find("usage", "sums of another form")
		}
	})
}
