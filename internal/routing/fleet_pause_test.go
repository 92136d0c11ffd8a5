package routing_test

import (
	"testing"
	"time"

	"unitask/internal/fault"
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
