package node_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/artifact"
	"unitask/internal/catalog"
	"unitask/internal/gate"
	"unitask/internal/node"
	"unitask/internal/store"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
	"unitask/internal/webhook"
	"unitask/test/fixture"
)

// TestBudgetWarning: a service tells a webhook of a key's and an account's budget, by the amounts by which its gate refuses.
func TestBudgetWarning(t *testing.T) {
	got := make(chan map[string]any, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			Type string
			Data map[string]any
		}
		raw, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(raw, &body); err != nil || body.Type != webhook.TypeBudget {
			t.Errorf("%v: %s", err, raw)
		}
		got <- body.Data
	}))
	defer receiver.Close()
	db, now := memstore.New(time.Now), time.Now().UTC()
	owner := account.Account{ID: task.NewID(task.PrefixAccount, now), Name: "shop", CreatedAt: now, Limits: account.Limits{Budget: 10 * task.USD, BudgetPeriod: account.Month}}
	key := account.Key{
		ID: task.NewID(task.PrefixKey, now), Account: owner.ID, Name: "till", Mode: task.Live, CreatedAt: now,
		Limits: account.Limits{Budget: 5 * task.USD, BudgetPeriod: account.Month},
	}
	live := task.Scope{Account: owner.ID, Mode: task.Live}
	for _, err := range []error{
		db.PutAccount(t.Context(), owner), db.PutKey(t.Context(), key), db.Renew(t.Context(), "busy", time.Hour),
		db.PutEndpoint(t.Context(), webhook.Endpoint{ID: "whe_a", Scope: live, URL: receiver.URL, Budgets: true, Generation: 1, CreatedAt: now}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	keeper := fixture.Must(gate.New(gate.Config{Keys: db, Prefix: "svc", Now: time.Now}))(t)
	fixture.Must(db.CreateTask(t.Context(), store.NewTask{
		ID: task.NewID(task.PrefixTask, now), Scope: live, KeyID: key.ID, Capability: "video.generate", Deadline: time.Hour,
		Holds: keeper.Holds(gate.Caller{Key: key, Account: owner}, 4*task.USD, 0), First: &store.First{Node: "busy"},
	}))(t)
	s := fixture.Must(node.NewService(t.Context(), db, node.ServiceConfig{
		Parts: node.Parts{
			Catalog: fixture.Must(catalog.Default())(t), Artifacts: fixture.Must(artifact.NewFolder(artifact.FolderConfig{Dir: t.TempDir()}))(t),
			Fetcher: fixture.Must(artifact.NewFetcher(artifact.FetcherConfig{}))(t), KeyPrefix: "svc", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		},
		BaseURL:  "http://127.0.0.1:1",
		Webhooks: node.Webhooks{Fetcher: fixture.Must(artifact.NewFetcher(artifact.FetcherConfig{Allow: []string{"127.0.0.1", receiver.Listener.Addr().String()}}))(t), HTTP: true},
	}))(t)
	s.Start()
	defer func() { _ = s.Shutdown(t.Context()) }()
	select {
	case data := <-got:
		if data["key_id"] != key.ID || data["spent"] != "4" || data["percent"] != 80.0 || data["account_id"] != owner.ID {
			t.Errorf("told of %v", data)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it isn't told")
	}
	select {
	case data := <-got:
		t.Errorf("told of more: %v", data)
	case <-time.After(time.Second):
	}
}
