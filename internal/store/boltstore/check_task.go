package boltstore

import (
	"bytes"
	"slices"

	"unitask/internal/store"
	"unitask/internal/store/boltstore/idem"
	"unitask/internal/task"
)

// tasks checks every record and its index rows.
func (c *check) tasks() error {
	return c.forEach(bucketTasks, func(k, record []byte) {
		c.report.Tasks++
		if len(k) != rowSize {
			c.find("tasks", "a row of another form")
			return
		}
		row := rowID(k)
		t, err := decodeTask(record)
		if err != nil {
			c.find(row.String(), "%v", err)
			return
		}
		if state, changed, _ := recordHead(record); t.ID != row.String() || state != t.State || !changed.Equal(t.UpdatedAt) {
			c.find(row.String(), "its record begins with another id, state or time than it holds")
		}
		c.rowsOf(t, row)
		c.ledger(t)
		c.files(t)
	})
}

// rowsOf checks that the listing, the queue and the idempotency key lead to the task.
func (c *check) rowsOf(t task.Task, row rowID) {
	listed := scopeRowOf(t.Scope, row)
	if !bytes.Equal(bucketByScope.of(c.tx).Get(listed[:]), []byte(t.Capability)) {
		c.find(t.ID, "it isn't in the listing of its account")
	}
	queued := bucketOpen.of(c.tx).Get(row[:])
	if !t.State.Terminal() {
		c.report.Open++
		for _, h := range t.Holds {
			c.held[store.Counter{Scope: h.Scope, Kind: h.Kind}] += h.Amount
		}
		if want, err := encodeOpen(nil, &t); err != nil || !bytes.Equal(c.today(queued, t), want) {
			c.find(t.ID, "its row in the queue isn't there, or says otherwise")
		}
	}
	d := idemDigest(t.Scope, t.IdempotencyHash)
	logged, inLog := c.log[d]
	found, ok, err := findTask(c.reader(), t.Scope, t.IdempotencyHash, d, idem.Found{Row: logged, Logged: inLog}, c.runs())
	if err != nil || !ok || found.ID != t.ID {
		c.find(t.ID, "its idempotency key doesn't lead to it")
	}
}

// today returns a row of `open` as this version writes it.
func (c *check) today(queued []byte, t task.Task) []byte {
	row, err := decodeOpen(queued)
	if err != nil {
		return queued
	}
	if c.report.Schema < linesSchema {
		row.Mode, row.Span = t.Scope.Mode, t.Span()
	}
	out, _ := row.encode(nil) // one that fails is found to differ
	return out
}

// ledger checks the moves and the attempts.
func (c *check) ledger(t task.Task) {
	for i, m := range t.Timeline {
		if i > 0 && !slices.ContainsFunc(task.Rules(), func(r task.Rule) bool {
			return r.To == m.State && slices.Contains(r.From, t.Timeline[i-1].State)
		}) {
			c.find(t.ID, "it moved from %s to %s", t.Timeline[i-1].State, m.State)
		}
	}
	if n := len(t.Timeline); n == 0 || t.Timeline[0].State != task.Queued || t.Timeline[n-1].State != t.State {
		c.find(t.ID, "its timeline doesn't lead from queued to %s", t.State)
	}
	for i, a := range t.Attempts {
		switch {
		case a.N != i+1 || a.SubmitKey != task.SubmitKey(t.ID, a.N) || a.State.Open() == a.State.Ended():
			c.find(t.ID, "attempt %d is number %d, %s", i+1, a.N, a.State)
		case a.State.Open() && (i < len(t.Attempts)-1 || t.State.Terminal()):
			c.find(t.ID, "attempt %d of a %s task was left %s", a.N, t.State, a.State)
		}
	}
	if t.State.Terminal() && (len(t.Holds) > 0 || t.Input != nil || t.InputRef != "") {
		c.find(t.ID, "it has ended and still holds something, or has its input")
	}
}

// files checks the task's files. The large input of a synchronous task may have been in its node's memory alone.
func (c *check) files(t task.Task) {
	if t.InputRef != "" && !t.Sync && c.cfg.Input != nil {
		c.report.Files++
		if err := c.cfg.Input(t.InputRef); err != nil {
			c.find(t.ID, "input %s: %v", t.InputRef, err)
		}
	}
	if t.State != task.Succeeded || c.cfg.File == nil {
		return
	}
	for _, a := range t.Output.Artifacts() {
		if !a.ExpiresAt.IsZero() && !c.cfg.Now().Before(a.ExpiresAt) {
			continue
		}
		c.report.Files++
		if err := c.cfg.File(a); err != nil {
			c.find(t.ID, "file %s: %v", a.ID, err)
		}
	}
}
