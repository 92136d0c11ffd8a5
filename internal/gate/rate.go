package gate

import (
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/task"
)

// Class is the kind of a request for the rates of its key and account.
type Class string

// The classes.
const (
	Creates Class = "creates" // creations and lists
	Reads   Class = "reads"   // of one task
)

// Quota is the state of a key's or an account's rate after a request was counted.
type Quota struct {
	Limit     int           // requests a minute; 0: unlimited
	Remaining int           // at once
	Reset     time.Duration // until Remaining is Limit again
}

// Quotas are the rates that a request was counted against, for the RateLimit fields.
type Quotas struct {
	Class        Class
	Key, Account Quota
}

// bucketKey names a bucket: a key's, or, with its mode, an account's.
type bucketKey struct {
	owner string
	mode  task.Mode
	class Class
}

type bucket struct {
	whole   int // the limit of all nodes together
	limit   int // this node's share
	limiter *rate.Limiter
	touched time.Time
}

// idleBuckets is after how long a full bucket is forgotten; a minute refills any of them.
const idleBuckets = 2 * time.Minute

// Count takes one request from the rates of the caller's key and account, or returns RATE_LIMIT_EXCEEDED with the
// pause to keep, without taking one. The Quotas are valid in both cases.
func (g *Gate) Count(c *Caller, class Class) (Quotas, error) {
	q := Quotas{Class: class}
	ofKey, ofAccount := effective(rateOf(c.Key.Limits, class), g.defaultRate(class)), max(rateOf(c.Account.Limits, class), 0)
	if ofKey == 0 && ofAccount == 0 {
		return q, nil
	}
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	var key, owner *bucket // nil: unlimited
	if ofKey > 0 {
		key = g.bucketLocked(bucketKey{owner: c.Key.Counter(), class: class}, ofKey, now)
	}
	if ofAccount > 0 {
		owner = g.bucketLocked(bucketKey{c.Account.ID, c.Key.Mode, class}, ofAccount, now)
	}
	wait := max(key.wait(now), owner.wait(now))
	var err error
	switch {
	case wait == 0:
		key.take(now)
		owner.take(now)
	case key.wait(now) > 0:
		err = fault.Newf(fault.RateLimitExceeded, "more than %d requests a minute with this key", ofKey).WithRetryAfter(max(wait, time.Second))
	default:
		err = fault.Newf(fault.RateLimitExceeded, "more than %d requests a minute from this account", ofAccount).WithRetryAfter(max(wait, time.Second))
	}
	q.Key, q.Account = key.quota(now), owner.quota(now)
	return q, err
}

// wait returns how long the next request has to wait.
func (b *bucket) wait(now time.Time) time.Duration {
	const nearly = 1 - 1e-9 // of a token: they are counted in floating point
	if b == nil {
		return 0
	}
	tokens := b.limiter.TokensAt(now)
	if tokens >= nearly {
		return 0
	}
	return max(1, b.time(1-tokens))
}

func (b *bucket) take(now time.Time) {
	if b != nil {
		b.limiter.AllowN(now, 1)
	}
}

func (b *bucket) quota(now time.Time) Quota {
	if b == nil {
		return Quota{}
	}
	tokens := b.limiter.TokensAt(now)
	return Quota{Limit: b.whole, Remaining: max(0, int(tokens)), Reset: b.time(float64(b.limit) - tokens)}
}

// time returns how long it takes for so many tokens to come.
func (b *bucket) time(tokens float64) time.Duration {
	return time.Duration(tokens * float64(time.Minute) / float64(b.limit))
}

// SetNodes says how many nodes share the rates: each takes its part of them, so that they hold for all together. A
// limit that doesn't divide is rounded up for each.
func (g *Gate) SetNodes(n int) { g.nodes.Store(int64(max(n, 1))) }

func (g *Gate) share(limit int) int {
	n := int(g.nodes.Load())
	return (limit + n - 1) / n
}

func (g *Gate) bucketLocked(k bucketKey, whole int, now time.Time) *bucket {
	limit := g.share(whole)
	if now.Sub(g.swept) > idleBuckets {
		g.swept = now
		for key, b := range g.buckets {
			if now.Sub(b.touched) > idleBuckets {
				delete(g.buckets, key)
			}
		}
	}
	b, perSecond := g.buckets[k], rate.Limit(float64(limit)/time.Minute.Seconds())
	switch {
	case b == nil:
		b = &bucket{limit: limit, limiter: rate.NewLimiter(perSecond, limit)}
		g.buckets[k] = b
	case b.limit != limit: // taken requests stay taken
		b.limit = limit
		b.limiter.SetLimitAt(now, perSecond)
		b.limiter.SetBurstAt(now, limit)
	}
	b.whole, b.touched = whole, now
	return b
}

func (g *Gate) defaultRate(class Class) int {
	d := g.defaults.Load()
	if class == Creates {
		return d.CreatesPerMinute
	}
	return d.ReadsPerMinute
}

func rateOf(l account.Limits, class Class) int {
	if class == Creates {
		return l.CreatesPerMinute
	}
	return l.ReadsPerMinute
}

// effective returns the limit of a key: its own if that is less than the server's, which binds every key; 0: no
// limit. A key of an earlier version may have a negative one, which counts as no limit of its own.
func effective(own, standard int) int {
	if own <= 0 || standard > 0 && own > standard {
		return max(standard, 0)
	}
	return own
}

// fieldRoom is about how long a RateLimit field's value gets.
const fieldRoom = 96

// Policy returns the RateLimit-Policy field's value, "" without a limit.
func (q Quotas) Policy() string {
	var b [fieldRoom]byte
	return string(q.Account.policy(q.Key.policy(b[:0], "", q.Class), "account-", q.Class))
}

// State returns the RateLimit field's value, "" without a limit.
func (q Quotas) State() string {
	var b [fieldRoom]byte
	return string(q.Account.state(q.Key.state(b[:0], "", q.Class), "account-", q.Class))
}

// policy appends the quota's item, if it limits.
func (q Quota) policy(b []byte, whose string, class Class) []byte {
	if q.Limit == 0 {
		return b
	}
	b = append(item(b, whose, class), ";q="...)
	return append(strconv.AppendInt(b, int64(q.Limit), 10), ";w=60"...)
}

// state is policy for the other field.
func (q Quota) state(b []byte, whose string, class Class) []byte {
	if q.Limit == 0 {
		return b
	}
	b = append(item(b, whose, class), ";r="...)
	b = append(strconv.AppendInt(b, int64(q.Remaining), 10), ";t="...)
	return strconv.AppendInt(b, int64((q.Reset+time.Second-1)/time.Second), 10)
}

// item appends an item's name: "creates" for the key's, "account-creates" for the account's.
func item(b []byte, whose string, class Class) []byte {
	if len(b) > 0 {
		b = append(b, ", "...)
	}
	b = append(append(b, '"'), whose...)
	return append(append(b, class...), '"')
}
