package storetest

import (
	"bytes"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

func testKeys(e *env) {
	now := e.clock.Now()
	ctx := e.Context()
	first := account.Account{ID: "acct_z", Name: "first", CreatedAt: now}
	second := account.Account{ID: "acct_a", Name: "second", Capabilities: []string{"image.*"}, CreatedAt: now.Add(time.Second)}
	for _, a := range []account.Account{second, first} {
		e.wantErr("PutAccount", e.Keys.PutAccount(ctx, a), nil)
	}
	e.wantErr("an account's id again", e.Keys.PutAccount(ctx, account.Account{ID: "acct_z", Name: "x"}), store.ErrExists)
	e.wantErr("an account's name again", e.Keys.PutAccount(ctx, account.Account{ID: "acct_x", Name: "first"}), store.ErrExists)
	accounts, err := e.Keys.ListAccounts(ctx)
	e.wantErr("ListAccounts", err, nil)
	e.wantSame("ListAccounts", accounts, []account.Account{first, second})

	expires := now.Add(time.Hour)
	k1 := account.Key{
		ID: "key_9", Account: "acct_z", Name: "one", Mode: task.Live, Hash: hashOf("one"), Hint: "abcd",
		Scopes: []string{"*"}, Limits: account.Limits{OpenTasks: 3, Budget: 5, BudgetPeriod: account.Month},
		CreatedAt: now, ExpiresAt: &expires,
	}
	k2 := account.Key{ID: "key_1", Account: "acct_a", Mode: task.Test, Hash: hashOf("two"), CreatedAt: now.Add(time.Second)}
	for _, k := range []account.Key{k2, k1} {
		e.wantErr("PutKey", e.Keys.PutKey(ctx, k), nil)
	}
	e.wantErr("a key's id again", e.Keys.PutKey(ctx, account.Key{ID: "key_9", Account: "acct_z", Hash: hashOf("x")}), store.ErrExists)
	e.wantErr("a key's hash again", e.Keys.PutKey(ctx, account.Key{ID: "key_x", Account: "acct_z", Hash: hashOf("one")}), store.ErrExists)
	e.wantErr("no such account", e.Keys.PutKey(ctx, account.Key{ID: "key_x", Account: "acct_x", Hash: hashOf("x")}), store.ErrNotFound)
	keys, err := e.Keys.ListKeys(ctx)
	e.wantErr("ListKeys", err, nil)
	e.wantSame("ListKeys", keys, []account.Key{k1, k2})

	revoked := k1
	revoked.RevokedAt = &now
	got, err := e.Keys.UpdateKey(ctx, "key_9", func(k *account.Key) { k.RevokedAt = &now })
	e.wantErr("UpdateKey", err, nil)
	e.wantSame("UpdateKey", got, revoked)
	k, a, err := e.Keys.KeyByHash(ctx, hashOf("one"))
	e.wantErr("KeyByHash", err, nil)
	e.wantSame("the key", k, revoked)
	e.wantSame("its account", a, first)
	_, _, err = e.Keys.KeyByHash(ctx, hashOf("unknown"))
	e.wantErr("KeyByHash of an unknown one", err, store.ErrNotFound)
	_, err = e.Keys.UpdateKey(ctx, "key_x", func(*account.Key) {})
	e.wantErr("UpdateKey of an unknown one", err, store.ErrNotFound)
	for _, change := range []func(*account.Key){
		func(k *account.Key) { k.ID = "key_x" },
		func(k *account.Key) { k.Hash = hashOf("x") },
	} {
		if _, err := e.Keys.UpdateKey(ctx, "key_1", change); err == nil {
			e.Error("UpdateKey that changes what a key is known by: no error")
		}
	}
}

func testSecrets(e *env) {
	var mu sync.Mutex
	var all [][]byte
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := e.Secrets.Secret(background(), "signing", 32)
			if err != nil {
				e.Errorf("Secret: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, s)
		})
	}
	wg.Wait()
	for _, s := range all {
		if len(s) != 32 || !bytes.Equal(s, all[0]) {
			e.Fatalf("one name, different secrets of %d and %d bytes", len(all[0]), len(s))
		}
	}
	other, err := e.Secrets.Secret(e.Context(), "another", 16)
	e.wantErr("Secret", err, nil)
	if len(other) != 16 || bytes.Equal(other, all[0][:16]) {
		e.Error("another name: not a secret of its own")
	}
}
