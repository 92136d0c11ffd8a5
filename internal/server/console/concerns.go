package console

import (
	"fmt"
	"time"

	"unitask/internal/api"
	"unitask/internal/operator"
	"unitask/internal/webhook"
)

// concern is something that needs an operator's attention, with the page where it is seen to.
type concern struct {
	Title, About string
	Link         string // below the console's root; "": there is no such page
	Grave        bool
}

const (
	// lateWebhook is how long deliveries may wait before the webhook is a concern: a few failed attempts.
	lateWebhook = 15 * time.Minute
	// mostConcerns bounds the list; more are counted.
	mostConcerns = 40
)

// concerns returns all that needs attention, the gravest first.
func (c *Console) concerns(x exchange, states []api.SupplierState) (all []concern, err error) {
	found, err := c.operator.Concerns(x.r.Context(), states)
	if err != nil {
		return nil, err
	}
	hooks, err := c.webhookConcerns(x)
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		all = append(all, concernOf(one))
	}
	all = append(all, hooks...)
	if more := len(all) - mostConcerns; more > 0 {
		all = append(all[:mostConcerns:mostConcerns], concern{Title: fmt.Sprintf("And %d more", more)})
	}
	return all, nil
}

func concernOf(o operator.Concern) concern {
	c := concern{About: o.About, Grave: o.Grave}
	switch o.Kind {
	case operator.ConcernRefused:
		c.Title, c.Link = o.Name+" refuses the service", "/suppliers#supplier-"+o.Name
	case operator.ConcernTripped:
		c.Title, c.Link = o.Name+" is left alone", "/suppliers#supplier-"+o.Name
	case operator.ConcernFailing:
		c.Title, c.Link = o.Name+" fails", "/suppliers#supplier-"+o.Name
	case operator.ConcernFull:
		c.Title, c.Link = o.Name+" is full", "/suppliers#supplier-"+o.Name
	case operator.ConcernPaused:
		c.Title, c.Link = o.Name+" is paused by an operator", "/suppliers#supplier-"+o.Name
	case operator.ConcernAccount:
		c.Title, c.Link = "The budget of "+o.Name, "/accounts/"+o.ID
	case operator.ConcernKey:
		c.Title, c.Link = "The budget of the key "+o.Name, "/keys/"+o.ID
	case operator.ConcernService:
		c.Title, c.About = o.About, ""
	}
	return c
}

// webhookConcerns returns the webhooks that the service has disabled, and those whose deliveries wait for long.
func (c *Console) webhookConcerns(x exchange) (all []concern, err error) {
	if c.endpoints == nil {
		return nil, nil
	}
	hooks, err := c.endpoints.Oversee(x.r.Context())
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		one := concern{Link: "/webhooks/all#" + h.ID}
		name := h.Host
		if name == "" {
			name = h.ID
		}
		switch late := c.now().Sub(h.Oldest); {
		case h.Disabled == webhook.DisabledFull:
			one.Title, one.About = "The webhook "+name+" is disabled", fmt.Sprintf("too many deliveries wait: %s", count(h.Waiting))
		case h.Disabled == webhook.DisabledGone:
			one.Title, one.About = "The webhook "+name+" is disabled", "it answered 410"
		case h.Disabled == "" && h.Waiting > 0 && late >= lateWebhook:
			one.Title, one.About = "The webhook "+name+" doesn't take its deliveries", fmt.Sprintf("%s wait, the oldest for %s", count(h.Waiting), rough(late))
		default:
			continue
		}
		all = append(all, one)
	}
	return all, nil
}
