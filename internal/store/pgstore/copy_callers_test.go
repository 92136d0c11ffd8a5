package pgstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/store/storetest"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// callers are the accounts, keys and all that belongs to them, as the engine answers about them.
type callers struct {
	Accounts []account.Account
	Keys     []account.Key
	Session  account.Session
	Link     string // its member
	Secret   []byte

	Endpoints  []webhook.Endpoint
	Deliveries []store.Claimed
	Delivered  store.DeliveryPage
}

var linkHash, sessionHash = task.Hash{7}, task.Hash{9}

func fillCallers(t *testing.T, e storetest.Engine, now time.Time) {
	t.Helper()
	ctx := t.Context()
	for i, name := range []string{"default", "other"} {
		a := account.Account{ID: fmt.Sprint("acct_", i), Name: name, CreatedAt: now, Capabilities: []string{"text.*"}}
		mustDo(t, e.Registry.PutAccount(ctx, a.WithMember(account.Member{Name: "ann", Role: account.RoleOperator, JoinedAt: now})))
		for n := range 3 {
			k := account.Key{ID: fmt.Sprintf("key_%d_%d", i, n), Account: a.ID, Name: "shop", Mode: task.Live, Hash: task.Hash{byte(i + 1), byte(n)}, CreatedAt: now}
			mustDo(t, e.Registry.PutKey(ctx, k))
		}
	}
	mustDo(t, e.Registry.MarkUsed(ctx, map[string]time.Time{"key_0_1": now.Add(1234567)})) // to the nanosecond
	_, err := e.Registry.UpdateKey(ctx, "key_1_1", func(k *account.Key) error {
		k.RevokedAt, k.Limits.OpenTasks = &now, 3
		return nil
	})
	mustDo(t, err)
	mustDo(t, e.Registry.PutLink(ctx, account.Link{Hash: linkHash, Account: "acct_0", Member: "ann", ExpiresAt: now.Add(time.Hour)}))
	mustDo(t, e.Registry.PutLink(ctx, account.Link{Hash: task.Hash{8}, Account: "acct_1", Member: "ben"}))
	mustDo(t, e.Registry.RedeemLink(ctx, task.Hash{8}, func(l account.Link) (account.Session, error) {
		return account.Session{Hash: sessionHash, Account: l.Account, Member: l.Member, SeenAt: now}, nil
	}))
}

// fillWebhooks makes an endpoint and two deliveries, one of which has ended.
func fillWebhooks(t *testing.T, e storetest.Engine, now time.Time) {
	t.Helper()
	ctx := t.Context()
	scope := task.Scope{Account: "acct_1", Mode: task.Live}
	mustDo(t, e.Registry.PutEndpoint(ctx, webhook.Endpoint{ID: "whe_1", Scope: scope, URL: "https://example.com/", Capabilities: []string{"text.*"}, CreatedAt: now.UTC()}))
	for i := range 2 {
		n := store.NewTask{ID: task.NewID(task.PrefixTask, now), Scope: scope, Capability: "text.chat", IdempotencyHash: task.Hash{byte(i)}, Deadline: time.Hour}
		mustDo(t, second(e.Store.CreateTask(ctx, n)))
		mustDo(t, second(e.Store.RequestCancel(ctx, scope, n.ID)))
	}
	claimed, err := e.Registry.ClaimDeliveries(ctx, store.DeliveryClaim{Lease: time.Minute, Limit: 1, Each: 1})
	mustDo(t, err)
	mustDo(t, e.Registry.EndDelivery(ctx, claimed[0].Ref, store.DeliveryOutcome{State: webhook.Delivered}))
}

func second[T any](_ T, err error) error { return err }

func readCallers(t *testing.T, e storetest.Engine) (c callers) {
	t.Helper()
	var err [7]error
	c.Accounts, err[0] = e.Registry.ListAccounts(t.Context())
	c.Keys, err[1] = e.Registry.ListKeys(t.Context())
	c.Session, _, err[2] = e.Registry.GetSession(t.Context(), sessionHash)
	c.Secret, err[3] = e.Secrets.Secret(t.Context(), "signing", 32)
	c.Endpoints, err[4] = e.Registry.ListEndpoints(t.Context(), task.Scope{})
	c.Delivered, err[6] = e.Registry.ListDeliveries(t.Context(), store.DeliveryQuery{
		Scope: task.Scope{Account: "acct_1", Mode: task.Live}, Endpoint: "whe_1", State: webhook.Delivered,
	})
	claimed, failed := e.Registry.ClaimDeliveries(t.Context(), store.DeliveryClaim{Limit: 9, Each: 9})
	err[5] = failed
	for _, one := range claimed {
		one.Ref.Epoch = 0 // each look claims anew
		c.Deliveries = append(c.Deliveries, one)
	}
	mustDo(t, errors.Join(err[:]...))
	errSeen := errors.New("seen")
	if err := e.Registry.RedeemLink(t.Context(), linkHash, func(l account.Link) (account.Session, error) {
		c.Link = l.Member
		return account.Session{}, errSeen
	}); !errors.Is(err, errSeen) {
		t.Fatalf("RedeemLink: %v", err)
	}
	for i := range c.Keys {
		if at := c.Keys[i].LastUsedAt; at != nil {
			c.Keys[i].LastUsedAt = new(at.Truncate(time.Microsecond)) // as the database keeps times
		}
	}
	return c
}

// TestCopyCallers: accounts, keys, links, sessions, secrets, endpoints and deliveries are the same in the copy, and found in every way.
func TestCopyCallers(t *testing.T) {
	eachWay(t, func(t *testing.T, clock *storetest.Clock, from, to kept) {
		e := mustEngine(t, from)
		fillCallers(t, e, clock.Now())
		fillWebhooks(t, e, clock.Now())
		want := readCallers(t, e)
		mustDo(t, e.Store.Close())
		tally := mustCopy(t, from, to)
		counts := map[string]int64{}
		for _, s := range tally {
			counts[s.Kind] = s.Count
		}
		if diff := cmp.Diff(map[string]int64{
			"accounts": 2, "keys": 6, "links": 1, "sessions": 1, "secrets": 1, "usage": 1, "spend": 0, "counters": 0, "open tasks": 0, "ended tasks": 2,
			"endpoints": 1, "deliveries": 2,
		}, counts); diff != "" {
			t.Errorf("tally (-want +got):\n%s", diff)
		}
		copied := mustEngine(t, to)
		if diff := cmp.Diff(want, readCallers(t, copied)); diff != "" {
			t.Errorf("callers (-want +got):\n%s", diff)
		}
		for _, k := range want.Keys {
			if got, _, err := copied.Registry.KeyByHash(t.Context(), k.Hash); err != nil || got.ID != k.ID {
				t.Errorf("KeyByHash of %s: %s, %v", k.ID, got.ID, err)
			}
		}
		if _, err := copied.Registry.FindAccount(t.Context(), "other"); err != nil {
			t.Errorf("FindAccount: %v", err)
		}
	})
}
