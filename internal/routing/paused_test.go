package routing_test

import (
	"encoding/json"
	"testing"
	"time"

	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// TestPaused: no request goes to a paused supplier, whatever it costs, and again once it is resumed. Tasks wait for it
// meanwhile.
func TestPaused(t *testing.T) {
	n := newNodes(t, 1, tokens("a", 1, 1), tokens("b", 2, 2))
	h := n.all[0]
	n.wantAsks("before", 0, "acct_1", "a")
	h.SetPaused(map[string]bool{"a": true})
	n.wantAsks("paused", 0, "acct_1", "b")
	if state := n.table.States(h)[0]; state.Reason != routing.Paused || !state.Until.IsZero() {
		t.Errorf("it stands as %+v", state)
	}
	h.SetPaused(map[string]bool{"a": true, "b": true})
	chat := catalog.Name("text.chat")
	choices, passed := n.table.Choose(routing.Want{Mode: task.Live, Account: "acct_1", Capability: chat}, h)
	if len(choices) > 0 || len(passed) != 2 || passed[0].Code != fault.CapacityExhausted || passed[0].Reason != routing.Paused {
		t.Errorf("both paused: %d routes, passed over %+v", len(choices), passed)
	}
	if places, open := n.table.Places(task.Live, chat, h); open || len(places) > 0 {
		t.Errorf("tasks leave the queue: %v, %v", places, open)
	}
	h.SetPaused(nil)
	n.wantAsks("resumed", 0, "acct_1", "a")
}

// TestReset: an operator's reset ends a trip and a pause at every node, also at one that starts later.
func TestReset(t *testing.T) {
	n := newNodes(t, 2, tokens("a", 1, 1), tokens("b", 2, 2))
	n.all[0].Pause("a/m", 5*time.Minute, fault.CapacityExhausted, "cooling down")
	n.all[1].PauseHere("a/m", 5*time.Minute, fault.ProviderUnavailable, needsOperator)
	n.pass(bound)
	for node := range n.all {
		n.wantAsks("before", node, "acct_1", "b")
	}
	n.all[0].Reset("a/m")
	n.wantAsks("at its own node", 0, "acct_1", "a")
	n.pass(bound)
	n.wantAsks("at the other", 1, "acct_1", "a")
	n.all[0].Reset("a/m") // of a route that is well
	n.pass(time.Minute)
	late := routing.NewHealth(func() time.Time { return n.now })
	late.Say(room)
	raw, err := json.Marshal(n.all[0].Say(room))
	var said routing.Said
	if err != nil || json.Unmarshal(raw, &said) != nil {
		t.Fatal(err)
	}
	late.Hear([]routing.Said{said})
	if state := n.table.States(late)[0]; state.Reason != "" {
		t.Errorf("a node that starts later thinks: %s", state.Reason)
	}
}

// TestResetOfAnother: a node that knows of no failure passes the reset on to the one that leaves the route alone.
func TestResetOfAnother(t *testing.T) {
	n := newNodes(t, 2, tokens("a", 1, 1), tokens("b", 2, 2))
	n.all[1].PauseHere("a/m", 5*time.Minute, fault.ProviderUnavailable, needsOperator)
	n.pass(bound)
	n.wantAsks("before, at the node of the reset", 0, "acct_1", "a")
	n.wantAsks("before, at the other", 1, "acct_1", "b")
	n.all[0].Reset("a/m")
	n.pass(bound)
	n.wantAsks("after", 1, "acct_1", "a")
}
