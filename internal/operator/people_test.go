package operator_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
	"unitask/test/fixture"
)

// signedIn signs a member in and returns the token of the session and who it is.
func (o *testOperator) signedIn(which, member, role string) (string, operator.Visitor) {
	o.t.Helper()
	token, v, err := o.SignIn(o.t.Context(), o.invited(which, member, role), "")
	if err != nil {
		o.t.Fatal(err)
	}
	return token, v
}

// people returns an admin's operations.
func (o *testOperator) people(v operator.Visitor) operator.People {
	o.t.Helper()
	return fixture.Must(o.OwnPeople(v))(o.t)
}

// TestAdmin: an admin invites, removes and changes members of the own account, but no operator, and not the last admin.
func TestAdmin(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	for _, name := range []string{"shop", "other"} {
		fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: name}))(t)
	}
	_, ann := o.signedIn("shop", "ann", "admin")
	_, theirs := o.signedIn("other", "zoe", "member")
	_, ops := o.signedIn("shop", "ops", "operator")
	p := o.people(ann)
	link := fixture.Must(p.Invite(ctx, api.Invite{Member: " bob ", Role: "member"}))(t)
	if link.Member != "bob" || link.Account != "shop" {
		t.Errorf("%+v", link)
	}
	_, bob := o.signedIn("shop", "bob", "member")
	for name, v := range map[string]operator.Visitor{"a member": bob, "another account's member": theirs, "an operator": ops} {
		_, err := o.OwnPeople(v)
		wantCode(t, name, err, fault.NotFound)
	}
	for name, try := range map[string]func() error{
		"makes an operator":         func() error { _, err := p.Invite(ctx, api.Invite{Member: "bob", Role: "operator"}); return err },
		"a link for an operator":    func() error { _, err := p.Invite(ctx, api.Invite{Member: "ops", Role: "admin"}); return err },
		"removes an operator":       func() error { return p.Remove(ctx, "ops") },
		"removes a stranger":        func() error { return p.Remove(ctx, "zoe") },
		"removes the last admin":    func() error { return p.Remove(ctx, "ann") },
		"demotes the last admin":    func() error { _, err := p.Invite(ctx, api.Invite{Member: "ann", Role: "member"}); return err },
		"invites without a name":    func() error { _, err := p.Invite(ctx, api.Invite{}); return err },
		"invites to a foreign role": func() error { _, err := p.Invite(ctx, api.Invite{Member: "x", Role: "owner"}); return err },
	} {
		wantCode(t, name, try(), fault.InvalidRequest)
	}
	sessions := fixture.Must(p.Sessions(ctx))(t)
	if len(sessions) != 2 {
		t.Errorf("an admin sees %+v", sessions)
	}
	for name, v := range map[string]operator.Visitor{"another account's session": theirs, "an operator's session": ops} {
		wantCode(t, name, p.EndSession(ctx, v.Session.ID()), fault.NotFound)
	}
	fixture.Must(p.Invite(ctx, api.Invite{Member: "bob", Role: "admin"}))(t)
	_, bob = o.signedIn("shop", "bob", "admin")
	if err := o.people(bob).Remove(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	_, err := p.Invite(ctx, api.Invite{Member: "eve", Role: "admin"})
	wantCode(t, "who isn't an admin any more", err, fault.NotFound)
	wantCode(t, "who isn't an admin any more, removing", p.Remove(ctx, "bob"), fault.NotFound)
	got := fixture.Must(o.GetAccount(ctx, "shop"))(t)
	if len(got.Members) != 2 || got.Members[0].Name != "ops" || got.Members[1].Role != "admin" {
		t.Errorf("members %+v", got.Members)
	}
}

// TestLastAdmin: of admins who remove or demote each other at once, one is left.
func TestLastAdmin(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	const admins = 8
	var all []operator.People
	for i := range admins {
		_, v := o.signedIn("shop", "admin"+strconv.Itoa(i), "admin")
		all = append(all, o.people(v))
	}
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() {
			for j := range admins {
				if name := "admin" + strconv.Itoa(j); j != i && j%2 == 0 {
					_ = p.Remove(ctx, name)
				} else if j != i {
					_, _ = p.Invite(ctx, api.Invite{Member: name, Role: "member"})
				}
			}
		})
	}
	wg.Wait()
	left := 0
	for _, m := range fixture.Must(o.GetAccount(ctx, "shop"))(t).Members {
		if m.Role == string(account.RoleAdmin) {
			left++
		}
	}
	if left != 1 {
		t.Errorf("%d admins are left, want 1", left)
	}
}

// TestRemovedStaysOut: sessions and links from before a removal or a change of the role open nothing afterwards, not
// even if the member comes back.
func TestRemovedStaysOut(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	for name, change := range map[string]func(){
		"removed": func() {
			fixture.Must(o.UpdateAccount(ctx, "shop", api.AccountUpdate{RemoveMembers: []string{"ann"}}))(t)
		},
		"promoted": func() { o.invited("shop", "ann", "admin") },
	} {
		session, _ := o.signedIn("shop", "ann", "member")
		link := o.invited("shop", "ann", "member")
		o.advance(time.Second)
		change()
		_, err := o.Visit(ctx, session)
		wantCode(t, name, err, fault.Unauthenticated)
		o.advance(time.Second)
		back, _ := o.signedIn("shop", "ann", "member")
		_, err = o.Visit(ctx, session)
		wantCode(t, name+", the session after the return", err, fault.Unauthenticated)
		_, _, err = o.SignIn(ctx, link, "")
		wantCode(t, name+", the link after the return", err, fault.Unauthenticated)
		fixture.Must(o.Visit(ctx, back))(t)
	}
}

// TestMostMembers: an admin can't let an account's record grow without end.
func TestMostMembers(t *testing.T) {
	o := newTestOperator(t)
	ctx := t.Context()
	fixture.Must(o.CreateAccount(ctx, api.AccountCreate{Name: "shop"}))(t)
	_, ann := o.signedIn("shop", "ann", "admin")
	p := o.people(ann)
	made := 1
	for i := range 600 {
		if _, err := p.Invite(ctx, api.Invite{Member: strconv.Itoa(i)}); err != nil {
			wantCode(t, "one more", err, fault.InvalidRequest)
			break
		}
		made++
	}
	if made != 500 {
		t.Errorf("%d members, want 500", made)
	}
	fixture.Must(p.Invite(ctx, api.Invite{Member: "7"}))(t)
}
