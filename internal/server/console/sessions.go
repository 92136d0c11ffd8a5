package console

import (
	"net/http"

	"unitask/internal/api"
)

// sessionList is sessions as a table shows them.
type sessionList struct {
	Sessions []api.Session
	Current  string // the id of the visitor's own
	Person   string // the visitor's, as in a page
	Members  bool   // whose they are is shown
	Action   string // below the root, which ends one
}

// Others reports whether there are sessions beside the visitor's own.
func (l sessionList) Others() bool { return len(l.Sessions) > 1 }

func (c *Console) handleSessions(x exchange) error {
	all, err := c.operator.OwnSessions(x.r.Context(), x.visitor)
	if err != nil {
		return err
	}
	list := sessionList{Sessions: all, Current: x.visitor.Session.ID(), Person: personOf(x.visitor), Action: "/sessions/end"}
	return c.show(x, page{Name: "sessions", Section: "sessions", Title: "Sessions", Data: list})
}

func (c *Console) handleSessionEnd(x exchange) error {
	if err := parseForm(x, x.r); err != nil {
		return err
	}
	id := x.r.PostForm.Get("session")
	if err := c.operator.EndOwnSession(x.r.Context(), x.visitor, id); err != nil {
		return err
	}
	if id == x.visitor.Session.ID() {
		http.SetCookie(x, c.noCookie())
		c.goTo(x, x.r, "/sign-in")
		return nil
	}
	c.goTo(x, x.r, "/sessions?done=ended")
	return nil
}

func (c *Console) handleSessionsEndOthers(x exchange) error {
	if err := c.operator.EndOtherSessions(x.r.Context(), x.visitor); err != nil {
		return err
	}
	c.goTo(x, x.r, "/sessions?done=ended-others")
	return nil
}
