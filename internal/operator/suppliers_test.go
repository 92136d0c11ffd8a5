package operator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/routing"
	"unitask/internal/task"
)

// TestRouteStates says how a route stands for everybody, and for how many accounts alone.
func TestRouteStates(t *testing.T) {
	until := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	o := newTestOperator(t)
	for name, tt := range map[string]struct {
		is   routing.State
		want api.RouteState
	}{
		"well":     {routing.State{}, api.RouteState{State: api.RouteOpen}},
		"for all":  {routing.State{Reason: "cooling down", Until: until}, api.RouteState{State: api.RoutePaused, Reason: "cooling down"}},
		"for some": {routing.State{Reason: "tripped", Accounts: 2, Until: until}, api.RouteState{State: api.RoutePaused, Reason: "tripped, for 2 of the accounts"}},
		"refused": {
			routing.State{Reason: "needs the operator", Refused: "needs the operator", Until: until},
			api.RouteState{State: api.RoutePaused, Reason: "needs the operator", NeedsOperator: true},
		},
		"refused, its rest is over": {
			routing.State{Refused: "needs the operator"},
			api.RouteState{State: api.RouteProbing, Reason: "needs the operator", NeedsOperator: true},
		},
		"minute full": {routing.State{Reason: "full"}, api.RouteState{State: api.RoutePaused, Reason: "full"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.is.Supplier, tt.is.Mode, tt.want.Mode = "a", task.Live, task.Live
			if !tt.is.Until.IsZero() {
				tt.want.Until = &api.Timestamp{Time: until}
			}
			o.RoutesFunc = func() []routing.State { return []routing.State{tt.is} }
			states, err := o.Suppliers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]api.RouteState{tt.want}, states[0].Routes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
