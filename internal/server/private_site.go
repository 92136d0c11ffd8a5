package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"unitask/internal/api"
	"unitask/internal/fault"
)

// privateSite is the common part on a listener that is the operator's alone.
type privateSite struct {
	*common
	http *http.Server
}

func newPrivateSite(c *common) *privateSite {
	s := &privateSite{common: c}
	s.http = newHTTPServer(s, s.limits.IdleTime, s.log)
	return s
}

// Serve answers on the listener until Shutdown; it returns nil then.
func (s *privateSite) Serve(ln net.Listener) error {
	err := s.http.Serve(ln)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown waits for the requests under way until ctx ends; open ones are cut off then.
func (s *privateSite) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

// only makes routes of the paths, and answers NOT_FOUND on every other.
func (s *privateSite) only(paths map[string]methods) {
	for pattern, m := range paths {
		s.handle(pattern, m.dispatch)
	}
	s.unknown = func(*exchange) error { return fault.New(fault.NotFound, "there is nothing at this path") }
	s.handle("/", s.unknown)
}

// scrape answers with the handler's metrics.
func scrape(metrics http.Handler) methods {
	return methods{http.MethodGet: func(x *exchange) error {
		x.Header().Set("Cache-Control", "no-store")
		metrics.ServeHTTP(x, x.r)
		return nil
	}}
}

// Monitor serves only metrics. It asks for no key: its listener is for the operator's own network.
type Monitor struct{ *privateSite }

// NewMonitor returns a Monitor that doesn't listen yet. log may be nil.
func NewMonitor(metrics http.Handler, log *slog.Logger) *Monitor {
	m := &Monitor{newPrivateSite(newCommon(Limits{}, nil, log))}
	m.only(map[string]methods{api.PathMetrics: scrape(metrics)})
	return m
}
