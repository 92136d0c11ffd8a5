package console

import (
	"net/http"
	"strings"

	"unitask/internal/fault"
)

// handleSignInPage asks for the token of a one-time link. It stands in the address's fragment, which no server
// is sent: the page's script takes it from there and posts the form.
func (c *Console) handleSignInPage(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, page{Name: "sign-in", Title: "Sign in"})
}

// handleSignIn ends the link and the session that the browser had, and begins a new one.
func (c *Console) handleSignIn(w http.ResponseWriter, r *http.Request) {
	if err := parseForm(w, r); err != nil {
		c.refuse(w, r, nil, err)
		return
	}
	link := strings.TrimSpace(r.PostForm.Get("token")) // or all of the address
	token, v, err := c.operator.SignIn(r.Context(), link[strings.LastIndexByte(link, '#')+1:], agentOf(r.UserAgent()))
	if fault.CodeOf(err) == fault.Unauthenticated {
		c.render(w, r, http.StatusUnauthorized, page{Name: "sign-in", Title: "Sign in", Data: true})
		return
	}
	if err != nil {
		c.refuse(w, r, nil, err)
		return
	}
	if old := c.token(r); old != "" {
		if err := c.operator.SignOut(r.Context(), old); err != nil {
			c.refuse(w, r, nil, err)
			return
		}
	}
	http.SetCookie(w, c.cookie(token))
	c.log.InfoContext(r.Context(), "signed in", "account", v.Account.ID, "role", string(v.Session.Role))
	to := "/"
	if below := c.wants(r); below != "" {
		http.SetCookie(w, c.wanted(""))
		to = below
	}
	c.goTo(w, r, to)
}

func (c *Console) handleSignOut(w http.ResponseWriter, r *http.Request) {
	if err := c.operator.SignOut(r.Context(), c.token(r)); err != nil {
		c.refuse(w, r, nil, err)
		return
	}
	http.SetCookie(w, c.noCookie())
	c.goTo(w, r, "/sign-in")
}
