package gate

import (
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"unitask/internal/fault"
)

// Class is what a request counts as against its key's rate.
type Class string

// The classes.
const (
	Creates Class = "creates" // creations and lists
	Reads   Class = "reads"   // of one task
)

// Quota is where a key stands after a request was counted, for the RateLimit fields.
type Quota struct {
	Class     Class
	Limit     int           // requests a minute; 0: unlimited
	Remaining int           // at once
	Reset     time.Duration // until Remaining is Limit again
}

type bucketKey struct {
	key   string
	class Class
}

type bucket struct {
	limit   int
	limiter *rate.Limiter
	touched time.Time
}

// idleBuckets is after how long a full bucket is forgotten; a minute refills any of them.
const idleBuckets = 2 * time.Minute

// Count takes one request from the caller's rate, or returns RATE_LIMIT_EXCEEDED with the pause to
// keep. The Quota is valid in both cases.
func (g *Gate) Count(c Caller, class Class) (Quota, error) {
	limit := g.rateLimit(c, class)
	if limit <= 0 {
		return Quota{Class: class}, nil
	}
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.bucketLocked(bucketKey{c.Key.ID, class}, limit, now)
	ok := b.limiter.AllowN(now, 1)
	tokens := b.limiter.TokensAt(now)
	perToken := time.Minute / time.Duration(limit)
	q := Quota{
		Class: class, Limit: limit, Remaining: max(0, int(tokens)),
		Reset: time.Duration((float64(limit) - tokens) * float64(perToken)),
	}
	if ok {
		return q, nil
	}
	wait := max(time.Second, time.Duration((1-tokens)*float64(perToken)))
	return q, fault.Newf(fault.RateLimitExceeded, "more than %d requests a minute with this key", limit).WithRetryAfter(wait)
}

func (g *Gate) bucketLocked(k bucketKey, limit int, now time.Time) *bucket {
	if now.Sub(g.swept) > idleBuckets {
		g.swept = now
		for key, b := range g.buckets {
			if now.Sub(b.touched) > idleBuckets {
				delete(g.buckets, key)
			}
		}
	}
	b := g.buckets[k]
	if b == nil || b.limit != limit {
		perSecond := rate.Limit(float64(limit) / time.Minute.Seconds())
		b = &bucket{limit: limit, limiter: rate.NewLimiter(perSecond, limit)}
		g.buckets[k] = b
	}
	b.touched = now
	return b
}

func (g *Gate) rateLimit(c Caller, class Class) int {
	if class == Creates {
		return effective(c.Key.Limits.CreatesPerMinute, g.defaults.Load().CreatesPerMinute)
	}
	return effective(c.Key.Limits.ReadsPerMinute, g.defaults.Load().ReadsPerMinute)
}

// effective returns a key's own limit, or the default for 0; a negative one lifts the limit.
func effective(own, standard int) int {
	if own == 0 {
		return standard
	}
	return max(own, 0)
}

// Policy returns the RateLimit-Policy field's value for the quota, "" where nothing limits.
func (q Quota) Policy() string {
	if q.Limit == 0 {
		return ""
	}
	return `"` + string(q.Class) + `";q=` + strconv.Itoa(q.Limit) + ";w=60"
}

// State returns the RateLimit field's value for the quota, "" where nothing limits.
func (q Quota) State() string {
	if q.Limit == 0 {
		return ""
	}
	return `"` + string(q.Class) + `";r=` + strconv.Itoa(q.Remaining) + ";t=" + strconv.Itoa(int((q.Reset+time.Second-1)/time.Second))
}
