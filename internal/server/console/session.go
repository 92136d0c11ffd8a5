package console

import (
	"net/http"

	"unitask/internal/account"
	"unitask/internal/desk"
	"unitask/internal/gate"
	"unitask/internal/task"
)

// cookieName is prefixed with __Host- where the service is reached by https: then no other host of the domain
// can set it.
const cookieName = "unitask_session"

func (c *Console) secured() bool { return c.base.Scheme == "https" }

func (c *Console) cookie(token string) *http.Cookie {
	name := cookieName
	if c.secured() {
		name = "__Host-" + name
	}
	return &http.Cookie{
		Name: name, Value: token, Path: "/", MaxAge: int(account.SessionLife.Seconds()),
		HttpOnly: true, Secure: c.secured(), SameSite: http.SameSiteStrictMode,
	}
}

// token returns the session's token that a request carries, "" for none.
func (c *Console) token(r *http.Request) string {
	cookie, err := r.Cookie(c.cookie("").Name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// visit returns who signed in, or UNAUTHENTICATED.
func (c *Console) visit(r *http.Request) (desk.Visitor, error) {
	return c.desk.Visit(r.Context(), c.token(r))
}

// Caller returns who calls the API from a page, by the session in the place of a key.
func (c *Console) Caller(r *http.Request, mode task.Mode) (gate.Caller, error) {
	if err := c.admit(r); err != nil {
		return gate.Caller{}, err
	}
	v, err := c.visit(r)
	if err != nil {
		return gate.Caller{}, err
	}
	return callerOf(v, mode), nil
}

func callerOf(v desk.Visitor, mode task.Mode) gate.Caller {
	return gate.Caller{Key: v.Key(mode), Account: v.Account}
}
