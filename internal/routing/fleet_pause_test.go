package routing_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
)

const needsOperator = "tripped: needs the operator"

// TestFleetPauseHere: a pause that concerns one node is kept by that node alone, until a result of its own, whatever the
// others say of the route meanwhile; its probes keep no other away.
func TestFleetPauseHere(t *testing.T) {
	n := newNodes(t, 3, tokens("a", 1, 1), tokens("b", 2, 2))
	for range 3 {
		n.all[0].PauseHere("a/m", time.Minute, fault.ProviderUnavailable, needsOperator)
		state := n.table.States(n.all[0])[0]
		if state.Reason != needsOperator || !state.Until.Equal(n.now.Add(time.Minute)) {
			t.Errorf("it rests until %s: %s", state.Until, state.Reason)
		}
		for range 60 {
			n.wantAsks("while its key is refused", 0, "acct_1", "b")
			n.pass(time.Second)
			for node := 1; node < 3; node++ {
				n.wantAsks("while another's key is refused", node, "acct_1", "a")
				n.all[node].Worked("a/m", "acct_1")
			}
		}
		n.wantAsks("the probe", 0, "acct_1", "a")
		n.wantAsks("while it is under way", 0, "acct_2", "b")
	}
	n.all[1].Failed("a/m", "acct_1") // so that its result is told
	n.pass(bound)
	n.all[1].Worked("a/m", "acct_1")
	n.pass(bound)
	n.wantAsks("another's result", 0, "acct_2", "b")
	n.all[0].Worked("a/m", "acct_1")
	n.wantAsks("its own result", 0, "acct_2", "a")
	n.wantAsks("and again", 0, "acct_3", "a")
}

// TestFleetPausesOutlastFailures: a pause under way is told to a node that starts later, however many failures of other
// routes came after it and however little has room; beyond the bound the latest pauses are.
func TestFleetPausesOutlastFailures(t *testing.T) {
	n := newNodes(t, 1, tokens("a", 1, 1), tokens("b", 2, 2))
	pause := func(route string, d time.Duration) {
		n.all[0].Pause(route, d, fault.CapacityExhausted, "cooling down")
	}
	pause("b/m", 5*time.Minute)
	for d := range 300 { // the last one alone matters
		pause("a/m", time.Duration(d)*time.Second)
	}
	n.pass(4 * time.Minute)
	for i := range 300 {
		n.all[0].Failed(fmt.Sprintf("x%d/m", i), "acct_1")
	}
	for _, size := range []int{500, room} {
		late := routing.NewHealth(func() time.Time { return n.now })
		late.Say(room)
		raw, err := json.Marshal(n.all[0].Say(size))
		var said routing.Said
		if err != nil || json.Unmarshal(raw, &said) != nil {
			t.Fatal(err)
		}
		late.Hear([]routing.Said{said})
		for _, state := range n.table.States(late) {
			if state.Reason != "cooling down" {
				t.Errorf("with room for %d bytes a node that starts later hears of %s: %q", size, state.Supplier, state.Reason)
			}
		}
	}

	for i := range 200 {
		pause(fmt.Sprintf("y%d/m", i), 2*time.Minute)
	}
	n.all[0].Failed("z/m", "acct_1")
	n.all[0].Failed("z/m", "acct_2")
	said := n.all[0].Say(room)
	if first, last := said.Events[0].Route, said.Events[len(said.Events)-1].Account; first != "y73/m" || last != "acct_2" {
		t.Errorf("beyond the bound the first event is of %s, the last of %s", first, last)
	}
}
