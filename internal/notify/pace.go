package notify

import (
	"context"
	"maps"
	"sync"
	"time"

	"unitask/internal/webhook"
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
	slow map[string]int // and those for slow ones
	all  int            // of slow
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
	next    time.Time
	account string // if slow
	slow    bool
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
func (p *pace) note(e webhook.Endpoint, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.getLocked(e.ID)
	m.slow, m.account = took > slowTime, e.Scope.Account
}

func (p *pace) isSlow(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.of[id]
	return m != nil && m.slow
}

// takeSlow takes one of the places for slow endpoints, which leaveSlow gives back, and reports whether there was one. An
// account that has twice as many as are free gets no more of them: others are never left without.
func (p *pace) takeSlow(owner string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leftLocked(owner) == 0 {
		return false
	}
	p.slow[owner]++
	p.all++
	return true
}

func (p *pace) leaveSlow(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.slow[owner]--; p.slow[owner] == 0 {
		delete(p.slow, owner)
	}
}

// leftLocked returns how many more places for slow endpoints an account may take.
func (p *pace) leftLocked(owner string) (n int) {
	for held, free := p.slow[owner], slowPlace-p.all; free > 0 && held < 2*free; n++ {
		held, free = held+1, free-1
	}
	return n
}

// skip returns the slow endpoints whose deliveries aren't claimed: of each account as many are as it may take places.
func (p *pace) skip() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := map[string]int{}
	for id, m := range p.of { // in any order, so that each gets its turn
		if !m.slow {
			continue
		}
		if _, ok := left[m.account]; !ok {
			left[m.account] = p.leftLocked(m.account)
		}
		if left[m.account]--; left[m.account] < 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// trial takes an endpoint's next turn and one of the places for slow endpoints, for a test, which done gives back. It
// reports false if there was none.
func (s *Sender) trial(ctx context.Context, e webhook.Endpoint) (done func(), ok bool) {
	if s == nil {
		return func() {}, true
	}
	owner := e.Scope.Account
	if !sleep(ctx, s.pace.turn(e.ID, s.Now())) || !s.pace.takeSlow(owner) {
		return nil, false
	}
	return func() {
		s.pace.leaveSlow(owner)
		s.tellFreed()
	}, true
}
