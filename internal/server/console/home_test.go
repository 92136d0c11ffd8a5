package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"unitask/internal/api"
	"unitask/internal/notify"
	"unitask/internal/routing"
	"unitask/internal/task"
	"unitask/internal/webhook"
	"unitask/test/fixture"
)

// TestHomeOfRoles: operators are shown all accounts first, and their own on a page of its own; members only theirs.
func TestHomeOfRoles(t *testing.T) {
	w := newWorld(t)
	ops, ann := w.member("ops", "operator"), w.member("shop", "member")
	ann.run(`{"capability":"text.chat","input":{"prompt":"a secret prompt"}}`)
	home := ops.get("/").body
	for _, want := range []string{"<h1>All accounts</h1>", "By capability", "text.chat", ">shop</a>", "No breaker is open", "not counted"} {
		if !strings.Contains(home, want) {
			t.Errorf("no %q on an operator's first page", want)
		}
	}
	if strings.Contains(home, "a secret prompt") {
		t.Error("an operator reads an input of another account")
	}
	if own := ops.get("/overview").body; !strings.Contains(own, "<h1>Overview</h1>") || !strings.Contains(own, "Tasks of the last 14 days") {
		t.Error("an operator has no page of their own account")
	}
	for _, path := range []string{"/", "/overview", "/?span=days"} {
		if got := ann.get(path).body; !strings.Contains(got, "<h1>Overview</h1>") || strings.Contains(got, "All accounts") || strings.Contains(got, "Margin") {
			t.Errorf("a member's %s is an operator's page", path)
		}
	}
	for _, path := range []string{"/?span=years", "/?split=account", "/?mode=operator"} {
		if got := ops.get(path); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	for _, query := range []string{"span=days", "span=days&split=capability", "split=supplier&mode=test", "split=capability&mode=live"} {
		if got := ops.get("/?" + query); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "<svg class=\"chart\"") {
			t.Errorf("%s: %d", query, got.StatusCode)
		}
	}
}

// TestFailingSupplier: one that fails needs attention between two pauses of its breaker, and leads to its card.
func TestFailingSupplier(t *testing.T) {
	w := newWorld(t)
	ops, known := w.member("ops", "operator"), w.operator.RoutesFunc
	w.operator.RoutesFunc = func() []routing.State {
		return append(known(), routing.State{Capability: "text.chat", Supplier: "groq", Model: "m", Mode: task.Live, Approved: true})
	}
	for range 13 {
		w.operator.Hours.AttemptEnded(&task.Task{Capability: "text.chat"}, &task.Attempt{Supplier: "groq", State: task.FailedAttempt})
	}
	got := ops.get("/").body
	for _, want := range []string{`<b>Now</b>`, `<a href="/console/suppliers#supplier-groq">groq fails</a><span class="sub">13 of 13 attempts failed since `} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q on the first page", want)
		}
	}
}

// TestWebhookConcerns: a webhook that the service disabled needs attention, and one whose deliveries wait for long; one
// that its account or an operator disabled doesn't.
func TestWebhookConcerns(t *testing.T) {
	w := newWorld(t)
	ops := w.member("ops", "operator")
	owner := fixture.Must(w.operator.CreateAccount(t.Context(), api.AccountCreate{Name: "shop"}))(t).ID
	for host, why := range map[string]webhook.Disabled{
		"full.example": webhook.DisabledFull, "gone.example": webhook.DisabledGone, "asked.example": webhook.DisabledAsked, "barred.example": webhook.DisabledOperator,
		"well.example": "",
	} {
		e := webhook.Endpoint{
			ID: task.NewID(notify.PrefixEndpoint, w.now()), Scope: task.Scope{Account: owner, Mode: task.Test}, URL: "https://" + host + "/hooks?token=secret", CreatedAt: w.now(),
		}
		e.SetDisabled(why, w.now())
		if err := w.operator.Store.PutEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	home := ops.get("/").body
	for host, want := range map[string]bool{"full.example": true, "gone.example": true, "asked.example": false, "barred.example": false, "well.example": false} {
		if got := strings.Contains(home, host); got != want {
			t.Errorf("%s needs attention: %v, want %v", host, got, want)
		}
	}
	if strings.Contains(home, "secret") {
		t.Error("an address is shown whole")
	}
	down := webhook.Endpoint{
		ID: task.NewID(notify.PrefixEndpoint, w.now()), Scope: task.Scope{Account: owner, Mode: task.Test}, URL: "http://127.0.0.1:9/hooks", CreatedAt: w.now(),
	}
	if err := w.operator.Store.PutEndpoint(t.Context(), down); err != nil {
		t.Fatal(err)
	}
	w.member("shop", "member").run(`{"capability":"text.chat","input":{"prompt":"hi"}}`)
	const failing = "The webhook http://127.0.0.1:9 doesn&#39;t take its deliveries"
	if home := ops.get("/").body; strings.Contains(home, failing) {
		t.Error("a delivery that has just come needs attention")
	}
	w.skip(20 * time.Minute)
	if home := ops.get("/").body; !strings.Contains(home, failing) {
		t.Errorf("a delivery that waits for 20 minutes needs no attention: %s", home)
	}
}
