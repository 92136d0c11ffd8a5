package console

import (
	"cmp"
	"log/slog"
	"net/http"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
	"unitask/internal/operator"
)

// people is an account's people as an admin's page and an operator's show them.
type people struct {
	api.Account
	Sessions sessionList
	At       string // below the root, before the forms' actions
	Operator bool   // the visitor is one
	Self     string // the visitor, if a member of the account
}

// Mine reports whether the visitor may change the role of a member, or remove one.
func (p people) Mine(m api.Member) bool { return p.Operator || m.Role != string(account.RoleOperator) }

// peopleHandler answers a form about an account's people.
type peopleHandler func(x exchange, p operator.People) error

// people returns the handler for admins on their own account, and for operators on the one in the path.
func (c *Console) people(h peopleHandler) handler {
	return func(x exchange) error {
		if err := parseForm(x, x.r); err != nil {
			return err
		}
		p, err := c.peopleIn(x)
		if err != nil {
			return err
		}
		if err = h(x, p); fault.CodeOf(err) == fault.InvalidRequest {
			return c.showPeople(x, p, fault.From(err))
		}
		return err
	}
}

// peopleIn returns the people that a request is about; NOT_FOUND for members.
func (c *Console) peopleIn(x exchange) (operator.People, error) {
	which := x.r.PathValue("account")
	if which == "" {
		return c.operator.OwnPeople(x.visitor)
	}
	if !operates(x.visitor) {
		return operator.People{}, noPage()
	}
	return c.operator.People(x.r.Context(), which)
}

// peopleAt is the page about an account's people, below the root.
func peopleAt(x exchange, p operator.People) string {
	if x.r.PathValue("account") == "" {
		return "/people"
	}
	return "/accounts/" + p.Account().ID
}

// peopleView reads what a page shows of an account's people.
func (c *Console) peopleView(x exchange, p operator.People) (people, error) {
	all, err := p.Sessions(x.r.Context())
	v := people{Account: p.Account(), At: peopleAt(x, p), Operator: operates(x.visitor)}
	if v.ID == x.visitor.Account.ID {
		v.Self = x.visitor.Session.Member
	}
	v.Sessions = sessionList{Sessions: all, Current: x.visitor.Session.ID(), Person: personOf(x.visitor), Members: true, Action: v.At + "/sessions/end"}
	return v, err
}

// showPeople shows the page with the problem of its form.
func (c *Console) showPeople(x exchange, p operator.People, problem *fault.Error) error {
	if x.r.PathValue("account") != "" {
		a := p.Account()
		return c.accountPage(x, http.StatusBadRequest, filledForm{Values: accountForm(a), About: a, Problem: problem})
	}
	v, err := c.peopleView(x, p)
	if err != nil {
		return err
	}
	return c.showWith(x, http.StatusBadRequest, page{Name: "people", Section: "people", Title: "People", Data: filledForm{About: v, Problem: problem}})
}

func (c *Console) handlePeople(x exchange) error {
	if operates(x.visitor) {
		c.goTo(x, x.r, "/accounts/"+x.visitor.Account.ID)
		return nil
	}
	p, err := c.peopleIn(x)
	if err != nil {
		return err
	}
	v, err := c.peopleView(x, p)
	if err != nil {
		return err
	}
	return c.show(x, page{Name: "people", Section: "people", Title: "People", Data: filledForm{About: v}})
}

// handleInvite leads to the one answer that holds a one-time link. Who gives a member another role is asked first.
func (c *Console) handleInvite(x exchange, p operator.People) error {
	form := x.r.PostForm
	req := api.Invite{Member: form.Get("member"), Role: cmp.Or(form.Get("role"), string(account.RoleMember))}
	err := c.signedInFor(x, p.Account().ID)
	if req.Role == string(account.RoleOperator) && operates(x.visitor) {
		err = c.signedInNow(x)
	}
	if err != nil {
		return err
	}
	if had := p.Role(req.Member); had != "" && had != req.Role && account.Role(req.Role).Valid() && !c.asked(x, section(x), question{
		Title: "Make " + req.Member + " " + article(req.Role) + "?", Button: "Yes, change the role", Back: peopleAt(x, p),
		Text: req.Member + " is " + article(had) + " so far, and signed out of " + p.Account().Name + " at once. The next page has a link by which to sign in again.",
	}) {
		return nil
	}
	link, err := p.Invite(x.r.Context(), req)
	if err != nil {
		return err
	}
	c.logChange(x, "member invited", slog.String("account_id", p.Account().ID), slog.String("member", link.Member), slog.String("role", link.Role))
	return c.showOnce(x, page{Name: "invited", Section: section(x), Title: "Sign-in link", Data: invited{link, peopleAt(x, p)}})
}

// invited is the data of the page with a link.
type invited struct {
	api.SignInLink
	Back string // below the root
}

func article(role string) string {
	if role == string(account.RoleMember) {
		return "a member"
	}
	return "an " + role
}

// section is the part of the navigation that a page about people belongs to.
func section(x exchange) string {
	if x.r.PathValue("account") == "" {
		return "people"
	}
	return "accounts"
}

func (c *Console) handleMemberRemove(x exchange, p operator.People) error {
	member := x.r.PostForm.Get("remove")
	if !c.asked(x, section(x), question{
		Title: "Remove " + member + "?", Button: "Remove " + member, Back: peopleAt(x, p),
		Text: member + " is signed out of " + p.Account().Name + " at once. Keys go on to work. An invitation brings them back.",
	}) {
		return nil
	}
	if err := p.Remove(x.r.Context(), member); err != nil {
		return err
	}
	c.logChange(x, "member removed", slog.String("account_id", p.Account().ID), slog.String("member", member))
	c.goTo(x, x.r, peopleAt(x, p)+"?done=removed")
	return nil
}

func (c *Console) handleMemberSignOut(x exchange, p operator.People) error {
	id := x.r.PostForm.Get("session")
	if err := p.EndSession(x.r.Context(), id); err != nil {
		return err
	}
	c.logChange(x, "session ended", slog.String("account_id", p.Account().ID), slog.String("session", id))
	c.goTo(x, x.r, peopleAt(x, p)+"?done=ended")
	return nil
}
