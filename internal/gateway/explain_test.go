package gateway_test

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/gateway"
	"unitask/internal/policy"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/supplier"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// wary is a supplier that can't honour a seed.
type wary struct{ *script }

func (wary) Refuses(r supplier.Request) string {
	if string(r.Parameters) != "{}" {
		return "parameter seed"
	}
	return ""
}

// loaded is a store that knows of attempts in flight.
type loaded struct {
	*memstore.DB
	open map[string]int
}

func (l loaded) InFlight(context.Context) (map[string]int, error) { return l.open, nil }

// explained are the routes of an explanation in words.
func explained(e gateway.Explanation) (out []string) {
	for _, r := range e.Routes {
		out = append(out, fmt.Sprintf("%s %s|%s %s", r.Route.Supplier, r.Cost, r.Reason, r.Code))
	}
	return out
}

// TestExplain: an explanation names each route in the order of its price and why it isn't taken, and sends, records and
// takes nothing; a request that its caller couldn't make is explained with why, a malformed one isn't.
func TestExplain(t *testing.T) {
	slow := &script{submitFn: answer("x")}
	full := route("text.chat", "full", task.USD, slow)
	full.Cap = 1
	off := route("text.chat", "off", task.USD, &script{})
	off.Approved = false
	next, paused := &script{submitFn: answer("x")}, &script{submitFn: answer("x")}
	routes := []routing.Route{full, route("text.chat", "paused", 2*task.USD, paused), route("text.chat", "next", 3*task.USD, next), off}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, routes)
		w.engine = loaded{w.store, map[string]int{full.Caps()[1].Key: 1, "supplier:next": 7}}
		w.start()
		defer w.stop()
		const body = `{"capability":"text.chat","input":{"prompt":"a prompt"}}`
		if err := w.store.PutPause(t.Context(), store.Pause{Supplier: "paused", At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := w.g.ReadPauses(t.Context()); err != nil {
			t.Fatal(err)
		}
		e, err := w.g.Explain(t.Context(), w.caller, []byte(body))
		want := []string{"full 0|full CAPACITY_EXHAUSTED", "paused 0|paused by an operator CAPACITY_EXHAUSTED", "next 0| ", "off 0|not approved in the settings "}
		for i := range e.Routes {
			if e.Routes[i].Cost == 0 || e.Routes[i].Most < e.Routes[i].Cost {
				t.Errorf("its price at %s is %s, at most %s", e.Routes[i].Route.Supplier, e.Routes[i].Cost, e.Routes[i].Most)
			}
			e.Routes[i].Cost = 0
		}
		got := explained(e)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || e.Refused != nil {
			t.Errorf("%v, refused %v (-want +got):\n%s", err, e.Refused, diff)
		}
		if len(next.keys()) > 0 || len(paused.keys()) > 0 || len(slow.keys()) > 0 {
			t.Error("a supplier was sent something")
		}
		w.caller.Key.Scopes = []string{"image.*"}
		if e, err := w.g.Explain(t.Context(), w.caller, []byte(body)); err != nil || fault.From(e.Refused).Message != "capability isn't among the key's scopes" || len(e.Routes) != 4 {
			t.Errorf("beyond its scopes: %v, %v", e.Refused, err)
		}
		w.caller.Account.Capabilities = []string{"image.*"}
		if e, err := w.g.Explain(t.Context(), w.caller, []byte(body)); err != nil || fault.From(e.Refused).Message != "capability isn't open on the account" {
			t.Errorf("closed on the account: %v, %v", e.Refused, err)
		}
		w.caller.Account, w.caller.Key.Scopes = account.Account{}, nil
		for _, wrong := range []string{`{`, `{"capability":"no.such","input":{}}`, `{"capability":"text.chat","input":{"words":1}}`} {
			if e, err := w.g.Explain(t.Context(), w.caller, []byte(wrong)); fault.CodeOf(err) != fault.InvalidRequest {
				t.Errorf("%s: %+v, %v", wrong, e, err)
			}
		}
	})
}

// TestExplainNamesTheMember: the member that a supplier can't honour is named.
func TestExplainNamesTheMember(t *testing.T) {
	inWorld(t, []routing.Route{route("image.generate", "wary", 1, wary{&script{}})}, func(w *world) {
		e, err := w.g.Explain(t.Context(), w.caller, []byte(`{"capability":"image.generate","input":{"prompt":"a"},"parameters":{"seed":7}}`))
		if err != nil || len(e.Routes) != 1 || e.Routes[0].Reason != "can't honour the request: parameter seed" || e.Routes[0].Code != fault.InvalidRequest {
			t.Errorf("%+v, %v", e.Routes, err)
		}
	})
}

// TestExplainWhoIsClosed: a key that opens nothing, or an account that takes no work, is why a request would be refused,
// before scopes.
func TestExplainWhoIsClosed(t *testing.T) {
	inWorld(t, []routing.Route{route("text.chat", "a", 1, &script{})}, func(w *world) {
		w.caller.Key.Scopes = []string{"image.*"}
		past, later := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		for want, closing := range map[string]func(c *gate.Caller){
			"capability isn't among the key's scopes": func(c *gate.Caller) { c.Key.ExpiresAt = &later },
			"key is revoked":  func(c *gate.Caller) { c.Key.RevokedAt, c.Account.SuspendedAt = &past, &past },
			"key has expired": func(c *gate.Caller) { c.Key.ExpiresAt = &past },
			"the account is suspended and takes no new work; its operator may resume it": func(c *gate.Caller) { c.Account.SuspendedAt = &past },
			"the account is closed and takes no new work; its operator may resume it":    func(c *gate.Caller) { c.Account.ClosedAt = &past },
		} {
			c := w.caller
			closing(&c)
			if e, err := w.g.Explain(t.Context(), c, []byte(chat)); err != nil || e.Refused == nil || fault.From(e.Refused).Message != want {
				t.Errorf("%v, %v, want %q", e.Refused, err, want)
			}
		}
	})
}

// TestExplainNamesTheRule: an explanation names the content rule that refuses a request, which is in the log for requests
// alone.
func TestExplainNamesTheRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log fixture.Log
		w := newWorld(t, []routing.Route{route("text.chat", "a", 1, &script{})})
		w.log, w.policy = slog.New(slog.NewTextHandler(&log, nil)), &policy.Policy{Rules: []policy.Rule{{Name: "greetings", Pattern: regexp.MustCompile("hello")}}}
		w.start()
		defer w.stop()
		e, err := w.g.Explain(t.Context(), w.caller, []byte(chat))
		if err != nil || fault.CodeOf(e.Refused) != fault.ContentPolicyViolation || !slices.Equal(e.Rules, []string{"greetings"}) || len(e.Routes) != 1 {
			t.Errorf("%+v, %v", e, err)
		}
		if text := log.String(); strings.Contains(text, "rule") {
			t.Error("an explanation is in the log:", text)
		}
		if _, err := w.g.Size(t.Context(), w.caller, []byte(chat)); fault.CodeOf(err) != fault.ContentPolicyViolation || !strings.Contains(log.String(), "rules=greetings") {
			t.Errorf("a request: %v, %s", err, log.String())
		}
	})
}
