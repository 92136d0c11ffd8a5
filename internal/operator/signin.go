package operator

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
)

// seenAgain is how old the note of a session's last use may be: a commit a request would cost more than
// the fact is worth, and reading pages would write.
const seenAgain = 3 * time.Hour

// Invite makes a one-time link by which a member of an account, by its id or name, signs in; one who isn't a member yet joins the account,
// and one who is has the role from now on.
func (o *Operator) Invite(ctx context.Context, which string, req api.Invite) (api.SignInLink, error) {
	return o.invite(ctx, which, req, func(account.Account, account.Member) error { return nil })
}

// invite is Invite; allow judges the account before the member is added, in the same commit.
func (o *Operator) invite(ctx context.Context, which string, req api.Invite, allow func(account.Account, account.Member) error) (api.SignInLink, error) {
	now := o.Now().UTC()
	m := account.Member{
		Name: strings.TrimSpace(req.Member), Role: cmp.Or(account.Role(req.Role), account.RoleMember), JoinedAt: now,
	}
	switch {
	case !m.Role.Valid():
		return api.SignInLink{}, fault.Invalid("role", "must be member, admin or operator")
	case m.Name == "" || len(m.Name) > maxName:
		return api.SignInLink{}, fault.Invalid("member", "is required and has at most 100 bytes")
	}
	find := o.find
	if which == "" {
		find = o.account // the default one, which may not be there yet
	}
	owner, err := find(ctx, which)
	if err != nil {
		return api.SignInLink{}, err
	}
	owner, err = o.Store.UpdateAccount(ctx, owner.ID, func(a *account.Account) error {
		if err := allow(*a, m); err != nil {
			return err
		}
		if a.ClosedAt != nil {
			return closedAccount()
		}
		*a = a.WithMember(m)
		if len(a.Members) > maxMembers {
			return fault.Invalid("member", "would be one of more than "+strconv.Itoa(maxMembers))
		}
		return nil
	})
	if err != nil {
		return api.SignInLink{}, err
	}
	m, _ = owner.Member(m.Name)
	link, token := account.NewLink(owner.ID, m, now)
	if err := o.Store.PutLink(ctx, link); err != nil {
		return api.SignInLink{}, err
	}
	return api.SignInLink{
		URL: o.Server.BaseURL + api.PathSignIn + "#" + token, Account: owner.Name, Member: m.Name, Role: string(m.Role),
		ExpiresAt: api.Timestamp{Time: link.ExpiresAt},
	}, nil
}

// Visitor is who signed in.
type Visitor struct {
	Session account.Session
	Account account.Account
}

// noSession is the one answer to an invalid token, whatever the reason.
func noSession() error {
	return fault.New(fault.Unauthenticated, "sign in by a fresh link")
}

// SignIn redeems a link's token, which it ends, and returns the token of the session that it opens for a browser, agent
// in a few words. An unknown, used or expired one, and one of a member who was removed, get one and the same
// UNAUTHENTICATED.
func (o *Operator) SignIn(ctx context.Context, link, agent string) (token string, v Visitor, err error) {
	now := o.Now().UTC()
	err = o.Store.RedeemLink(ctx, account.HashSecret(link), func(l account.Link) (account.Session, error) {
		var ok bool
		if v.Session, token, ok = l.Open(agent, now); !ok {
			return v.Session, noSession()
		}
		return v.Session, nil
	})
	if errors.Is(err, store.ErrNotFound) {
		err = noSession()
	}
	if err != nil {
		return "", Visitor{}, err
	}
	v, err = o.Visit(ctx, token)
	return token, v, err
}

// Visit returns whose session a token is, or UNAUTHENTICATED.
func (o *Operator) Visit(ctx context.Context, token string) (Visitor, error) {
	now := o.Now().UTC()
	s, a, err := o.Store.GetSession(ctx, account.HashSecret(token))
	if errors.Is(err, store.ErrNotFound) || (err == nil && !s.Usable(a, now)) {
		return Visitor{}, noSession()
	}
	if err != nil {
		return Visitor{}, err
	}
	if now.Sub(s.SeenAt) >= seenAgain {
		if err := o.Store.SeeSession(ctx, s.Hash, now); err != nil && !errors.Is(err, store.ErrNotFound) {
			return Visitor{}, err
		}
		s.SeenAt = now
	}
	return Visitor{s, a}, nil
}

// SignOut ends a session; one that has ended is left so.
func (o *Operator) SignOut(ctx context.Context, token string) error {
	return o.Store.DeleteSession(ctx, account.HashSecret(token))
}

// Key returns the stand-in for a key when the visitor calls capabilities: the server's limits for keys, counted for
// the member and not for the session.
func (v Visitor) Key(mode task.Mode) account.Key {
	return account.Key{
		ID:      MemberKey(v.Account.ID, v.Session.Member, mode),
		Account: v.Account.ID, Name: v.Session.Member, Mode: mode, CreatedAt: v.Session.CreatedAt, ExpiresAt: &v.Session.ExpiresAt,
	}
}

// MemberKey is the id that stands in the place of a key's in the tasks that a member asks for.
func MemberKey(accountID, member string, mode task.Mode) string {
	return task.DeriveID(task.PrefixKey, accountID, member+"\n"+string(mode))
}
