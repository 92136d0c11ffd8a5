package server

import (
	"net/http"
	"strings"

	"unitask/internal/gate"
	"unitask/internal/task"
)

// Console is the pages for people, everything below consoleRoot.
type Console interface {
	http.Handler
	// Caller returns who calls the API from a page, or UNAUTHENTICATED: somebody who signed in, in the
	// place of a key of the mode.
	Caller(r *http.Request, mode task.Mode) (gate.Caller, error)
}

const (
	consoleRoot = "/console/"
	// consoleAPI is before the mode and the API's routes for pages. They are the same handlers, behind
	// the same rates and holds.
	consoleAPI = "/console/api/"
)

// consoleModes are the modes in which pages call the API.
func (s *Server) consoleModes() []task.Mode {
	if s.console == nil {
		return nil
	}
	return []task.Mode{task.Live, task.Test}
}

// visitor is the door of pages: a session, and never a key.
func (s *Server) visitor(mode task.Mode) entrance {
	return func(x *exchange) (*gate.Caller, error) {
		caller, err := s.console.Caller(x.r, mode)
		return &caller, err
	}
}

func (s *Server) handleConsole(x *exchange) error {
	s.console.ServeHTTP(x, x.r)
	_, x.route, _ = strings.Cut(x.r.Pattern, "/") // the console's own, without the method
	x.route = "/" + x.route
	return nil
}

// handleFavicon leads to the pages' icon those who ask without reading a page.
func (s *Server) handleFavicon(x *exchange) error {
	s.lead(x, "static/icon.svg")
	return nil
}

// handleRoot leads a browser to the pages. To anything else the root is a path like any other.
func (s *Server) handleRoot(x *exchange) error {
	x.Header().Set("Vary", "Accept")
	if (x.r.Method != http.MethodGet && x.r.Method != http.MethodHead) || !wantsPage(x.r.Header) {
		return s.notFound(x)
	}
	s.lead(x, "")
	return nil
}

// lead redirects to an address below the pages' root.
func (s *Server) lead(x *exchange, below string) {
	h := x.Header()
	h["Cache-Control"] = noStore
	h.Set("Location", s.base.Path+consoleRoot+below)
	x.WriteHeader(http.StatusSeeOther)
}
