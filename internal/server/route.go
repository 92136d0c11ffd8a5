package server

import (
	"context"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"unitask/internal/api"
	"unitask/internal/door/anthropic"
	"unitask/internal/door/openai"
	"unitask/internal/fault"
	"unitask/internal/gate"
)

// handler answers one request, or returns the error to answer with; never both.
type handler func(x *exchange) error

// methods are the handlers of one path. A GET handler answers HEAD too.
type methods map[string]handler

// apiRoot is the root of the paths that need a key before any other answer.
const apiRoot = "/api/"

// keyed are the methods of a path that is open to keys and, for the trial, to the pages.
type keyed struct {
	class gate.Class
	methods
}

func (s *Server) route() {
	task := api.PathTasks + "/{task_id}"
	for pattern, route := range map[string]keyed{
		api.PathCapabilities: {gate.Creates, methods{http.MethodGet: plain(s.handleCapabilities)}},
		api.PathTasks:        {gate.Creates, methods{http.MethodGet: s.handleTaskList, http.MethodPost: plain(s.handleTaskCreate)}},
		api.PathEstimates:    {gate.Creates, methods{http.MethodPost: plain(s.handleEstimate)}},
		task:                 {gate.Reads, methods{http.MethodGet: plain(s.handleTaskGet)}},
		task + "/cancel":     {gate.Reads, methods{http.MethodPost: plain(s.handleTaskCancel)}},
		task + "/input":      {gate.Reads, methods{http.MethodGet: plain(s.handleTaskInput)}},
		task + "/timeline":   {gate.Reads, methods{http.MethodGet: plain(s.handleTaskTimeline)}},
	} {
		s.handleKeyed(pattern, route)
	}
	if s.uploads != nil {
		s.routeUploads()
	}
	if s.operator != nil {
		for pattern, m := range (actions{common: s.common, operator: s.operator, keys: s.operator}).shared() {
			s.handle(pattern, s.limited(s.operatorHolder, gate.Creates, m.dispatch))
		}
	}
	if s.tools != nil {
		s.handle(api.PathMCP, s.limited(s.keyHolder, gate.Reads, methods{http.MethodPost: s.handleTools}.dispatch))
	}
	if s.webhooks != nil {
		webhooks{s, s.webhooks}.route()
	}
	if s.console != nil {
		s.handle(consoleRoot, s.handleConsole)
		s.handle("/{$}", s.handleRoot)
		s.handle("/favicon.ico", methods{http.MethodGet: s.handleFavicon}.dispatch)
	}
	if s.openAI != nil {
		s.openAI.route()
	}
	if s.anthropic != nil {
		s.anthropic.route()
	}
	for pattern, m := range map[string]methods{
		api.PathHealth:                      {http.MethodGet: plain(s.handleHealth)},
		api.PathReady:                       {http.MethodGet: plain(s.handleReady)},
		api.PathOpenAPIYAML:                 {http.MethodGet: plain(s.handleOpenAPIYAML)},
		api.PathOpenAPIJSON:                 {http.MethodGet: plain(s.handleOpenAPIJSON)},
		api.PathArtifacts + "{artifact_id}": {http.MethodGet: s.handleArtifact},
	} {
		s.handle(pattern, m.dispatch)
	}
	s.unknown = s.notFound
	s.handle("/", s.notFound)
}

func (s *Server) handleKeyed(pattern string, route keyed) {
	s.handle(pattern, s.limited(s.keyHolder, route.class, route.dispatch))
	for _, mode := range s.consoleModes() {
		s.handle(consoleAPI+string(mode)+strings.TrimPrefix(pattern, api.Root), s.limited(s.visitor(mode), route.class, route.dispatch))
	}
}

// The names of headers as net/http keeps them; it would make them anew for each response.
var (
	rateLimit       = http.CanonicalHeaderKey(api.HeaderRateLimit)
	rateLimitPolicy = http.CanonicalHeaderKey(api.HeaderRateLimitPolicy)
)

// entrance finds out who calls.
type entrance func(x *exchange) (*gate.Caller, error)

// limited puts the first checks before a handler: who calls, the caller's rate, and how much the account has under way
// already: requests that wait may last a minute and streams far longer, and each has a connection.
func (s *Server) limited(who entrance, class gate.Class, h handler) handler {
	return func(x *exchange) error {
		caller, err := who(x)
		if err != nil {
			return err
		}
		x.caller = caller
		quota, err := s.gate.Count(caller, class)
		if policy := quota.Policy(); policy != "" {
			x.set(rateLimitPolicy, policy)
			x.set(rateLimit, quota.State())
		}
		if err != nil {
			return err
		}
		if !s.inProgress.Try(caller.Account.ID, 1) {
			return fault.New(fault.RateLimitExceeded, "too many requests of this account are under way").WithRetryAfter(readyAgain)
		}
		defer s.inProgress.Give(caller.Account.ID, 1)
		return h(x)
	}
}

// keyHolder is the API's door: an API key, and never a cookie.
func (s *Server) keyHolder(x *exchange) (*gate.Caller, error) {
	return s.authenticate(x, s.gate.Authenticate)
}

// errReadable refuses an operator key that others may have read on its way.
var errReadable = fault.New(fault.InvalidRequest, "an operator key is taken over TLS alone: through a proxy of trusted_proxies that sets X-Forwarded-Proto to https, or from the server's own machine")

// operatorHolder is the door of the operator's paths: an operator key, on a way that no stranger reads.
func (s *Server) operatorHolder(x *exchange) (*gate.Caller, error) {
	if !s.proxies.private(connOf(x.r), x.r.Header) {
		return nil, errReadable
	}
	return s.authenticate(x, s.gate.AuthenticateOperator)
}

// authenticate finds out whose key a request has. An address that is refused again and again is slowed down.
func (s *Server) authenticate(x *exchange, whose func(context.Context, string) (*gate.Caller, error)) (*gate.Caller, error) {
	var header string
	if values := x.r.Header["Authorization"]; len(values) == 1 {
		header = values[0]
	}
	return s.authenticateBy(x, header, whose)
}

// authenticateBy is authenticate by the value of a header.
func (s *Server) authenticateBy(x *exchange, header string, whose func(context.Context, string) (*gate.Caller, error)) (*gate.Caller, error) {
	caller, err := whose(x.r.Context(), header)
	if fault.CodeOf(err) == fault.Unauthenticated {
		if from, bad := netip.ParseAddr(x.client); bad == nil {
			s.refused.refused(x.r.Context(), from)
		}
	}
	return caller, err
}

// dispatch picks the method's handler, or says which methods there are.
func (m methods) dispatch(x *exchange) error {
	method := x.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h, ok := m[method]; ok {
		return h(x)
	}
	allowed := slices.Collect(maps.Keys(m))
	if _, ok := m[http.MethodGet]; ok {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	x.Header().Set("Allow", strings.Join(allowed, ", "))
	return fault.New(fault.InvalidRequest, "the method is not allowed here; allowed: "+strings.Join(allowed, ", ")).
		WithAspect(fault.AspectMethod)
}

// notFound answers every path that no route takes. Below apiRoot and at an open door it asks for the key first, so that
// strangers learn no paths.
func (s *Server) notFound(x *exchange) error {
	unknown := func(*exchange) error { return fault.New(fault.NotFound, "there is nothing at this path") }
	path := x.r.URL.Path
	switch {
	case strings.HasPrefix(path, openai.Root) && s.openAI == nil:
		return closedDoor("OpenAI", "openai")
	case strings.HasPrefix(path, anthropic.Root) && s.anthropic == nil:
		return closedDoor("Anthropic", "anthropic")
	case strings.HasPrefix(path, anthropic.Root):
		return s.limited(s.anthropic.holder, gate.Creates, unknown)(x)
	case strings.HasPrefix(path, apiRoot), strings.HasPrefix(path, openai.Root):
		return s.limited(s.keyHolder, gate.Creates, unknown)(x)
	default:
		return unknown(x)
	}
}

// closedDoor tells a program written for another interface why it isn't served, and the operator how it would be.
func closedDoor(maker, name string) error {
	return fault.Newf(fault.NotFound, "the door for %s's libraries is closed on this server; doors: [%s] in its settings, or UNITASK_DOORS=%s, opens it",
		maker, name, name)
}
