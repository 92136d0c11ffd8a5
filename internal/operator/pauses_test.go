package operator_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/internal/routing"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// TestPauseSupplier: the first pause stays with its name, and ends once; both are put into effect here.
func TestPauseSupplier(t *testing.T) {
	o := newTestOperator(t)
	c := t.Context()
	owner := operator.Owner{Operator: o.Operator}
	if _, err := owner.PauseSupplier(c, "groq"); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error("without a server:", err)
	}
	o.RoutesFunc = func() []routing.State {
		return []routing.State{{Capability: "text.chat", Supplier: "groq", Model: "m", Mode: task.Live, Approved: true, Reason: routing.Paused}}
	}
	read, reset := 0, ""
	o.PausesFunc = func(context.Context) error { read++; return nil }
	o.ResetFunc = func(name string) { reset = name }
	_, err := o.PauseSupplier(c, "unknown", "ann")
	wantCode(t, "an unknown supplier", err, fault.NotFound)
	paused := fixture.Must(o.PauseSupplier(c, "groq", "ann"))(t)
	again := fixture.Must(owner.PauseSupplier(c, "groq"))(t)
	want := &api.SupplierPause{Since: api.Timestamp{Time: o.now()}, By: "ann"}
	if diff := cmp.Diff([]*api.SupplierPause{want, want}, []*api.SupplierPause{paused.Paused, again.Paused}); diff != "" {
		t.Error("the pause (-want +got):", diff)
	}
	concerns := fixture.Must(o.Concerns(c, []api.SupplierState{paused}))(t)
	if diff := cmp.Diff([]operator.Concern{{Kind: operator.ConcernPaused, Name: "groq", About: "since 21 Nov 08:00 UTC, by ann"}}, concerns); diff != "" {
		t.Error("its concern (-want +got):", diff)
	}
	for range 2 {
		if got := fixture.Must(o.ResumeSupplier(c, "groq"))(t); got.Paused != nil {
			t.Errorf("resumed: %+v", got.Paused)
		}
	}
	if fixture.Must(o.ResetSupplier(c, "groq"))(t); read != 5 || reset != "groq" {
		t.Errorf("put into effect %d times, reset %q", read, reset)
	}
}
