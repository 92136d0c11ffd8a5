package console

import (
	"log/slog"

	"unitask/internal/account"
	"unitask/internal/api"
	"unitask/internal/fault"
)

// accountHandler answers a form about an account, of an operator.
type accountHandler func(x exchange, a api.Account) (done string, err error)

// change returns the handler of a form about the account in the path. It goes back to the account's page, which reports
// what was done, or shows the problem; "": the handler has answered.
func (c *Console) change(h accountHandler) handler {
	return forOperators(func(x exchange) error {
		if err := parseForm(x, x.r); err != nil {
			return err
		}
		a, err := c.operator.GetAccount(x.r.Context(), x.r.PathValue("account"))
		if err != nil {
			return err
		}
		done, err := h(x, a)
		if err == nil && done == "" {
			return nil
		}
		if err == nil {
			c.logChange(x, "account "+done, slog.String("account_id", a.ID))
		}
		return c.changed(x, filledForm{Values: accountForm(a), About: a}, done, err)
	})
}

// logChange logs what somebody changed by a page.
func (c *Console) logChange(x exchange, message string, attrs ...slog.Attr) {
	attrs = append(attrs, slog.String("by", x.visitor.Session.Member), slog.String("by_account_id", x.visitor.Account.ID),
		slog.String("request_id", x.Header().Get(api.HeaderRequestID)))
	c.log.LogAttrs(x.r.Context(), slog.LevelInfo, message, attrs...) //nolint:sloglint // each caller passes words of its own
}

func (c *Console) handleAccountRename(x exchange, a api.Account) (string, error) {
	_, err := c.operator.UpdateAccount(x.r.Context(), a.ID, api.AccountUpdate{Name: new(x.r.PostForm.Get("name"))})
	return "renamed", err
}

func (c *Console) handleAccountSuspend(x exchange, a api.Account) (string, error) {
	if !c.asked(x, "accounts", question{
		Title: "Suspend " + a.Name + "?", Button: "Suspend " + a.Name, Back: "/accounts/" + a.ID,
		Text: "Its keys are refused within a second and it takes no new tasks. Accepted tasks are done, and its members may read. Resuming undoes it.",
	}) {
		return "", nil
	}
	_, err := c.operator.SuspendAccount(x.r.Context(), a.ID)
	return "suspended", err
}

func (c *Console) handleAccountResume(x exchange, a api.Account) (string, error) {
	_, err := c.operator.ResumeAccount(x.r.Context(), a.ID)
	return "resumed", err
}

// handleAccountClose closes an account whose name is typed, for an operator who signed in not long ago.
func (c *Console) handleAccountClose(x exchange, a api.Account) (string, error) {
	if err := c.signedInNow(x); err != nil {
		return "", err
	}
	if a.ID == x.visitor.Account.ID {
		return "", fault.New(fault.InvalidRequest, "you are signed in to this account: unitask accounts close does it, or an operator of another account")
	}
	_, err := c.operator.CloseAccount(x.r.Context(), a.ID, api.AccountClose{Name: x.r.PostForm.Get("close_name")})
	if f := fault.From(err); err != nil && f.Code == fault.InvalidRequest && len(f.Details) > 0 {
		err = fault.Invalid("close_name", f.Details[0].Message)
	}
	return "closed", err
}

// signedInNow refuses acts that reach over all accounts to an operator's session that has lasted for long: a cookie
// that was copied weeks ago isn't enough.
func (c *Console) signedInNow(x exchange) error {
	if x.visitor.Session.New(c.now()) {
		return nil
	}
	return fault.New(fault.InvalidRequest, "this takes a sign-in of the last 12 hours: sign in by a new link, such as that of unitask open")
}

// signedInFor is signedInNow for an operator's act on an account that isn't their own.
func (c *Console) signedInFor(x exchange, account string) error {
	if !operates(x.visitor) || account == x.visitor.Account.ID {
		return nil
	}
	return c.signedInNow(x)
}

// Suspended reports whether the visitor's account is.
func (p page) Suspended() bool {
	if p.Visitor == nil {
		return false
	}
	state, _ := p.Visitor.Account.State()
	return state == account.Suspended
}
