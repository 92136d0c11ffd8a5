package gateway

import (
	"unitask/internal/routing"
	"unitask/internal/task"
)

// spend settles the attempt's grant after its end was recorded: the minute's tokens become the measured ones, or zero
// if the supplier refused.
func (w *work) spend() {
	if w.grant == (routing.Grant{}) || w.t.OpenAttempt() != nil || len(w.t.Attempts) == 0 {
		return
	}
	switch a := w.t.Attempts[len(w.t.Attempts)-1]; {
	case a.Usage != nil:
		w.g.health.Spent(w.grant, a.Usage.InputTokens+a.Usage.OutputTokens)
	case a.State == task.Rejected:
		w.g.health.Spent(w.grant, 0)
	default:
		w.g.health.Ended(w.grant)
	}
	w.grant = routing.Grant{}
}

// endGrant gives the route's probe back if the work was dropped before the attempt's end was recorded.
func (w *work) endGrant() {
	w.g.health.Ended(w.grant)
	w.grant = routing.Grant{}
}
