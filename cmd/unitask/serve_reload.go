package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"unitask/internal/api"
	"unitask/internal/catalog"
	"unitask/internal/config"
	"unitask/internal/fault"
	"unitask/internal/gateway"
	"unitask/internal/routing"
	"unitask/internal/server"
)

// reloader reads a server's settings again, one time after the other.
type reloader struct {
	node    *node
	sources config.Sources
	boxes   sandboxes
	log     *slog.Logger

	mu    sync.Mutex
	holds config.Config
}

// reload takes up what may change while the server runs. It takes all of it or, with an error that
// says where it comes from, nothing.
func (r *reloader) reload(ctx context.Context) (api.Reload, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	read, directory, err := config.Load(r.sources)
	if err != nil {
		return api.Reload{}, unreadable(err)
	}
	live, restart := config.Changed(r.holds, read)
	next := config.Keep(r.holds, read)
	supply, err := findSuppliers(ctx, next, directory, r.boxes, os.Getenv)
	if err != nil {
		return api.Reload{}, fault.Wrap(fault.InvalidRequest, err, "the settings don't fit: "+err.Error())
	}
	if err := r.node.apply(next, directory, supply); err != nil {
		return api.Reload{}, fault.Wrap(fault.InvalidRequest, err, "the settings don't fit: "+err.Error())
	}
	r.holds = next
	r.log.InfoContext(ctx, "settings read again",
		slog.String("changed", strings.Join(live, " ")), slog.String("need_a_restart", strings.Join(restart, " ")))
	return api.Reload{Changed: append([]string{}, live...), Restart: append([]string{}, restart...)}, nil
}

// apply makes the settings hold.
func (n *node) apply(c config.Config, directory *catalog.Catalog, s supply) error {
	table, err := routing.NewTable(s.routes, s.prices)
	if err != nil {
		return err
	}
	n.gateway.Apply(gateway.Settings{Catalog: directory, Routes: table, Policy: s.policy, Limits: gatewayLimits(c.Limits)})
	n.gate.SetDefaults(gateDefaults(c.Limits))
	n.api.SetBody(serverLimits(c.Limits).Body)
	n.operator.SetSuppliers(s.statuses)
	return nil
}

// unreadable is what the operator is told of settings that aren't right.
func unreadable(err error) error {
	problems, ok := errors.AsType[config.Errors](err)
	if !ok {
		return fault.Wrap(fault.InvalidRequest, err, err.Error())
	}
	f := fault.New(fault.InvalidRequest, "the settings are not valid; nothing was changed")
	for _, p := range problems {
		place := p.Place
		p.Place = config.Place{}
		message := p.Error()
		if p.Hint != "" {
			message += "; " + p.Hint
		}
		f = f.WithDetails(fault.Detail{Field: place.String() + ":", Message: message})
	}
	return f
}

// onHangup reloads at each SIGHUP until ctx ends.
func (r *reloader) onHangup(ctx context.Context) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				if _, err := r.reload(ctx); err != nil {
					r.log.ErrorContext(ctx, "settings not taken up; those from before hold", slog.String("error", reasons(err)))
				}
			}
		}
	}()
}

// reasons is an error of reload on one line.
func reasons(err error) string {
	f := fault.From(err)
	lines := []string{f.Message}
	for _, d := range f.Details {
		lines = append(lines, d.Field+" "+d.Message)
	}
	return strings.Join(lines, "; ")
}

func serverLimits(l config.Limits) server.Limits {
	return server.Limits{
		Body: someBytes(l.Body), BodyMemory: someBytes(l.BodyMemory), BodyDisk: someBytes(l.BodyDisk), Connections: someCount(l.Connections),
		PerAddress: someCount(l.PerAddress), RefusedKeys: someCount(l.RefusedKeys),
	}
}
