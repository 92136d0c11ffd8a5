package storetest

import (
	"errors"
	"sync"
	"time"

	"unitask/internal/account"
	"unitask/internal/store"
)

// putLink records a link to an account of its own.
func (e *env) putLink(name string) (account.Link, account.Account) {
	e.Helper()
	now := e.clock.Now()
	owner, _ := e.putAccounts()
	l := account.Link{
		Hash: hashOf(name), Account: owner.ID, Member: "ann", Role: account.RoleOperator,
		CreatedAt: now, ExpiresAt: now.Add(account.LinkLife),
	}
	e.wantErr("PutLink", e.Registry.PutLink(e.Context(), l), nil)
	return l, owner
}

func testSessions(e *env) {
	ctx := e.Context()
	now := e.clock.Now()
	l, owner := e.putLink("link")
	e.wantErr("a link's hash again", e.Registry.PutLink(ctx, l), store.ErrExists)
	e.wantErr("no such account", e.Registry.PutLink(ctx, account.Link{Hash: hashOf("x"), Account: "acct_x"}), store.ErrNotFound)

	want := account.Session{
		Hash: hashOf("session"), Account: owner.ID, Member: "ann", Role: account.RoleOperator, Agent: "Firefox on Linux",
		InvitedAt: now, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(time.Hour),
	}
	e.wantErr("a redemption that fails", e.Registry.RedeemLink(ctx, l.Hash, func(account.Link) (account.Session, error) {
		return account.Session{}, store.ErrState
	}), store.ErrState)
	open := func(got account.Link) (account.Session, error) {
		e.wantSame("the link", got, l)
		return want, nil
	}
	e.wantErr("RedeemLink", e.Registry.RedeemLink(ctx, l.Hash, open), nil)
	e.wantErr("a second redemption", e.Registry.RedeemLink(ctx, l.Hash, open), store.ErrNotFound)
	got, a, err := e.Registry.GetSession(ctx, want.Hash)
	e.wantErr("GetSession", err, nil)
	e.wantSame("the session", got, want)
	e.wantSame("its account", a, owner)

	want.SeenAt = now.Add(time.Minute)
	e.wantErr("SeeSession", e.Registry.SeeSession(ctx, want.Hash, want.SeenAt), nil)
	e.wantErr("SeeSession of an unknown one", e.Registry.SeeSession(ctx, l.Hash, now), store.ErrNotFound)
	got, _, err = e.Registry.GetSession(ctx, want.Hash)
	e.wantErr("GetSession", err, nil)
	e.wantSame("seen", got, want)
	_, _, err = e.Registry.GetSession(ctx, l.Hash)
	e.wantErr("GetSession of a link", err, store.ErrNotFound)

	all, err := e.Registry.ListSessions(ctx, owner.ID)
	e.wantErr("ListSessions", err, nil)
	e.wantSame("the account's sessions", all, []account.Session{want})
	all, err = e.Registry.ListSessions(ctx, "acct_a")
	e.wantErr("ListSessions of another account", err, nil)
	e.wantSame("another account's sessions", len(all), 0)

	for range 2 {
		e.wantErr("DeleteSession", e.Registry.DeleteSession(ctx, want.Hash), nil)
	}
	_, _, err = e.Registry.GetSession(ctx, want.Hash)
	e.wantErr("GetSession of a deleted one", err, store.ErrNotFound)
	testExpired(e)
}

// testExpired: a sweep removes exactly the expired rows.
func testExpired(e *env) {
	ctx := e.Context()
	now := e.clock.Now()
	for i, life := range []time.Duration{time.Minute, time.Hour} {
		for _, name := range []string{"opened", "left"} {
			hash := hashOf(name)
			hash[31] = byte(i)
			l := account.Link{Hash: hash, Account: "acct_z", ExpiresAt: now.Add(life)}
			e.wantErr("PutLink", e.Registry.PutLink(ctx, l), nil)
			if name == "opened" {
				e.wantErr("RedeemLink", e.Registry.RedeemLink(ctx, hash, func(account.Link) (account.Session, error) {
					return account.Session{Hash: hash, Account: "acct_z", ExpiresAt: now.Add(life)}, nil
				}), nil)
			}
		}
	}
	for i, want := range []int{0, 2, 2} {
		swept, err := e.Store.Sweep(ctx, store.SweepRequest{Limit: 10})
		e.wantErr("Sweep", err, nil)
		if swept.Removed != want {
			e.Errorf("sweep %d removed %d links and sessions, want %d", i, swept.Removed, want)
		}
		e.clock.Advance(time.Hour - time.Minute*time.Duration(58*(1-min(i, 1))))
	}
}

// testRedeemOnce: of many who have one link one is let in.
func testRedeemOnce(e *env) {
	l, _ := e.putLink("link")
	var mu sync.Mutex
	in := 0
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			err := e.Registry.RedeemLink(background(), l.Hash, func(l account.Link) (account.Session, error) {
				hash := hashOf("session")
				hash[31] = byte(i)
				return account.Session{Hash: hash, Account: l.Account}, nil
			})
			switch {
			case err == nil:
				mu.Lock()
				in++
				mu.Unlock()
			case !errors.Is(err, store.ErrNotFound):
				e.Errorf("RedeemLink: %v", err)
			}
		})
	}
	wg.Wait()
	e.wantSame("sessions of one link", in, 1)
}
