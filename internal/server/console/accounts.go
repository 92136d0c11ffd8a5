package console

import (
	"net/http"
	"net/url"
	"strconv"
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

// accountView is the data of the page of an account, for operators.
type accountView struct {
	filledForm
	People people
}

func (c *Console) accountPage(x exchange, status int, f filledForm) error {
	a := f.About.(api.Account)
	p, err := c.operator.People(x.r.Context(), a.ID)
	if err != nil {
		return err
	}
	v, err := c.peopleView(x, p)
	if err != nil {
		return err
	}
	return c.showWith(x, status, page{Name: "account", Section: "accounts", Title: a.Name, Data: accountView{f, v}})
}

// accountForm is the account as its form shows it.
func accountForm(a api.Account) url.Values {
	v := limitsForm(a.Limits)
	v.Set("capabilities", strings.Join(a.Capabilities, " "))
	v.Set("keep_inputs_days", strconv.Itoa(a.KeepInputsDays))
	v.Set("kept_days", strconv.Itoa(a.KeepInputsDays))
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
	open := patterns(f.Get("capabilities"))
	u := api.AccountUpdate{Capabilities: &open}
	limits, err := limitsFrom(f.Values)
	if err == nil {
		err = c.signedInFor(x, a.ID)
	}
	if err == nil {
		u.Limits = replacedAll(limits)
		u.KeepInputsDays, err = keptDays(f, a.KeepInputsDays)
	}
	if days := u.KeepInputsDays; days != nil && *days < a.KeepInputsDays && !c.asked(x, "accounts", erasure(*days, "/accounts/"+a.ID)) {
		return nil
	}
	if err == nil {
		_, err = c.operator.UpdateAccount(x.r.Context(), a.ID, u)
	}
	return c.changed(x, f, "saved", err)
}

// keptDays returns for how many days a form has requests kept; nil if it leaves them as they are. One that changes them
// must have shown the days as they are now: the account's own people may have chosen others meanwhile.
func keptDays(f filledForm, now int) (*int, error) {
	text, shown := strings.TrimSpace(f.Get("keep_inputs_days")), f.Get("kept_days")
	switch {
	case text == "" || text == shown:
		return nil, nil
	case shown != "" && shown != strconv.Itoa(now):
		return nil, fault.Invalid("keep_inputs_days", "was changed to "+strconv.Itoa(now)+" meanwhile: read the page again")
	}
	days, err := strconv.Atoi(text)
	if err != nil || days < 0 {
		return nil, fault.Invalid("keep_inputs_days", "must be a whole number of days, and not negative")
	}
	return &days, nil
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
