package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"unitask/internal/routing"
	"unitask/internal/supplier/sandbox"
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

// TestSupplierChanges: an operator pauses a supplier once asked, which then gets no work, and resumes it; a member has no
// such page.
func TestSupplierChanges(t *testing.T) {
	w := newWorld(t)
	ops, ann := w.member("ops", "operator"), w.member("shop", "member")
	pause := "/suppliers/" + sandbox.Cheap + "/pause"
	if got := ann.post(pause, url.Values{"sure": {"yes"}}); got.StatusCode != http.StatusNotFound {
		t.Errorf("a member pauses a supplier: %d", got.StatusCode)
	}
	if got := ops.post(pause, nil).body; !strings.Contains(got, "Pause "+sandbox.Cheap+"?") || strings.Contains(ops.get("/suppliers").body, "Resume") {
		t.Errorf("it is paused without a question: %s", got)
	}
	if got := ops.post(pause, url.Values{"sure": {"yes"}}); got.Header.Get("Location") != "/console/suppliers?done=paused" {
		t.Errorf("paused: %d %s", got.StatusCode, got.body)
	}
	if got := ops.get("/suppliers").body; !strings.Contains(got, "Paused by somebody") || !strings.Contains(got, "Resume") {
		t.Errorf("the page doesn't say so: %s", got)
	}
	if got := ops.get("/").body; !strings.Contains(got, sandbox.Cheap+" is paused by an operator") {
		t.Error("the first page doesn't say so")
	}
	made := ann.submit(`{"capability":"text.chat","input":{"prompt":"hi"}}`, "wait=0")
	if made.State != task.Queued && made.State != task.Running {
		t.Errorf("a task is %s while its supplier is paused", made.State)
	}
	if got := ops.post("/suppliers/"+sandbox.Cheap+"/resume", nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("resumed: %d", got.StatusCode)
	}
	if got := ann.run(`{"capability":"text.chat","input":{"prompt":"hi"}}`); got.State != task.Succeeded {
		t.Errorf("a task is %s once it is resumed", got.State)
	}
	if got := ops.post("/suppliers/"+sandbox.Cheap+"/test", nil); got.Header.Get("Location") != "/console/suppliers#tested-"+sandbox.Cheap {
		t.Errorf("tested: %d %s", got.StatusCode, got.body)
	}
	if got := ops.get("/suppliers").body; !strings.Contains(got, `id="tested-`+sandbox.Cheap+`" tabindex="-1">Tested `) || !strings.Contains(got, "from this node: it answers to a request without a key, so that a key wasn&#39;t tried. It took") {
		t.Errorf("the page doesn't say how the test went: %s", got)
	}
	if got := w.log.String(); !strings.Contains(got, `"msg":"supplier tested","supplier":"`+sandbox.Cheap+`","result":"reachable"`) {
		t.Error("the test isn't logged")
	}
	if got := ann.post("/suppliers/"+sandbox.Cheap+"/test", nil); got.StatusCode != http.StatusNotFound {
		t.Errorf("a member tests a supplier: %d", got.StatusCode)
	}
	for path, want := range map[string]int{"/suppliers/unknown/test": 404, "/suppliers/" + sandbox.Cheap + "/reset": 303, "/suppliers/unknown/reset": 404, "/suppliers/" + sandbox.Cheap + "/sell": 404} {
		if got := ops.post(path, nil); got.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, got.StatusCode, want)
		}
	}
}

// TestTrends: the attempts of a supplier that ended in the last 24 hours are drawn on its page with their table, and on the
// page of suppliers in short; a member has no such page.
func TestTrends(t *testing.T) {
	w := newWorld(t)
	ops, ann := w.member("ops", "operator"), w.member("shop", "member")
	if got := ops.get("/suppliers").body; !strings.Contains(got, "no attempt ended") {
		t.Errorf("before the first attempt: %s", got)
	}
	for range 3 {
		ann.run(`{"capability":"text.chat","input":{"prompt":"hi"}}`)
	}
	ann.run(`{"capability":"text.chat","input":{"prompt":"@fail:PROVIDER_TIMEOUT"}}`)
	for range 7 { // elsewhere
		w.operator.Hours.AttemptEnded(&task.Task{Capability: "text.chat"}, &task.Attempt{Supplier: "other", State: task.OK})
	}
	if got := ops.get("/suppliers").body; !strings.Contains(got, "4 attempts, 25 % errors, p95 ") {
		t.Errorf("in short: %s", got)
	}
	got := ops.get("/suppliers/" + sandbox.Cheap).body
	for _, want := range []string{
		`<dd>4</dd>`, `<dd>25 %</dd>`, `Attempts at ` + sandbox.Cheap + ` that ended, by hour, in UTC`, `<th scope="col" class="number">p95</th>`, "not counted",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if !regexp.MustCompile(`: [1-3] succeeded 0 failed [01] refused 0 unknown</title>`).MatchString(got) { // the hour may turn
		t.Errorf("the attempts aren't drawn in %s", got)
	}
	for path, want := range map[string]int{"/suppliers/unknown": 404, "/suppliers/" + sandbox.Cheap: 200} {
		if got := ops.get(path); got.StatusCode != want {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	if got := ann.get("/suppliers/" + sandbox.Cheap); got.StatusCode != http.StatusNotFound {
		t.Errorf("a member reads it: %d", got.StatusCode)
	}
}
