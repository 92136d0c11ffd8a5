package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"unitask/internal/account"
	"unitask/internal/gate"
	"unitask/internal/operator"
	"unitask/internal/task"
)

// cookieName is prefixed with __Host- if the service is reached by https: then no other host of the domain can set
// it.
const cookieName = "unitask_session"

// wantedName is the cookie with the page that somebody wanted who has to sign in first.
const (
	wantedName = "unitask_wanted"
	wantedLife = 10 * time.Minute // as long as a link works
	mostWanted = 1000             // characters of an address
)

func (c *Console) secured() bool { return c.base.Scheme == "https" }

func (c *Console) cookie(token string) *http.Cookie {
	return c.cookieOf(cookieName, token, account.SessionLife)
}

// noCookie has a browser forget the session's cookie.
func (c *Console) noCookie() *http.Cookie {
	return c.cookieOf(cookieName, "", -time.Second)
}

func (c *Console) cookieOf(name, value string, life time.Duration) *http.Cookie {
	if c.secured() {
		name = "__Host-" + name
	}
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: c.secured(), SameSite: http.SameSiteStrictMode,
	}
}

// wanted returns the cookie that remembers an address below the root until somebody has signed in; "" forgets it.
func (c *Console) wanted(below string) *http.Cookie {
	if below == "" || len(below) > mostWanted {
		return c.cookieOf(wantedName, "", -time.Second)
	}
	return c.cookieOf(wantedName, url.QueryEscape(below), wantedLife)
}

// wants returns the address below the root that the browser remembers, "" without one. It is the browser's word;
// whatever it is, it leads to a page below the root.
func (c *Console) wants(r *http.Request) string {
	cookie, err := r.Cookie(c.cookieOf(wantedName, "", 0).Name)
	if err != nil {
		return ""
	}
	below, err := url.QueryUnescape(cookie.Value)
	if err != nil || !strings.HasPrefix(below, "/") {
		return ""
	}
	return below
}

// token returns the session's token that a request carries, "" without one.
func (c *Console) token(r *http.Request) string {
	cookie, err := r.Cookie(c.cookie("").Name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// visit returns who signed in, or UNAUTHENTICATED.
func (c *Console) visit(r *http.Request) (operator.Visitor, error) {
	return c.operator.Visit(r.Context(), c.token(r))
}

// Caller returns who calls the API from a page, by the session in the place of a key. An account that isn't active
// reads, and cancels, alone.
func (c *Console) Caller(r *http.Request, mode task.Mode) (gate.Caller, error) {
	if err := c.admit(r); err != nil {
		return gate.Caller{}, err
	}
	v, err := c.visit(r)
	if err != nil {
		return gate.Caller{}, err
	}
	caller := callerOf(v, mode)
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.HasSuffix(r.URL.Path, "/cancel") {
		if err := caller.Open(); err != nil {
			return gate.Caller{}, err
		}
	}
	return caller, nil
}

func callerOf(v operator.Visitor, mode task.Mode) gate.Caller {
	return gate.Caller{Key: v.Key(mode), Account: v.Account}
}
