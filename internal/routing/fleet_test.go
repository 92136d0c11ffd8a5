package routing_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/fault"
	"unitask/internal/routing"
)

// nodes are the Healths of a fleet, on clocks of their own, and what they said last.
type nodes struct {
	*testing.T
	now   time.Time
	all   []*routing.Health
	table *routing.Table
	notes map[int][]byte
}

// newNodes returns nodes whose clocks are an hour apart, and that have heard of each other.
func newNodes(t *testing.T, count int, routes ...routing.Route) *nodes {
	t.Helper()
	n := &nodes{T: t, now: time.Unix(1_800_000_000, 0), table: mustTable(t, routes...), notes: map[int][]byte{}}
	for i := range count {
		skew := time.Duration(i) * time.Hour
		n.all = append(n.all, routing.NewHealth(func() time.Time { return n.now.Add(skew) }))
	}
	n.exchange()
	n.exchange()
	return n
}

// room is for what a node says.
const room = 40 << 10

// exchangeAt has one node say and hear.
func (n *nodes) exchangeAt(node int) {
	n.Helper()
	raw, err := json.Marshal(n.all[node].Say(room))
	if err != nil {
		n.Fatal(err)
	}
	n.notes[node] = raw
	var others []routing.Said
	for i, note := range n.notes {
		if i == node {
			continue
		}
		var s routing.Said
		if err := json.Unmarshal(note, &s); err != nil {
			n.Fatal(err)
		}
		others = append(others, s)
	}
	n.all[node].Hear(others)
}

// exchange has all nodes say and hear, one after the other.
func (n *nodes) exchange() {
	n.Helper()
	for i, h := range n.all {
		if h != nil {
			n.exchangeAt(i)
		}
	}
}

// pass lets time pass with an exchange of all nodes a second.
func (n *nodes) pass(d time.Duration) {
	n.Helper()
	for end := n.now.Add(d); n.now.Before(end); n.exchange() {
		n.now = n.now.Add(min(time.Second, end.Sub(n.now)))
	}
}

// bound is how long it takes at most until all nodes know what one learnt.
const bound = 2 * time.Second

// end ends a node: its session and what it said.
func (n *nodes) end(node int) {
	n.all[node] = nil
	delete(n.notes, node)
}

// asks returns the suppliers that an account's request has at a node, or why the first route was passed over. It keeps
// the turn to probe.
func (n *nodes) asks(node int, account string) (to, why string) {
	w := want(thousand)
	w.Account = account
	choices, passed := n.table.Choose(w, n.all[node])
	for _, c := range choices {
		to += c.Route.Supplier
	}
	if len(passed) > 0 {
		why = passed[0].Reason
	}
	return to, why
}

func (n *nodes) wantAsks(what string, node int, account, to string) {
	n.Helper()
	if got, why := n.asks(node, account); got != to {
		n.Errorf("%s: node %d sends %s to %q (%s), want %q", what, node, account, got, why, to)
	}
}

// TestFleetTrips: failures at several nodes are failures in a row, and a route that is tripped at one node is tripped
// at all, until one probe works.
func TestFleetTrips(t *testing.T) {
	n := newNodes(t, 3, tokens("a", 1, 1), tokens("b", 2, 2))
	for range 2 {
		n.all[0].Failed("a/m", "acct_1")
		n.all[1].Failed("a/m", "acct_2")
	}
	n.pass(bound)
	n.wantAsks("four failures", 2, "acct_3", "a")
	n.all[2].Failed("a/m", "acct_3")
	n.pass(bound)
	for node := range n.all {
		n.wantAsks("five failures", node, "acct_4", "b")
	}
	n.pass(6 * time.Second)
	for node := range n.all {
		n.wantAsks("still tripped", node, "acct_4", "b")
	}
	probes := 0
	for range 20 { // seconds, and a request at each node in each
		for node := range n.all {
			if to, _ := n.asks(node, "acct_4"); to == "a" {
				probes++
			}
		}
		n.pass(time.Second)
	}
	if probes != 1 {
		t.Errorf("%d probes in 20 seconds at three nodes, want 1", probes)
	}
	for _, h := range n.all {
		h.Worked("a/m", "acct_4") // the one that probed knows, and the others' events say no more
	}
	n.pass(bound)
	for node := range n.all {
		n.wantAsks("the probe worked", node, "acct_4", "a")
	}
}

// TestFleetProbe: the end of a probe at one node, of whatever kind, is that of all, and each node has its turn.
func TestFleetProbe(t *testing.T) {
	for name, tt := range map[string]struct {
		ends func(h *routing.Health)
		want string // who gets the route after it
	}{
		"it worked":       {func(h *routing.Health) { h.Worked("a/m", "acct_1") }, "aa"},
		"it was accepted": {func(h *routing.Health) { h.Accepted("a/m") }, "aa"},
		"it failed":       {func(h *routing.Health) { h.Failed("a/m", "acct_1") }, "bb"},
		"another pause":   {func(h *routing.Health) { h.Pause("a/m", time.Minute, fault.CapacityExhausted, "cooling down") }, "bb"},
	} {
		t.Run(name, func(t *testing.T) {
			for first := range 2 {
				n := newNodes(t, 2, tokens("a", 1, 1), tokens("b", 2, 2))
				n.all[0].Pause("a/m", 30*time.Second, fault.CapacityExhausted, "cooling down")
				n.pass(bound)
				n.wantAsks("it cools down", 1, "acct_1", "b")
				n.pass(28*time.Second + 5*time.Second) // the last turn has begun
				n.wantAsks("the probe", first, "acct_1", "a")
				n.pass(bound)
				n.wantAsks("while it is under way", 1-first, "acct_1", "b")
				tt.ends(n.all[first])
				n.pass(bound)
				got := ""
				for node := range n.all {
					to, _ := n.asks(node, "acct_1")
					got += to
				}
				if got != tt.want {
					t.Errorf("after the probe of node %d: %s, want %s", first, got, tt.want)
				}
			}
		})
	}
}

// TestFleetResults: a result at one node stands between failures at another, also for one account.
func TestFleetResults(t *testing.T) {
	n := newNodes(t, 2, tokens("a", 1, 1), tokens("b", 2, 2))
	for i := range 8 {
		n.all[0].Failed("a/m", "acct_1")
		n.pass(time.Second)
		if i%4 == 3 {
			n.all[1].Worked("a/m", "acct_1")
			n.pass(bound)
		}
	}
	n.wantAsks("four failures, a result and again", 0, "acct_1", "a")
	for range 3 {
		n.all[0].Failed("a/m", "acct_1")
		n.all[1].Failed("a/m", "acct_1")
	}
	n.pass(bound)
	for node := range n.all {
		n.wantAsks("five failures of one account", node, "acct_1", "b")
		n.wantAsks("five failures of another account", node, "acct_2", "a")
	}
	n.pass(7 * time.Second)
	n.wantAsks("not yet over", 1, "acct_1", "b")
}

// TestFleetPauses: a supplier's advice is kept by all for as long as it said, by a node that starts meanwhile too, and
// repeating it makes it no longer.
func TestFleetPauses(t *testing.T) {
	n := newNodes(t, 2, tokens("a", 1, 1), tokens("b", 2, 2))
	n.all[1].Pause("a/m", time.Minute, fault.CapacityExhausted, "cooling down")
	n.pass(30 * time.Second)
	n.all = append(n.all, routing.NewHealth(func() time.Time { return n.now.Add(-24 * time.Hour) }))
	n.exchange()
	for node := range n.all {
		if to, why := n.asks(node, "acct_1"); to != "b" || why != "cooling down" {
			t.Errorf("node %d: %q, %q", node, to, why)
		}
	}
	n.pass(28 * time.Second)
	n.wantAsks("almost a minute later", 1, "acct_1", "b")
	tried := 0
	for second := range 14 {
		for node := range n.all {
			to, why := n.asks(node, "acct_1")
			if why == "cooling down" && second > 3 {
				t.Errorf("node %d rests after the minute and %s", node, bound)
			}
			if to == "a" {
				tried++
			}
		}
		n.pass(time.Second)
	}
	if tried != 1 {
		t.Errorf("%d probes in twelve seconds, want 1", tried)
	}
}

// TestFleetHearsLate: a result right after a pause ends it also at a node that read of the pause a second late.
func TestFleetHearsLate(t *testing.T) {
	n := newNodes(t, 2, tokens("a", 1, 1), tokens("b", 2, 2))
	n.all[0].Pause("a/m", 30*time.Second, fault.CapacityExhausted, "cooling down")
	n.exchangeAt(0)
	n.now = n.now.Add(time.Second)
	n.exchangeAt(1)
	n.now = n.now.Add(29 * time.Second)
	n.all[0].Worked("a/m", "acct_1")
	n.exchange()
	n.wantAsks("after the result", 1, "acct_1", "a")
}

// TestFleetHearsOnce: what a node says again counts once, at itself and at others, also if it has another name by then
// and its last note under the old one is still there.
func TestFleetHearsOnce(t *testing.T) {
	limited := tokens("a", 1, 1)
	limited.Rate = routing.Rate{Requests: 4}
	n := newNodes(t, 2, limited, tokens("b", 2, 2))
	n.wantAsks("the first", 0, "acct_3", "a")
	n.all[0].Failed("a/m", "acct_1")
	n.exchange()
	n.notes[7] = n.notes[0]
	n.pass(4 * time.Second) // its part of so small a limit
	n.all[0].Failed("a/m", "acct_2")
	n.wantAsks("the second", 0, "acct_3", "a")
	for range 10 {
		n.pass(time.Second)
		for node, h := range n.all {
			if got := n.table.States(h)[0].Failures; got != 2 {
				t.Errorf("%d failures at node %d, want 2", got, node)
			}
		}
	}
	left := 0
	for range 30 {
		if to, _ := n.asks(1, "acct_3"); to == "a" {
			left++
		}
		n.pass(time.Second)
	}
	if left != 2 {
		t.Errorf("%d requests are left of four to the other node, want 2", left)
	}
}

// TestFleetLosesANode: the probe of a node that died holds no one up once its session is over, and its requests count
// for the rest of their minute.
func TestFleetLosesANode(t *testing.T) {
	limited := tokens("a", 1, 1)
	limited.Rate = routing.Rate{Requests: 3}
	n := newNodes(t, 2, limited, tokens("b", 2, 2))
	n.wantAsks("the first", 0, "acct_1", "a")
	n.pass(4 * time.Second) // its part of so small a limit
	n.wantAsks("the second", 0, "acct_1", "a")
	n.all[0].Pause("a/m", time.Second, fault.CapacityExhausted, "cooling down")
	n.pass(5 * time.Second)
	n.wantAsks("the last is left to who asked for it", 0, "acct_1", "b")
	n.pass(bound)
	n.wantAsks("the probe", 0, "acct_1", "a")
	n.pass(bound)
	if _, why := n.asks(1, "acct_1"); why != routing.Probing {
		t.Errorf("while the other probes: %q", why)
	}
	n.end(0)
	n.pass(time.Second)
	if _, why := n.asks(1, "acct_1"); why != "full: requests a minute" {
		t.Errorf("the minute of a node that died: %q", why)
	}
	n.pass(61 * time.Second)
	n.wantAsks("a minute later", 1, "acct_1", "a")
}

// TestFleetAlone: a node without others has whole minutes at once, and its own turn.
func TestFleetAlone(t *testing.T) {
	limited := tokens("a", 1, 1)
	limited.Rate = routing.Rate{Requests: 100}
	n := newNodes(t, 1, limited, tokens("b", 2, 2))
	for range 100 {
		n.wantAsks("within its limit", 0, "acct_1", "a")
	}
	n.wantAsks("beyond its limit", 0, "acct_1", "b")
	n.pass(61 * time.Second)
	n.all[0].Pause("a/m", time.Second, fault.CapacityExhausted, "cooling down")
	n.pass(time.Second)
	n.wantAsks("its probe", 0, "acct_1", "a")
}

// TestFleetSaysLittle: whatever happened, what a node says has room in its note.
func TestFleetSaysLittle(t *testing.T) {
	var routes []routing.Route
	for i := range 600 {
		r := tokens(fmt.Sprintf("supplier-%d-%s", i, strings.Repeat("n", 40)), 1, 1)
		r.Rate = routing.Rate{Requests: 100}
		routes = append(routes, narrow(r))
	}
	n := newNodes(t, 2, routes...)
	n.asks(0, "acct_1")
	for i := range 2000 {
		n.all[0].Failed(routes[i%len(routes)].Supplier+"/m", "acct_"+strings.Repeat("x", 26))
	}
	for _, room := range []int{100, 4 << 10, room} {
		raw, err := json.Marshal(n.all[0].Say(room))
		if err != nil || len(raw) > room+100 {
			t.Errorf("%d bytes said in a room of %d, %v", len(raw), room, err)
		}
	}
	var s routing.Said
	if err := json.Unmarshal(n.notes[0], &s); err != nil {
		t.Fatal(err)
	}
	n.exchange()
	if err := json.Unmarshal(n.notes[0], &s); err != nil || len(s.Events) != 128 || len(s.Minutes) == 0 {
		t.Errorf("%d events and %d minutes are said, %v", len(s.Events), len(s.Minutes), err)
	}
	if s.Events[0].N >= s.Events[127].N {
		t.Error("the newest event isn't the last")
	}
}

// TestChanged: what others should know soon is told.
func TestChanged(t *testing.T) {
	n := newNodes(t, 2, tokens("a", 1, 1), tokens("b", 2, 2))
	rang := func() (rang bool) {
		select {
		case <-n.all[0].Changed():
			rang = true
		default:
		}
		return rang
	}
	var got []bool
	for _, do := range []func(){
		func() { n.all[0].Worked("a/m", "acct_1") },
		func() { n.all[0].Pause("a/m", time.Second, fault.CapacityExhausted, "cooling down") },
		func() { n.exchange() },
		func() { n.pass(5 * time.Second) },
		func() { n.asks(0, "acct_1") },
		func() { n.all[0].Worked("a/m", "acct_1") },
		func() { n.all[0].Worked("a/m", "acct_1") },
		func() { n.all[0].Failed("a/m", "acct_1") },
	} {
		do()
		got = append(got, rang())
	}
	if diff := cmp.Diff([]bool{false, true, false, false, true, true, false, true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
