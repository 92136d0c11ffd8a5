package operator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/store/memstore"
	"unitask/internal/task"
	"unitask/test/fixture"
)

// countedStore counts the notes of sessions' use.
type countedStore struct {
	*memstore.DB
	notes atomic.Int64
}

func (c *countedStore) SeeSession(ctx context.Context, h task.Hash, at time.Time) error {
	c.notes.Add(1)
	return c.DB.SeeSession(ctx, h, at)
}

// TestSessionIsProlonged: a session that is used goes on for its life, and most of its uses write to no store.
func TestSessionIsProlonged(t *testing.T) {
	o := newTestOperator(t)
	db := &countedStore{DB: o.db}
	o.Store = db
	ctx := t.Context()
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	token, _, err := o.SignIn(ctx, o.invited("shop", "ann", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	for range 60 { // ten hours
		fixture.Must(o.Visit(ctx, token))(t)
		o.advance(10 * time.Minute)
	}
	if n := db.notes.Load(); n != 3 {
		t.Errorf("%d writes for 60 uses in ten hours, want 3", n)
	}
	for range 3 {
		o.advance(account.SessionIdle - 4*time.Hour)
		fixture.Must(o.Visit(ctx, token))(t)
	}
	o.advance(2 * time.Hour)
	_, err = o.Visit(ctx, token)
	wantCode(t, "after its life", err, fault.Unauthenticated)
	idle, _, err := o.SignIn(ctx, o.invited("shop", "ann", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	o.advance(account.SessionIdle)
	_, err = o.Visit(ctx, idle)
	wantCode(t, "without use", err, fault.Unauthenticated)
	if all := fixture.Must(o.Sessions(ctx, "shop"))(t); len(all) != 0 {
		t.Errorf("sessions that are over are listed: %+v", all)
	}
}

// TestEndSessions: an operator ends one session, a member's or all, and says which.
func TestEndSessions(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	tokens := map[string][]string{}
	for _, account := range []string{"shop", "other"} {
		fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: account}))(t)
		for _, member := range []string{"ann", "bob"} {
			token, _, err := o.SignIn(ctx, o.invited(account, member, ""), "Safari on macOS")
			if err != nil {
				t.Fatal(err)
			}
			tokens[account] = append(tokens[account], token)
			o.advance(time.Minute)
		}
	}
	all := fixture.Must(o.Sessions(ctx, "shop"))(t)
	if len(all) != 2 || all[0].Member != "bob" || all[1].Agent != "Safari on macOS" || !all[0].EndsAt.Equal(all[0].SeenAt.Add(account.SessionIdle)) {
		t.Fatalf("%+v", all)
	}
	for name, bad := range map[string]api.SessionsEnd{
		"no choice": {}, "two": {ID: all[0].ID, All: true}, "two others": {Member: "ann", All: true}, "and two": {ID: all[0].ID, Member: "ann"},
	} {
		_, err := o.EndSessions(ctx, "shop", bad)
		wantCode(t, name, err, fault.InvalidRequest)
	}
	_, err := o.EndSessions(ctx, "other", api.SessionsEnd{ID: all[0].ID})
	wantCode(t, "another account's", err, fault.NotFound)
	_, err = o.EndSessions(ctx, "nobody", api.SessionsEnd{All: true})
	wantCode(t, "no such account", err, fault.NotFound)
	fixture.Must(o.EndSessions(ctx, "shop", api.SessionsEnd{Member: "bob"}))(t)
	if _, err := o.Visit(ctx, tokens["shop"][0]); err != nil {
		t.Errorf("ann's session ended with bob's: %v", err)
	}
	_, err = o.Visit(ctx, tokens["shop"][1])
	wantCode(t, "bob's session", err, fault.Unauthenticated)
	fixture.Must(o.EndSessions(ctx, "shop", api.SessionsEnd{All: true}))(t)
	_, err = o.Visit(ctx, tokens["shop"][0])
	wantCode(t, "ann's session", err, fault.Unauthenticated)
	if left := fixture.Must(o.Sessions(ctx, "other"))(t); len(left) != 2 {
		t.Errorf("the other account has %d sessions", len(left))
	}
}
