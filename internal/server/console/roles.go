package console

import (
	"context"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
)

// roleActions are the actions of both roles: an operator with all accounts, a member with one.
type roleActions interface {
	CreateKey(ctx context.Context, req api.KeyCreate) (api.Key, error)
	Keys(ctx context.Context) ([]operator.Key, error)
	UpdateKey(ctx context.Context, id string, req api.KeyUpdate) (api.Key, error)
	RotateKey(ctx context.Context, id string, req api.KeyRotate) (api.Key, error)
	RevokeKey(ctx context.Context, id string) (api.Key, error)
	FindRequests(ctx context.Context, id string) (api.RequestList, error)
}

func (c *Console) actions(v operator.Visitor) roleActions {
	if operates(v) {
		return c.operator
	}
	return c.operator.Member(v)
}

func operates(v operator.Visitor) bool { return v.Session.Role == account.RoleOperator }

// forOperators answers members as if the page weren't there.
func forOperators(h handler) handler {
	return func(x exchange) error {
		if !operates(x.visitor) {
			return noPage()
		}
		return h(x)
	}
}

func noPage() error { return fault.New(fault.NotFound, "there is no such page") }

// chosen returns the account that a page is about: the visitor's own, or for operators the one that is asked
// for by name or id. Another account isn't there for members.
func (c *Console) chosen(x exchange, which string) (api.Account, error) {
	own := c.operator.Member(x.visitor).Account()
	switch {
	case which == "" || which == own.Name || which == own.ID:
		return own, nil
	case !operates(x.visitor):
		return own, noPage()
	default:
		return c.operator.GetAccount(x.r.Context(), which)
	}
}

// everyAccount stands in the place of an account's name for all accounts, for operators; no new account is named so.
const everyAccount = "*"

// askedAccount is chosen, or every account: an operator may ask for them together. The account is empty then.
func (c *Console) askedAccount(x exchange, which string) (owner api.Account, every bool, err error) {
	if which == everyAccount && operates(x.visitor) { // never by the name of an account that is there
		return owner, true, nil
	}
	if owner, err = c.chosen(x, which); err != nil && operates(x.visitor) {
		err = unclear(err, which)
	}
	return owner, false, err
}

// accountChoice is the accounts that a visitor may choose from.
type accountChoice struct {
	Names  []string // nil without a choice, and of too many
	Typed  bool     // there are too many: one is asked for by a text
	Chosen string   // "" with Every
	Every  bool     // all of them are chosen together
}

// Any reports whether there is a choice.
func (a accountChoice) Any() bool { return a.Typed || a.Names != nil }

// Asked is the choice as a parameter has it.
func (a accountChoice) Asked() string {
	if a.Every {
		return everyAccount
	}
	return a.Chosen
}

func (c *Console) accountChoice(x exchange, owner api.Account, every bool) (accountChoice, error) {
	a := accountChoice{Chosen: owner.Name, Every: every}
	names, err := c.choices(x)
	if a.Typed = len(names) > mostChoices; !a.Typed {
		a.Names = names
	}
	return a, err
}

// choices returns the names of the accounts that a visitor may choose from; nil without a choice.
func (c *Console) choices(x exchange) ([]string, error) {
	if !operates(x.visitor) {
		return nil, nil
	}
	all, err := c.operator.AccountNames(x.r.Context())
	names := make([]string, 0, len(all))
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names, err
}
