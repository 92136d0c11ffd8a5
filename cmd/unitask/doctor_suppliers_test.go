package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
)

// TestDoctorSeesRefusedKeys: a supplier that refuses the server's key fails, one that refuses it on some routes warns,
// and others stand as they were found.
func TestDoctorSeesRefusedKeys(t *testing.T) {
	const reason = "tripped: needs the operator: the supplier refuses the key (401)"
	well := api.RouteState{Approved: true, State: api.RouteOpen}
	refused := api.RouteState{Approved: true, State: api.RouteProbing, Reason: reason, NeedsOperator: true}
	states := []api.SupplierState{
		{SupplierStatus: api.SupplierStatus{Name: "badkey"}, Routes: []api.RouteState{refused, {}}},
		{SupplierStatus: api.SupplierStatus{Name: "model"}, Routes: []api.RouteState{well, refused}},
		{SupplierStatus: api.SupplierStatus{Name: "well"}, Routes: []api.RouteState{well}},
	}
	all := []api.SupplierStatus{
		{Name: "badkey", Live: true, About: "text.chat"},
		{Name: "model", Live: true, About: "text.chat"},
		{Name: "well", Live: true, About: "text.chat"},
		{Name: "off", About: "OFF_KEY is not set"},
	}
	type row struct {
		check, found string
		status       health
		helped       bool
	}
	d := &diagnosis{t: &terminal{}}
	d.suppliers(all, states)
	var got []row
	for _, f := range d.findings {
		got = append(got, row{f.Check, f.Found, f.Status, f.Hint != ""})
	}
	want := []row{
		{"supplier badkey", reason + ", on 1 of its 1 routes", healthFail, true},
		{"supplier model", reason + ", on 1 of its 2 routes", healthWarn, true},
		{"supplier well", "text.chat", healthOK, false},
		{"supplier off", "OFF_KEY is not set", healthOff, false},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d.verdict() == nil {
		t.Error("the diagnosis passes")
	}
}
