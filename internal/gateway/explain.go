package gateway

import (
	"context"
	"errors"
	"time"

	"unitask/internal/account"
	"unitask/internal/catalog"
	"unitask/internal/fault"
	"unitask/internal/gate"
	"unitask/internal/policy"
	"unitask/internal/routing"
	"unitask/internal/store"
	"unitask/internal/supplier"
	"unitask/internal/task"
)

// Explanation is where a request would go now, and why.
type Explanation struct {
	Capability catalog.Name
	Refused    error      // why its caller would be refused before a route is chosen; nil if not
	Rules      []string   // the content rules that refuse it, if that is why
	Most       task.Money // the most that its caller would be charged
	Moderated  bool       // a supplier judges the content first
	Routes     []routing.Explained
}

// Explain tells where this node would send a caller's request now, and why not elsewhere. It creates no task, asks no
// supplier and takes no turn. A request that isn't valid is an error; one that would be refused for another reason,
// such as a scope, is explained all the same. Rates, budgets and limits of open tasks aren't looked at.
func (g *Gateway) Explain(ctx context.Context, c gate.Caller, body []byte) (Explanation, error) {
	req, _, refused := g.decode(body)
	if refused != nil {
		return Explanation{}, refused
	}
	directory, routes := g.catalog.Load(), g.routes.Load()
	entry, ok := directory.Get(req.Capability)
	if !ok {
		return Explanation{}, fault.Invalid("capability", "names no capability of the directory")
	}
	if refused := validate(directory, req); refused != nil {
		return Explanation{}, refused
	}
	e := Explanation{Refused: closed(c, g.now(), routes, req.Capability)}
	done, err := g.judge(ctx, c, &req, false)
	switch {
	case err == nil:
	case fault.CodeOf(err) == fault.Internal:
		return Explanation{}, err
	default:
		if e.Refused == nil {
			e.Refused = err
			if ruled, ok := errors.AsType[*policy.Refusal](err); ok {
				e.Rules = ruled.Rules
			}
		}
		done = &checked{entry: entry, media: placesOf(entry, req.Input)}
	}
	var size task.Usage
	size, _, e.Most = priced(routes, c.Key.Mode, &req, done)
	m, _ := g.moderation(c.Key.Mode, entry, req.Input)
	e.Moderated = m != nil
	e.Routes = routes.Explain(routing.Want{
		Mode: c.Key.Mode, Account: c.Account.ID, Capability: req.Capability, Size: size,
		Request: supplier.NewRequest(entry, req.Input, req.Parameters),
	}, g.health)
	return e, g.fill(ctx, e.Routes)
}

// closed returns why a caller isn't let in, or is told that there is no such capability; nil if neither.
func closed(c gate.Caller, now time.Time, routes *routing.Table, name catalog.Name) error {
	switch state, _ := c.Account.State(); {
	case c.Key.RevokedAt != nil:
		return fault.Invalid("key", "is revoked")
	case !c.Key.Usable(now):
		return fault.Invalid("key", "has expired")
	case state != account.Active:
		return c.Open()
	case !account.Allows(c.Account.Capabilities, string(name)):
		return fault.Invalid("capability", "isn't open on the account")
	case !account.Allows(c.Key.Scopes, string(name)):
		return fault.Invalid("capability", "isn't among the key's scopes")
	case !routes.Serves(c.Key.Mode, name):
		return fault.Invalid("capability", "has no approved route for "+string(c.Key.Mode)+" keys")
	default:
		return nil
	}
}

// fill marks the routes that have no room for another attempt.
func (g *Gateway) fill(ctx context.Context, all []routing.Explained) error {
	engine, ok := g.store.(store.Loader)
	if !ok {
		return nil
	}
	open, err := engine.InFlight(ctx)
	for i, e := range all {
		for _, c := range e.Route.Caps() {
			if c.Limit > 0 && open[c.Key] >= c.Limit {
				all[i] = e.Full()
			}
		}
	}
	return err
}
