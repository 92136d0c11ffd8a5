package server_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"testing"

	"unitask/internal/server"
)

// guest is a connection that a model of the crowd knows of.
type guest struct {
	net.Conn          // the connections given to the table
	in       net.Conn // the accepted ones
	from     byte
	waits    int // since which step; 0: it is at work
	closed   bool
}

// RemoteAddr implements net.Conn.
func (g *guest) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, g.from), Port: 1}
}

// Close implements net.Conn.
func (g *guest) Close() error { g.closed = true; return nil }

// model is all connections in the table, and finds by a scan the one that the table knows at once.
type model struct {
	most, each int
	in         []*guest
}

// waiting returns those of an address that wait, and how many there are in all of it.
func (m *model) waiting(from byte) (waiting []*guest, all int) {
	for _, g := range m.in {
		if g.from == from {
			all++
			if g.waits > 0 {
				waiting = append(waiting, g)
			}
		}
	}
	return waiting, all
}

// room returns whether an address's next connection is taken in, and who may give way to it; no connection has to if
// there are no idle ones.
func (m *model) room(from byte) (taken bool, out []*guest) {
	oldest := func(gs []*guest) *guest {
		return slices.MinFunc(gs, func(a, b *guest) int { return a.waits - b.waits })
	}
	own, all := m.waiting(from)
	if all >= m.each {
		if len(own) == 0 {
			return false, nil
		}
		return true, []*guest{oldest(own)}
	}
	if len(m.in) < m.most {
		return true, nil
	}
	longest := 0
	for a := range byte(addresses) {
		switch waiting, _ := m.waiting(a); {
		case len(waiting) == 0 || len(waiting) < longest:
		case len(waiting) > longest:
			longest, out = len(waiting), []*guest{oldest(waiting)}
		default:
			out = append(out, oldest(waiting))
		}
	}
	return len(out) > 0 || len(m.in) < m.most+server.Reserve, out
}

const addresses = 6

// TestCrowdAtRandom: whoever comes, asks, is answered and goes, the crowd takes in and closes the connections that a
// search through all of them finds.
func TestCrowdAtRandom(t *testing.T) {
	for seed := range uint64(100) {
		dice := rand.New(rand.NewPCG(seed, 1))
		m := &model{most: 12, each: 5 + dice.IntN(20)}
		crowd := server.NewCrowd(m.most, m.each)
		for step := 1; step < 400; step++ {
			if err := m.step(crowd, dice, step); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
		}
	}
}

func (m *model) step(crowd *server.Crowd, dice *rand.Rand, step int) error {
	if len(m.in) > 0 && dice.IntN(2) == 0 {
		g := m.in[dice.IntN(len(m.in))]
		switch n := dice.IntN(8); {
		case n == 0:
			_ = g.in.Close()
			m.in = slices.DeleteFunc(m.in, func(o *guest) bool { return o == g })
		case g.waits > 0:
			g.waits = 0
			crowd.Watch(g.in, http.StateActive)
		case n > 3:
			g.waits = step
			crowd.Watch(g.in, http.StateIdle)
		}
		return nil
	}
	g := &guest{from: byte(min(dice.IntN(addresses), dice.IntN(addresses))), waits: step}
	want, out := m.room(g.from)
	in, got := crowd.Enter(g)
	if got != want {
		return fmt.Errorf("taken in: %v, want %v", got, want)
	}
	closed := slices.IndexFunc(m.in, func(o *guest) bool { return o.closed })
	switch {
	case closed < 0 && len(out) > 0:
		return fmt.Errorf("nobody gave way")
	case closed >= 0 && !slices.Contains(out, m.in[closed]):
		return fmt.Errorf("one gave way that should not")
	case closed >= 0:
		m.in = slices.Delete(m.in, closed, closed+1)
	}
	if slices.ContainsFunc(m.in, func(o *guest) bool { return o.closed }) {
		return fmt.Errorf("two gave way")
	}
	if got {
		g.in = in
		m.in = append(m.in, g)
	}
	return nil
}
