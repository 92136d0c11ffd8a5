package gate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/task"
)

func TestRate(t *testing.T) {
	o := newTestGate(t, gate.Defaults{CreatesPerMinute: 60, ReadsPerMinute: 120})
	_, key := o.issue(task.Live, func(k *account.Key) { k.Limits.CreatesPerMinute = 6 })
	c := &gate.Caller{Key: key, Account: o.owner}
	for i := range 6 {
		q, err := o.Count(c, gate.Creates)
		if err != nil || q.Key.Remaining != 5-i {
			t.Fatalf("request %d: %+v %v", i, q, err)
		}
	}
	q, err := o.Count(c, gate.Creates)
	e := fault.From(err)
	if e == nil || e.Code != fault.RateLimitExceeded || e.RetryAfter != 10*time.Second {
		t.Fatalf("the seventh: %v", err)
	}
	if q.Policy() != `"creates";q=6;w=60` || q.State() != `"creates";r=0;t=60` {
		t.Errorf("fields %s and %s", q.Policy(), q.State())
	}
	if _, err := o.Count(c, gate.Reads); err != nil {
		t.Errorf("reads share the creations' rate: %v", err)
	}
	o.now = o.now.Add(10 * time.Second)
	if _, err := o.Count(c, gate.Creates); err != nil {
		t.Errorf("after the pause: %v", err)
	}
	if _, err := o.Count(c, gate.Creates); err == nil {
		t.Error("one token let two requests through")
	}
	for _, own := range []int{-1, 0, 61, 1 << 30} { // -1 is of an earlier version
		_, more := o.issue(task.Live, func(k *account.Key) { k.Limits.CreatesPerMinute = own })
		if q, err := o.Count(&gate.Caller{Key: more}, gate.Creates); err != nil || q.Key.Limit != 60 {
			t.Errorf("a key that asks for %d has %+v %v, want the server's 60", own, q, err)
		}
	}
	o.now = o.now.Add(time.Hour)
	if q, err := o.Count(c, gate.Creates); err != nil || q.Key.Remaining != 5 {
		t.Errorf("after an hour: %+v %v", q, err)
	}
}

// TestAccountRate: an account's rate bounds all its keys of a mode together, takes no request if it refuses, and is
// in the fields.
func TestAccountRate(t *testing.T) {
	o := newTestGate(t, gate.Defaults{CreatesPerMinute: 60})
	o.owner.Limits.CreatesPerMinute = 3
	_, one := o.issue(task.Live, func(k *account.Key) { k.Limits.CreatesPerMinute = 2 })
	_, two := o.issue(task.Live, nil)
	_, test := o.issue(task.Test, nil)
	count := func(k account.Key) (gate.Quotas, error) {
		return o.Count(&gate.Caller{Key: k, Account: o.owner}, gate.Creates)
	}
	for range 2 {
		if _, err := count(one); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := count(one); fault.CodeOf(err) != fault.RateLimitExceeded || fault.From(err).Message != "more than 2 requests a minute with this key" {
		t.Errorf("the key's third: %v", err)
	}
	q, err := count(two)
	if err != nil {
		t.Errorf("the account's third, after one that was refused: %v", err)
	}
	if q.Policy() != `"creates";q=60;w=60, "account-creates";q=3;w=60` || q.State() != `"creates";r=59;t=1, "account-creates";r=0;t=60` {
		t.Errorf("fields %s and %s", q.Policy(), q.State())
	}
	_, err = count(two)
	if e := fault.From(err); e == nil || e.Message != "more than 3 requests a minute from this account" || e.RetryAfter != 20*time.Second {
		t.Errorf("the account's fourth: %v", err)
	}
	if q, err := count(test); err != nil || q.Account.Remaining != 2 {
		t.Errorf("the other mode: %+v %v", q, err)
	}
}

// TestRotationGrantsNothing: a key and the one that replaces it are limited together.
func TestRotationGrantsNothing(t *testing.T) {
	o := newTestGate(t, gate.Defaults{CreatesPerMinute: 1})
	_, key := o.issue(task.Live, nil)
	next := key.Rotated("key_next", task.Hash{}, "", o.now)
	if _, err := o.Count(&gate.Caller{Key: key}, gate.Creates); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Count(&gate.Caller{Key: next}, gate.Creates); err == nil {
		t.Error("the new key has a rate of its own")
	}
	if diff := cmp.Diff(o.Holds(gate.Caller{Key: key}, 1, 1), o.Holds(gate.Caller{Key: next}, 1, 1)); diff != "" {
		t.Errorf("what the new key takes (-old +new):\n%s", diff)
	}
}

// TestChangedRateGrantsNothing: whoever may change a key's limit doesn't get past the server's by changing it.
func TestChangedRateGrantsNothing(t *testing.T) {
	o := newTestGate(t, gate.Defaults{CreatesPerMinute: 2})
	_, key := o.issue(task.Live, nil)
	for i, step := range []struct {
		own     int
		after   time.Duration
		refused bool
	}{{0, 0, false}, {0, 0, false}, {0, 0, true}, {1, 0, true}, {0, 0, true}, {2, 30 * time.Second, false}, {1, 0, true}} {
		o.now = o.now.Add(step.after)
		key.Limits.CreatesPerMinute = step.own
		if q, err := o.Count(&gate.Caller{Key: key}, gate.Creates); (err != nil) != step.refused {
			t.Errorf("step %d: %+v %v, refused: want %v", i, q.Key, err, step.refused)
		}
	}
}

// TestSharedRate: each of several nodes allows its part of a rate.
func TestSharedRate(t *testing.T) {
	o := newTestGate(t, gate.Defaults{CreatesPerMinute: 10})
	_, key := o.issue(task.Live, func(*account.Key) {})
	allowed := func() (n int) {
		for range 20 {
			if q, err := o.Count(&gate.Caller{Key: key, Account: o.owner}, gate.Creates); err == nil {
				n++
			} else if q.Key.Limit != 10 {
				t.Errorf("the limit that is shown: %d, want 10", q.Key.Limit)
			}
		}
		o.now = o.now.Add(time.Hour)
		return n
	}
	for _, c := range []struct{ nodes, want int }{{1, 10}, {3, 4}, {10, 1}, {40, 1}, {0, 10}} {
		o.SetNodes(c.nodes)
		allowed() // what is left of another share
		if got := allowed(); got != c.want {
			t.Errorf("of %d nodes one allows %d, want %d", c.nodes, got, c.want)
		}
	}
}
