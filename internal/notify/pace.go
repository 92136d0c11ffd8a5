package notify

import (
	"context"
	"maps"
	"sync"
	"time"
)

const (
	slowTime = 2 * time.Second // an attempt that took longer makes its endpoint slow
	mostKept = 4096            // endpoints that are remembered
)

// pace remembers of each endpoint when its next attempt may begin and whether the last one was slow. It forgets all
// when they are too many: they are measured again.
type pace struct {
	mu   sync.Mutex
	of   map[string]*measure
	held map[string]int // by account: the places for quick endpoints that it has
}

// hold notes that an account has another place, or by -1 that it has left one.
func (p *pace) hold(account string, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[account] += by; p.held[account] == 0 {
		delete(p.held, account)
	}
}

// holders returns how many places each account has.
func (p *pace) holders() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.held)
}

type measure struct {
	next time.Time
	slow bool
}

func (p *pace) getLocked(id string) *measure {
	m := p.of[id]
	if m == nil {
		if len(p.of) >= mostKept {
			clear(p.of)
		}
		m = &measure{}
		p.of[id] = m
	}
	return m
}

// turn takes an endpoint's next turn and returns how long it is until then.
func (p *pace) turn(id string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.getLocked(id)
	at := now
	if m.next.After(now) {
		at = m.next
	}
	m.next = at.Add(time.Second / perSecond)
	return at.Sub(now)
}

// note keeps how long an attempt took.
func (p *pace) note(id string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.getLocked(id).slow = took > slowTime
}

func (p *pace) isSlow(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.of[id]
	return m != nil && m.slow
}

// trial takes an endpoint's next turn and one of the places for slow endpoints, for a test, which done frees again. It
// reports false if it waited in vain.
func (s *Sender) trial(ctx context.Context, id string) (done func(), ok bool) {
	if s == nil {
		return func() {}, true
	}
	if !sleep(ctx, s.pace.turn(id, s.Now())) || !take(ctx, s.slow) {
		return nil, false
	}
	return func() { s.leave(s.slow) }, true
}

// slow returns the slow endpoints.
func (p *pace) slow() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, m := range p.of {
		if m.slow {
			ids = append(ids, id)
		}
	}
	return ids
}
