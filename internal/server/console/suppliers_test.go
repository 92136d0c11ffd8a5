package console_test

import (
	"strings"
	"testing"
	"time"

	"unitask/internal/routing"
	"unitask/internal/task"
)

// TestSuppliersAsTheyAre: the sandbox is neither shown as live nor with charges, and a supplier that refuses the
// service's key with what it answered.
func TestSuppliersAsTheyAre(t *testing.T) {
	w := newWorld(t)
	b := w.member("ops", "operator")
	made := b.run(`{"capability":"text.chat","input":{"prompt":"hi"}}`)
	own := w.operator.RoutesFunc
	w.operator.RoutesFunc = func() []routing.State {
		return append(own(), routing.State{
			Capability: "text.chat", Supplier: "badkey", Model: "m", Mode: task.Live, Approved: true, Until: time.Now(),
			Refused: "tripped: needs the operator: the supplier refuses the key (401)",
		}, routing.State{Capability: "text.chat", Supplier: "well", Model: "m", Mode: task.Live, Approved: true})
	}
	suppliers, overview, shown := b.get("/suppliers").body, b.get("/").body, b.get("/tasks/"+made.ID).body
	for name, page := range map[string]string{"suppliers": suppliers, "overview": overview} {
		for text, times := range map[string]int{
			`<span class="pill sandbox">sandbox</span>`: 1, `<span class="pill live">live</span>`: 1, `<span class="pill failed">refused</span>`: 1,
		} {
			if got := strings.Count(page, text); got != times {
				t.Errorf("%s: %d times %s in %s", name, got, text, page)
			}
		}
		if !strings.Contains(page, "the supplier refuses the key (401)") {
			t.Errorf("%s: no reason in %s", name, page)
		}
	}
	const nothing = `<dt>Charged</dt><dd>–</dd>`
	if strings.Count(suppliers, nothing) != 1 || strings.Count(suppliers, `<dt>Charged</dt>`) != 3 {
		t.Errorf("suppliers: not one sandbox without charges in %s", suppliers)
	}
	if !strings.Contains(shown, "1. sandbox-") || strings.Contains(shown, "charged") {
		t.Errorf("an attempt of the sandbox is charged in %s", shown)
	}
}
