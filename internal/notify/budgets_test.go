package notify_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/notify"
	"unitask/internal/task"
	"unitask/internal/webhook"
	"unitask/test/fixture"
)

// TestBudgets: a webhook that wants it is told of a budget at 80 % and at 100 %, each once in a period for one amount; the
// others, of tests, of another account and those that don't want it, aren't.
func TestBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		live := task.Scope{Account: "acct_1", Mode: task.Live}
		for host, change := range map[string]func(*webhook.Endpoint){
			"wants": func(e *webhook.Endpoint) {}, "tasks": func(e *webhook.Endpoint) { e.Budgets = false },
			"other": func(e *webhook.Endpoint) { e.Scope.Account = "acct_2" }, "test": func(e *webhook.Endpoint) { e.Scope.Mode = task.Test },
		} {
			w.hosts[host] = status(http.StatusNoContent)
			e := webhook.Endpoint{ID: "whe_" + host, Scope: live, URL: "http://" + host + "/", Budgets: true, Generation: 1}
			change(&e)
			if err := w.PutEndpoint(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		ends := time.Now().Add(24 * time.Hour).UTC()
		budget := webhook.Budget{Account: "acct_1", Key: "key_1", First: "key_1", Amount: 5 * task.USD, Spent: 4_100_000_000, Percent: 82, Period: "day", Ends: ends}
		var mu sync.Mutex
		change := func(f func()) {
			mu.Lock()
			defer mu.Unlock()
			f()
		}
		w.sender.Budgets = func(context.Context) ([]webhook.Budget, error) {
			mu.Lock()
			defer mu.Unlock()
			return []webhook.Budget{budget}, nil
		}
		w.sender.Start()
		defer w.stop()
		told := func(n int) []received {
			t.Helper()
			time.Sleep(21 * time.Second) // a look is made every 20
			got := w.requests("wants")
			if len(got) != n {
				t.Fatalf("%d requests, want %d", len(got), n)
			}
			return got
		}
		var body struct {
			Type string
			Data map[string]any
		}
		if err := json.Unmarshal(told(1)[0].body, &body); err != nil {
			t.Fatal(err)
		}
		if body.Type != "budget.warning" || body.Data["key_id"] != "key_1" || body.Data["account_id"] != "acct_1" || body.Data["budget"] != "5" ||
			body.Data["spent"] != "4.1" || body.Data["period"] != "day" || body.Data["percent"] != 82.0 || body.Data["threshold"] != 80.0 {
			t.Errorf("the body: %+v", body)
		}
		change(func() { budget.Percent, budget.Spent = 100, budget.Amount })
		told(2)
		change(func() { budget.Key = "key_2" }) // which replaces key_1
		told(2)
		change(func() { budget.Amount = 6 * task.USD })
		told(4)
		change(func() { budget.Ends, budget.Percent = ends.Add(24*time.Hour), 80 })
		told(5)
		for _, host := range []string{"tasks", "other", "test"} {
			if got := w.requests(host); len(got) != 0 {
				t.Errorf("%s is told of %d", host, len(got))
			}
		}
	})
}

// TestBudgetsOfListener: a listener that wants it hears of a budget, and a listener of tasks alone doesn't.
func TestBudgetsOfListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d, live := newEndpoints(t, w), notify.Holder{Scope: task.Scope{Account: "acct_1", Mode: task.Live}}
		wants := fixture.Must(d.Create(t.Context(), live, api.WebhookCreate{Listener: true, Budgets: true}))(t)
		tasks := fixture.Must(d.Create(t.Context(), live, api.WebhookCreate{Listener: true}))(t)
		w.sender.Budgets = func(context.Context) ([]webhook.Budget, error) {
			return []webhook.Budget{{Account: "acct_1", Amount: 5 * task.USD, Spent: 4 * task.USD, Percent: 80, Period: "day", Ends: time.Now().Add(time.Hour)}}, nil
		}
		w.sender.Start()
		defer w.stop()
		got := fixture.Must(d.Fetch(t.Context(), live, wants.ID, time.Minute))(t)
		var body struct{ Type string }
		if len(got) != 1 || json.Unmarshal(got[0].Body, &body) != nil || body.Type != webhook.TypeBudget {
			t.Errorf("it hears of %+v", got)
		}
		if got := fixture.Must(d.Fetch(t.Context(), live, tasks.ID, time.Minute))(t); len(got) != 0 {
			t.Errorf("a listener of tasks hears of %+v", got)
		}
	})
}

// TestBudgetsAreTheAccounts: a key of some capabilities makes no webhook of budgets, and sees those of others no more than
// their deliveries; nil in tests.
func TestBudgetsAreTheAccounts(t *testing.T) {
	d := newEndpoints(t, newFakeStore())
	live := task.Scope{Account: "acct_1", Mode: task.Live}
	all, images := notify.Holder{Scope: live}, notify.Holder{Scope: live, Scopes: []string{"image.*"}}
	for name, h := range map[string]notify.Holder{"a key of images": images, "a test key": {Scope: scope}} {
		if _, err := d.Create(t.Context(), h, api.WebhookCreate{URL: "https://example.com/", Budgets: true}); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	request := api.WebhookCreate{URL: "https://example.com/", Budgets: true}
	request.Capabilities = []string{"image.*"}
	made := fixture.Must(d.Create(t.Context(), all, request))(t)
	if _, err := d.Get(t.Context(), images, made.ID); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a key of images reads it: %v", err)
	}
	if got := fixture.Must(d.Get(t.Context(), all, made.ID))(t); !got.Budgets {
		t.Errorf("it doesn't tell of budgets: %+v", got)
	}
}
