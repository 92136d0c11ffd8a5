package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// accountList is the data of the page of all accounts.
type accountList struct {
	Accounts []api.Account
	Form     filledForm
}

func (c *Console) handleAccounts(x exchange) error {
	return c.accountList(x, http.StatusOK, filledForm{})
}

func (c *Console) accountList(x exchange, status int, f filledForm) error {
	all, err := c.operator.ListAccounts(x.r.Context())
	if err != nil {
		return err
	}
	return c.showWith(x, status, page{Name: "accounts", Section: "accounts", Title: "Accounts", Data: accountList{all, f}})
}

func (c *Console) handleAccountCreate(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	f := filledForm{Values: x.r.PostForm}
	limits, err := limitsFrom(f.Values)
	var made api.Account
	if err == nil {
		made, err = c.operator.CreateAccount(x.r.Context(), api.AccountCreate{
			Name: f.Get("name"), Capabilities: patterns(f.Get("capabilities")), Limits: limits,
		})
	}
	if fault.CodeOf(err) == fault.InvalidRequest {
		f.Problem = fault.From(err)
		return c.accountList(x, http.StatusBadRequest, f)
	}
	if err != nil {
		return err
	}
	c.goTo(x, x.r, "/accounts/"+made.ID+"?done=created")
	return nil
}

func (c *Console) handleAccount(x exchange) error {
	a, err := c.operator.GetAccount(x.r.Context(), x.r.PathValue("account"))
	if err != nil {
		return err
	}
	return c.accountPage(x, http.StatusOK, filledForm{Values: accountForm(a), About: a})
}

func (c *Console) accountPage(x exchange, status int, f filledForm) error {
	title := f.About.(api.Account).Name
	return c.showWith(x, status, page{Name: "account", Section: "accounts", Title: title, Data: f})
}

// accountForm is the account as its form shows it.
func accountForm(a api.Account) url.Values {
	v := limitsForm(a.Limits)
	v.Set("capabilities", strings.Join(a.Capabilities, " "))
	return v
}

func (c *Console) handleAccountUpdate(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	a, err := c.operator.GetAccount(x.r.Context(), x.r.PathValue("account"))
	if err != nil {
		return err
	}
	f := filledForm{Values: x.r.PostForm, About: a}
	limits, err := limitsFrom(f.Values)
	if err == nil {
		open := patterns(f.Get("capabilities"))
		_, err = c.operator.UpdateAccount(x.r.Context(), a.ID, api.AccountUpdate{Capabilities: &open, Limits: replacedAll(limits)})
	}
	return c.changed(x, f, "saved", err)
}

func (c *Console) handleMemberRemove(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	a, err := c.operator.GetAccount(x.r.Context(), x.r.PathValue("account"))
	if err != nil {
		return err
	}
	member := x.r.PostForm.Get("remove")
	if !c.asked(x, "accounts", question{
		Title: "Remove " + member + "?", Button: "Remove " + member, Back: "/accounts/" + a.ID,
		Text: member + " is signed out of " + a.Name + " at once. Keys go on to work. An invitation brings them back.",
	}) {
		return nil
	}
	_, err = c.operator.UpdateAccount(x.r.Context(), a.ID, api.AccountUpdate{RemoveMembers: []string{member}})
	return c.changed(x, filledForm{Values: accountForm(a), About: a}, "removed", err)
}

// changed goes back to an account's page, which reports the change, or shows the errors of its form.
func (c *Console) changed(x exchange, f filledForm, done string, err error) error {
	if fault.CodeOf(err) == fault.InvalidRequest {
		f.Problem = fault.From(err)
		return c.accountPage(x, http.StatusBadRequest, f)
	}
	if err != nil {
		return err
	}
	c.goTo(x, x.r, "/accounts/"+f.About.(api.Account).ID+"?done="+done)
	return nil
}

// handleInvite leads to the one answer that holds a one-time link.
func (c *Console) handleInvite(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	a, err := c.operator.GetAccount(x.r.Context(), x.r.PathValue("account"))
	if err != nil {
		return err
	}
	link, err := c.operator.Invite(x.r.Context(), a.ID, api.Invite{Member: x.r.PostForm.Get("member"), Role: cmp.Or(x.r.PostForm.Get("role"), "member")})
	if err != nil {
		return c.changed(x, filledForm{Values: accountForm(a), About: a}, "", err)
	}
	return c.showOnce(x, page{Name: "invited", Section: "accounts", Title: "Sign-in link", Data: link})
}
