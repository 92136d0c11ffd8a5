package storetest

import (
	"bytes"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
	"unitask/internal/task"
)

// putAccounts records two accounts and returns them, the older one first.
func (e *env) putAccounts() (first, second account.Account) {
	e.Helper()
	now := e.clock.Now()
	first = account.Account{ID: "acct_z", Name: "first", CreatedAt: now}
	second = account.Account{
		ID: "acct_a", Name: "second", Capabilities: []string{"image.*"}, CreatedAt: now.Add(time.Second),
		Limits:  account.Limits{Budget: 7, BudgetPeriod: account.Day},
		Members: []account.Member{{Name: "ann", Role: account.RoleMember, JoinedAt: now}},

		KeepInputs: 7, Forgets: &account.Forget{Before: now, Days: 3},
	}
	for _, a := range []account.Account{second, first} {
		e.wantErr("PutAccount", e.Registry.PutAccount(e.Context(), a), nil)
	}
	return first, second
}

func testAccounts(e *env) {
	ctx := e.Context()
	first, second := e.putAccounts()
	e.wantErr("an account's id again", e.Registry.PutAccount(ctx, account.Account{ID: "acct_z", Name: "x"}), store.ErrExists)
	e.wantErr("an account's name again", e.Registry.PutAccount(ctx, account.Account{ID: "acct_x", Name: "first"}), store.ErrExists)
	accounts, err := e.Registry.ListAccounts(ctx)
	e.wantErr("ListAccounts", err, nil)
	e.wantSame("ListAccounts", accounts, []account.Account{first, second})
	got, err := e.Registry.GetAccount(ctx, "acct_a")
	e.wantErr("GetAccount", err, nil)
	e.wantSame("GetAccount", got, second)
	got, err = e.Registry.FindAccount(ctx, "first")
	e.wantErr("FindAccount", err, nil)
	e.wantSame("FindAccount", got, first)
	_, err = e.Registry.GetAccount(ctx, "first")
	e.wantErr("GetAccount of a name", err, store.ErrNotFound)
	_, err = e.Registry.FindAccount(ctx, "acct_a")
	e.wantErr("FindAccount of an id", err, store.ErrNotFound)

	open := func(a *account.Account) error { a.Capabilities = []string{"text.*"}; return nil }
	want := first
	want.Capabilities = []string{"text.*"}
	got, err = e.Registry.UpdateAccount(ctx, "acct_z", open)
	e.wantErr("UpdateAccount", err, nil)
	e.wantSame("UpdateAccount", got, want)
	_, err = e.Registry.UpdateAccount(ctx, "acct_x", open)
	e.wantErr("UpdateAccount of an unknown one", err, store.ErrNotFound)
	_, err = e.Registry.UpdateAccount(ctx, "acct_z", func(a *account.Account) error { a.Capabilities = nil; return store.ErrState })
	e.wantErr("UpdateAccount that ends with an error", err, store.ErrState)
	if _, err := e.Registry.UpdateAccount(ctx, "acct_z", func(a *account.Account) error { a.ID = "acct_x"; return nil }); err == nil {
		e.Error("UpdateAccount that changes an account's id: no error")
	}
	_, err = e.Registry.UpdateAccount(ctx, "acct_z", renamed("second"))
	e.wantErr("UpdateAccount to a taken name", err, store.ErrExists)
	got, err = e.Registry.GetAccount(ctx, "acct_z")
	e.wantErr("GetAccount", err, nil)
	e.wantSame("after updates that failed", got, want)
}

// testRename: an account is found by its new name alone, and the old one is free.
func testRename(e *env) {
	ctx := e.Context()
	want, _ := e.putAccounts()
	want.Name = "third"
	want.SuspendedAt, want.ClosedAt = new(e.clock.Now()), new(e.clock.Now())
	changes := e.Registry.Changes()
	got, err := e.Registry.UpdateAccount(ctx, want.ID, func(a *account.Account) error {
		a.Name, a.SuspendedAt, a.ClosedAt = want.Name, want.SuspendedAt, want.ClosedAt
		return nil
	})
	e.wantErr("UpdateAccount with a new name", err, nil)
	e.wantSame("UpdateAccount with a new name", got, want)
	if e.Registry.Changes() == changes {
		e.Error("a rename is no change")
	}
	got, err = e.Registry.FindAccount(ctx, "third")
	e.wantErr("FindAccount by the new name", err, nil)
	e.wantSame("FindAccount by the new name", got, want)
	_, err = e.Registry.FindAccount(ctx, "first")
	e.wantErr("FindAccount by the old name", err, store.ErrNotFound)
	e.wantErr("PutAccount under the old name", e.Registry.PutAccount(ctx, account.Account{ID: "acct_n", Name: "first"}), nil)
	e.wantErr("PutAccount under the new name", e.Registry.PutAccount(ctx, account.Account{ID: "acct_o", Name: "third"}), store.ErrExists)
	_, err = e.Registry.UpdateAccount(ctx, want.ID, renamed("first"))
	e.wantErr("back to a name that is taken since", err, store.ErrExists)
}

func renamed(name string) func(*account.Account) error {
	return func(a *account.Account) error { a.Name = name; return nil }
}

func testKeys(e *env) {
	now := e.clock.Now()
	ctx := e.Context()
	first, _ := e.putAccounts()
	expires := now.Add(time.Hour)
	k1 := account.Key{
		ID: "key_9", Account: "acct_z", Name: "one", Mode: task.Live, Hash: hashOf("one"), Hint: "abcd",
		Scopes: []string{"*"}, Limits: account.Limits{OpenTasks: 3, Budget: 5, BudgetPeriod: account.Month},
		CreatedAt: now, ExpiresAt: &expires,
	}
	k2 := account.Key{ID: "key_1", Account: "acct_a", Mode: task.Test, Hash: hashOf("two"), CreatedAt: now.Add(time.Second)}
	for _, k := range []account.Key{k2, k1} {
		e.wantErr("PutKey", e.Registry.PutKey(ctx, k), nil)
	}
	e.wantErr("a key's id again", e.Registry.PutKey(ctx, account.Key{ID: "key_9", Account: "acct_z", Hash: hashOf("x")}), store.ErrExists)
	e.wantErr("a key's hash again", e.Registry.PutKey(ctx, account.Key{ID: "key_x", Account: "acct_z", Hash: hashOf("one")}), store.ErrExists)
	e.wantErr("no such account", e.Registry.PutKey(ctx, account.Key{ID: "key_x", Account: "acct_x", Hash: hashOf("x")}), store.ErrNotFound)
	keys, err := e.Registry.ListKeys(ctx)
	e.wantErr("ListKeys", err, nil)
	e.wantSame("ListKeys", keys, []account.Key{k1, k2})

	revoked := k1
	revoked.RevokedAt = &now
	got, err := e.Registry.UpdateKey(ctx, "key_9", func(k *account.Key) error { k.RevokedAt = &now; return nil })
	e.wantErr("UpdateKey", err, nil)
	e.wantSame("UpdateKey", got, revoked)
	e.wantKey("one", revoked, first)
	_, _, err = e.Registry.KeyByHash(ctx, hashOf("unknown"))
	e.wantErr("KeyByHash of an unknown one", err, store.ErrNotFound)
	_, err = e.Registry.UpdateKey(ctx, "key_x", func(*account.Key) error { return nil })
	e.wantErr("UpdateKey of an unknown one", err, store.ErrNotFound)
	_, err = e.Registry.UpdateKey(ctx, "key_9", func(k *account.Key) error { k.RevokedAt = nil; return store.ErrState })
	e.wantErr("UpdateKey that ends with an error", err, store.ErrState)
	e.wantKey("one", revoked, first)
	for _, change := range []func(*account.Key){
		func(k *account.Key) { k.ID = "key_x" },
		func(k *account.Key) { k.Account = "acct_z" },
		func(k *account.Key) { k.Hash = hashOf("x") },
	} {
		if _, err := e.Registry.UpdateKey(ctx, "key_1", func(k *account.Key) error { change(k); return nil }); err == nil {
			e.Error("UpdateKey that changes what a key is known by: no error")
		}
	}
}

func (e *env) wantKey(hash string, want account.Key, owner account.Account) {
	e.Helper()
	k, a, err := e.Registry.KeyByHash(e.Context(), hashOf(hash))
	e.wantErr("KeyByHash", err, nil)
	e.wantSame("the key", k, want)
	e.wantSame("its account", a, owner)
}

func testRotate(e *env) {
	now := e.clock.Now()
	ctx := e.Context()
	owner, _ := e.putAccounts()
	k := account.Key{ID: "key_1", Account: owner.ID, Mode: task.Live, Hash: hashOf("one"), CreatedAt: now}
	e.wantErr("PutKey", e.Registry.PutKey(ctx, k), nil)
	next := k.Rotated("key_2", hashOf("two"), "abcd", now)
	err := e.Registry.RotateKey(ctx, "key_1", func(old *account.Key) (account.Key, error) {
		old.ExpiresAt = &now
		return next, nil
	})
	e.wantErr("RotateKey", err, nil)
	k.ExpiresAt = &now
	e.wantKey("one", k, owner)
	e.wantKey("two", next, owner)

	for name, c := range map[string]struct {
		id    string
		next  account.Key
		fails error
		want  error
	}{
		"an unknown key":      {"key_x", next, nil, store.ErrNotFound},
		"an id that is taken": {"key_2", k, nil, store.ErrExists},
		"an error":            {"key_2", account.Key{}, store.ErrState, store.ErrState},
	} {
		e.wantErr(name, e.Registry.RotateKey(ctx, c.id, func(old *account.Key) (account.Key, error) {
			old.RevokedAt = &now
			return c.next, c.fails
		}), c.want)
	}
	e.wantKey("two", next, owner)
}

func testMarkUsed(e *env) {
	now := e.clock.Now()
	ctx := e.Context()
	owner, _ := e.putAccounts()
	k := account.Key{ID: "key_1", Account: owner.ID, Mode: task.Live, Hash: hashOf("one"), CreatedAt: now}
	e.wantErr("PutKey", e.Registry.PutKey(ctx, k), nil)
	changes := e.Registry.Changes()
	used := now.Add(time.Minute)
	e.wantErr("MarkUsed", e.Registry.MarkUsed(ctx, map[string]time.Time{"key_1": used, "key_x": now}), nil)
	e.wantSame("it is no change", e.Registry.Changes(), changes)
	k.LastUsedAt = &used
	e.wantKey("one", k, owner)
	keys, err := e.Registry.ListKeys(ctx)
	e.wantErr("ListKeys", err, nil)
	e.wantSame("ListKeys", keys, []account.Key{k})
	k.Name = "renamed"
	got, err := e.Registry.UpdateKey(ctx, "key_1", func(k *account.Key) error { k.Name = "renamed"; return nil })
	e.wantErr("UpdateKey", err, nil)
	e.wantSame("UpdateKey", got, k)
}

// testChanges: a cache of callers sees every change that counts.
func testChanges(e *env) {
	ctx := e.Context()
	seen := e.Registry.Changes()
	grown := func(what string, err error) {
		e.Helper()
		e.wantErr(what, err, nil)
		now := e.Registry.Changes()
		if now <= seen {
			e.Errorf("%s: %d changes, %d before", what, now, seen)
		}
		seen = now
	}
	grown("PutAccount", e.Registry.PutAccount(ctx, account.Account{ID: "acct_1", Name: "one"}))
	_, err := e.Registry.UpdateAccount(ctx, "acct_1", func(*account.Account) error { return nil })
	grown("UpdateAccount", err)
	k := account.Key{ID: "key_1", Account: "acct_1", Mode: task.Live, Hash: hashOf("one")}
	grown("PutKey", e.Registry.PutKey(ctx, k))
	_, err = e.Registry.UpdateKey(ctx, "key_1", func(*account.Key) error { return nil })
	grown("UpdateKey", err)
	grown("RotateKey", e.Registry.RotateKey(ctx, "key_1", func(old *account.Key) (account.Key, error) {
		return old.Rotated("key_2", hashOf("two"), "", e.clock.Now()), nil
	}))
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
