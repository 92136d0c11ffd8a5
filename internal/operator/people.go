package operator

import (
	"context"
	"strings"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
)

// maxMembers bounds the members of an account: its record is read with each of its keys.
const maxMembers = 500

// People is the operations on the people of one account: of an operator, or of an admin of the account, whose rights
// are judged again in the commit of each change. An admin leaves operators alone and makes none, and the account keeps
// an admin. It is good for one request.
type People struct {
	operator *Operator
	owner    account.Account
	admin    string // the member who acts; "": an operator
}

// People returns an operator's operations on the people of an account, by its id or name.
func (o *Operator) People(ctx context.Context, which string) (People, error) {
	a, err := o.find(ctx, which)
	return People{operator: o, owner: a}, err
}

// OwnPeople returns the operations on the people of the visitor's account; NOT_FOUND unless the visitor is its admin.
func (o *Operator) OwnPeople(v Visitor) (People, error) {
	p := People{operator: o, owner: v.Account, admin: v.Session.Member}
	return p, p.allowed(v.Account)
}

// Account returns the account as it was at the beginning of the request.
func (p People) Account() api.Account {
	if p.admin == "" {
		return accountOf(p.owner)
	}
	return Member{p.operator, p.owner}.Account()
}

// Role returns a member's role, "" for a name that isn't there.
func (p People) Role(name string) string {
	m, _ := p.owner.Member(strings.TrimSpace(name))
	return string(m.Role)
}

// Invite makes a one-time link by which a member signs in; see Operator.Invite.
func (p People) Invite(ctx context.Context, req api.Invite) (api.SignInLink, error) {
	if account.Role(req.Role) == account.RoleOperator && p.admin != "" {
		return api.SignInLink{}, fault.Invalid("role", "must be member or admin")
	}
	return p.operator.invite(ctx, p.owner.ID, req, func(a account.Account, m account.Member) error {
		if p.admin != "" && m.Name == p.admin && m.Role != account.RoleAdmin {
			return fault.Invalid("role", "is changed by another admin: you would be signed out")
		}
		return p.touch(a, m.Name, a.WithMember(m))
	})
}

// Remove signs a member out for good.
func (p People) Remove(ctx context.Context, name string) error {
	_, err := p.operator.Store.UpdateAccount(ctx, p.owner.ID, func(a *account.Account) error {
		if _, ok := a.Member(name); !ok {
			return fault.Invalid("member", "is nobody of the account")
		}
		next := a.WithoutMember(name)
		if err := p.touch(*a, name, next); err != nil {
			return err
		}
		*a = next
		return nil
	})
	return err
}

// Sessions returns the sessions of the account's members, the last used first; an admin doesn't see operators'.
func (p People) Sessions(ctx context.Context) ([]api.Session, error) {
	a, err := p.operator.Store.GetAccount(ctx, p.owner.ID)
	if err != nil {
		return nil, err
	}
	return p.operator.listSessions(ctx, a, p.reaches)
}

func (p People) reaches(s account.Session) bool {
	return p.admin == "" || s.Role != account.RoleOperator
}

// EndSession ends a member's session; NOT_FOUND for one of another account, or for an admin of an operator.
func (p People) EndSession(ctx context.Context, id string) error {
	ended, err := p.operator.endSessions(ctx, p.owner, func(s account.Session) bool {
		return s.ID() == id && p.reaches(s)
	})
	if err == nil && len(ended) == 0 {
		err = noSuchSession()
	}
	return err
}

// allowed returns the error of an actor who is no admin of the account as it is now.
func (p People) allowed(a account.Account) error {
	if m, ok := a.Member(p.admin); p.admin != "" && (!ok || m.Role != account.RoleAdmin) {
		return fault.New(fault.NotFound, "there is no such page")
	}
	return nil
}

// touch returns the error of a change of a member that makes next of the account.
func (p People) touch(a account.Account, name string, next account.Account) error {
	if err := p.allowed(a); err != nil {
		return err
	}
	m, _ := a.Member(name)
	switch {
	case p.admin == "":
		return nil
	case m.Role == account.RoleOperator:
		return fault.Invalid("member", "is an operator, whom operators alone invite and remove")
	case !next.HasAdmin():
		return fault.Invalid("member", "is the account's last admin")
	default:
		return nil
	}
}
