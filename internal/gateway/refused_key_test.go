package gateway_test

import (
	"testing"
	"time"

	"unitask/internal/fault"
	"unitask/internal/routing"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// TestRefusedKeyIsSaid: why a supplier refused the service's key is said until it gives a result, also when the route's
// rest is over and the next request would try it.
func TestRefusedKeyIsSaid(t *testing.T) {
	mended := false
	s := &script{submitFn: func(int, supplier.Request) (supplier.Outcome, error) {
		if mended {
			return text("hi"), nil
		}
		e := supplier.NewError(supplier.Refused, fault.ProviderUnavailable, "refused", nil)
		e.Operator, e.Status = true, 401
		return supplier.Outcome{}, e
	}}
	inWorld(t, []routing.Route{route("text.chat", "a", 1, s)}, func(w *world) {
		const refused = "tripped: needs the operator: the supplier refuses the key (401)"
		if end := w.create("refused-key-1", chat, time.Minute).Task; end.State != task.Failed {
			t.Errorf("a task ended %s", end.State)
		}
		if got := w.g.Routes()[0]; got.Refused != refused || got.Reason != refused {
			t.Errorf("in its rest: %+v", got)
		}
		time.Sleep(time.Hour)
		if got := w.g.Routes()[0]; got.Refused != refused || got.Reason != "" {
			t.Errorf("after its rest: %+v", got)
		}
		mended = true
		if end := w.create("refused-key-2", chat, time.Minute).Task; end.State != task.Succeeded {
			t.Errorf("a task ended %s", end.State)
		}
		if got := w.g.Routes()[0]; got.Refused != "" || got.Reason != "" {
			t.Errorf("after a result: %+v", got)
		}
	})
}
