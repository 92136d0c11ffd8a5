package node

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"unitask/internal/api"
	"unitask/internal/config"
	"unitask/internal/fault"
)

// reload reads the settings again and applies those that may change while the server runs: all of them or, with an
// error that names its place, no setting.
func (n *Node) reload(ctx context.Context) (api.Reload, error) {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	read, directory, err := config.Load(n.sources)
	if err != nil {
		return api.Reload{}, invalidSettings(err)
	}
	live, restart := config.Changed(n.settings, read)
	next := config.Keep(n.settings, read)
	found, err := FindSuppliers(ctx, next, directory, n.sandboxes, os.Getenv)
	var runs string
	if err == nil {
		runs, err = n.runs(next, directory)
	}
	if err == nil {
		err = n.Apply(directory, found, limitsOf(next), runs)
	}
	if err != nil {
		return api.Reload{}, fault.Wrap(fault.InvalidRequest, err, "the settings don't fit: "+err.Error())
	}
	n.API.SetDoorModels(next.DoorModels)
	n.settings = next
	n.log.InfoContext(ctx, "settings read again",
		slog.String("changed", strings.Join(live, " ")), slog.String("need_a_restart", strings.Join(restart, " ")))
	return api.Reload{Changed: append([]string{}, live...), Restart: append([]string{}, restart...)}, nil
}

// invalidSettings turns the errors of the settings into a fault with a detail for each place.
func invalidSettings(err error) error {
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

// ReloadOnHangup reloads the settings at each SIGHUP until ctx ends.
func (n *Node) ReloadOnHangup(ctx context.Context) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				if _, err := n.reload(ctx); err != nil {
					n.log.ErrorContext(ctx, "settings not taken up; those from before hold", slog.String("error", oneLine(err)))
				}
			}
		}
	}()
}

// oneLine returns the message of a fault with its details.
func oneLine(err error) string {
	f := fault.From(err)
	lines := []string{f.Message}
	for _, d := range f.Details {
		lines = append(lines, d.Field+" "+d.Message)
	}
	return strings.Join(lines, "; ")
}
