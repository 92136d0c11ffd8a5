package server

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"unitask/internal/fault"
)

const (
	// fruitless is how many requests with a signed address may bring no bytes at once; one a second more after that. A
	// client on a bad line pauses longer than that.
	fruitless = 60
	// idlePaces is after how long a pace is forgotten, which is full again then.
	idlePaces = 2 * fruitless * time.Second
)

// paces bound the requests that bring no bytes, for each upload. Those that do aren't counted, however small they are.
type paces struct {
	now func() time.Time

	mu    sync.Mutex
	by    map[string]*rate.Limiter
	used  map[string]time.Time
	swept time.Time
}

func newPaces(now func() time.Time) *paces {
	return &paces{now: now, by: map[string]*rate.Limiter{}, used: map[string]time.Time{}}
}

// check refuses a request if too many before it brought no bytes.
func (p *paces) check(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.by[id]; l != nil && l.TokensAt(p.now()) < 1 {
		return fault.New(fault.RateLimitExceeded, "too many requests for this upload brought no bytes").WithRetryAfter(time.Second)
	}
	return nil
}

// count counts a request that brought no bytes.
func (p *paces) count(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.swept) > idlePaces {
		p.swept = now
		for other, at := range p.used {
			if now.Sub(at) > idlePaces {
				delete(p.used, other)
				delete(p.by, other)
			}
		}
	}
	if p.by[id] == nil {
		p.by[id] = rate.NewLimiter(1, fruitless)
	}
	p.used[id] = now
	p.by[id].AllowN(now, 1)
}
