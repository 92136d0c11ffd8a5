package notify

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"unitask/internal/fault"
	"unitask/internal/store"
	"unitask/internal/task"
	"unitask/internal/webhook"
)

// Overseen is an endpoint as an operator sees it: without its secret, and of its address the host alone, for the rest may
// be a secret too.
type Overseen struct {
	ID        string
	Scope     task.Scope
	Host      string // "https://shop.example"; "" of a listener
	Disabled  webhook.Disabled
	CreatedAt time.Time
	Waiting   int64     // deliveries
	Oldest    time.Time // when the task ended that was accepted first of theirs
}

// Oversee returns the endpoints of all accounts, those first that the most deliveries wait for.
func (d *Endpoints) Oversee(ctx context.Context) ([]Overseen, error) {
	all, err := d.Store.ListEndpoints(ctx, task.Scope{})
	if err != nil {
		return nil, err
	}
	var backlog map[string]store.Backlog
	if engine, ok := d.Store.(store.Backlogger); ok {
		if backlog, err = engine.Backlog(ctx); err != nil {
			return nil, err
		}
	}
	out := make([]Overseen, 0, len(all))
	for _, e := range all {
		b := backlog[e.ID]
		out = append(out, Overseen{
			ID: e.ID, Scope: e.Scope, Host: hostOf(e.URL), Disabled: e.Disabled, CreatedAt: e.CreatedAt, Waiting: b.Waiting, Oldest: b.Oldest,
		})
	}
	slices.SortStableFunc(out, func(a, b Overseen) int { return cmp.Compare(b.Waiting, a.Waiting) })
	return out, nil
}

// hostOf returns an address without its path, its query and its user.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// errBarred refuses to enable a webhook against the operator.
var errBarred = fault.New(fault.InvalidRequest, "the operator has disabled the webhook, and alone enables it")

// Bar disables an endpoint of any account, which can't enable it, or enables it again.
func (d *Endpoints) Bar(ctx context.Context, id string, barred bool) error {
	if !task.ValidID(PrefixEndpoint, id) {
		return errUnknown
	}
	_, err := d.Store.UpdateEndpoint(ctx, id, func(e *webhook.Endpoint) error {
		switch {
		case barred:
			e.SetDisabled(webhook.DisabledOperator, d.Now().UTC())
		case e.Disabled == webhook.DisabledOperator:
			e.SetDisabled("", d.Now().UTC())
		}
		return nil
	})
	if err != nil {
		return known(err)
	}
	d.Logger.InfoContext(ctx, "the operator changed whether an endpoint is told", slog.String("endpoint_id", id), slog.Bool("disabled", barred))
	return nil
}

// ask disables or enables an endpoint as its account wants.
func ask(e *webhook.Endpoint, disabled bool, now time.Time) error {
	switch {
	case disabled:
		e.SetDisabled(webhook.DisabledAsked, now)
	case e.Disabled == webhook.DisabledOperator:
		return errBarred
	default:
		e.SetDisabled("", now)
	}
	return nil
}
