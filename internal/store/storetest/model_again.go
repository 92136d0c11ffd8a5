package storetest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"unitask/internal/store"
)

const (
	modelRetention = 10 * time.Minute
	callsKept      = 6 // to be made again
)

// drawNode returns the present name of a node. Its session may have run out.
func (m *model) drawNode(rt *rapid.T) string { return m.nameOf(nodes.Draw(rt, "node")) }

func (m *model) nameOf(node string) string { return fmt.Sprint(node, "/", m.generations[node]) }

// beginSessions begins one for each node.
func (m *model) beginSessions(rt *rapid.T) {
	for _, node := range []string{"node-a", "node-b"} {
		m.generations[node] += 0
		m.renewAs(rt, m.nameOf(node), time.Hour)
	}
}

// renew keeps a node's session. The node takes another name once it has run out.
func (m *model) renew(rt *rapid.T) {
	node, d := nodes.Draw(rt, "node"), terms.Draw(rt, "term")
	if !m.renewAs(rt, m.nameOf(node), d) {
		m.generations[node]++
		m.renewAs(rt, m.nameOf(node), d)
	}
}

// renewAs reports whether the name has a session now.
func (m *model) renewAs(rt *rapid.T, name string, d time.Duration) (ok bool) {
	err := m.Store.Renew(background(), name, d)
	same(rt, "Renew", 0, 0, err, m.oracle.Renew(background(), name, d))
	return err == nil
}

func (m *model) grant(engine, oracle store.LeaseRef) {
	for _, l := range m.leases {
		if l.engine == engine {
			return // the answer was given before
		}
	}
	m.leases = append(m.leases, &twin{engine: engine, oracle: oracle})
}

// makeAgain keeps a call to be repeated.
func (m *model) makeAgain(call func(*rapid.T)) {
	if m.calls = append(m.calls, call); len(m.calls) > callsKept {
		m.calls = m.calls[1:]
	}
}

// repeat makes an earlier call again, as its caller does when the answer was lost. A repeated claim is compared if it
// has leases: without any an engine may claim anew.
func (m *model) repeat(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "claim") > 0 {
		if len(m.calls) == 0 {
			rt.Skip("no call")
		}
		m.calls[rapid.IntRange(0, len(m.calls)-1).Draw(rt, "call")](rt)
		return
	}
	c, ok := m.claimed[m.drawNode(rt)]
	if !ok {
		rt.Skip("no claim")
	}
	want, wantErr := m.oracle.Claim(background(), c)
	if wantErr != nil || len(want) > 0 {
		m.compareClaim(rt, c, want, wantErr)
	}
}

// period returns the counter's scope with the hour that it is about, as budgets have. None is held any more some time
// after its hour.
func (m *model) period(scope string) string {
	hour := m.clock.Now().Truncate(time.Hour)
	scope += ":" + hour.Format("2006-01-02T15")
	m.ends[scope] = hour.Add(2*time.Hour + modelRetention)
	return scope
}
